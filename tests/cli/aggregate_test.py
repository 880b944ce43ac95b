#!/usr/bin/env python3
"""`hindsight aggregate`: the consensus, its figures against slow references, and what it refuses.

Usage: aggregate_test.py PROGRAM
"""
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)


def run(*arguments, text=None):
    """`text` goes to standard input, as bytes where it is no text."""
    given = text.encode() if isinstance(text, str) else text
    done = subprocess.run([PROGRAM, "aggregate", *arguments], input=given, capture_output=True, timeout=300, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def spearman(order, ranking):
    n = len(order)
    squares = sum((order.index(item) - ranking.index(item)) ** 2 for item in order)
    return 1 - 6 * squares / (n * (n * n - 1))


def votes(count, n, seed, noise=2.0):
    """Rankings of i0, i1, ... that agree but for noise."""
    chance = random.Random(seed)
    return [[f"i{i}" for i in sorted(range(n), key=lambda i: i + chance.gauss(0, noise))] for _ in range(count)]


def lines(rankings, separator=" "):
    return "".join(separator.join(ranking) + "\n" for ranking in rankings)


class Consensus(unittest.TestCase):
    def aggregate(self, text, *arguments):
        code, out, err = run("-", "--json", *arguments, text=text)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def test_figures_are_those_of_a_slow_reference(self):
        rankings = votes(37, 5, 3)
        said = self.aggregate(lines(rankings))
        orders = [list(order) for order in itertools.permutations(sorted(rankings[0]))]
        best = max(sum(spearman(order, ranking) for ranking in rankings) for order in orders) / len(rankings)
        consensus = [item["id"] for item in said["consensus"]]
        self.assertAlmostEqual(said["spearman"], best, places=12)
        self.assertAlmostEqual(sum(spearman(consensus, ranking) for ranking in rankings) / len(rankings), best, places=12)
        for item in said["consensus"]:
            mean = sum(ranking.index(item["id"]) + 1 for ranking in rankings) / len(rankings)
            self.assertAlmostEqual(item["mean_rank"], mean, places=12)
        # Spearman's correlation and the sum of positions are the same but for their scale.
        n, count = 5, len(rankings)
        self.assertAlmostEqual(said["regret"], (said["spearman"] - said["online_spearman"]) * count * n * (n * n - 1) / 12,
                               places=6)
        self.assertEqual([point["rankings"] for point in said["course"]], [1, 2, 4, 8, 16, 32, 37])
        self.assertEqual((said["rankings"], said["items"]), (37, 5))

    def test_regret_stays_below_its_bound_and_falls_behind_the_rankings(self):
        for rankings in (votes(3000, 8, 1), [["a", "b", "c"], ["c", "b", "a"]] * 1000):
            said = self.aggregate(lines(rankings))
            n, count = said["items"], said["rankings"]
            stated = n * math.sqrt(count * n * n * (n * n - 1) / 12 * math.log(2))
            self.assertGreaterEqual(said["bound"], 1.56 * stated)
            self.assertLessEqual(said["bound"], 1.9 * stated)
            for point in said["course"]:
                self.assertLessEqual(point["regret"], point["bound"])
        said = self.aggregate(lines(votes(3000, 8, 1)))
        self.assertGreater(said["online_spearman"], said["spearman"] - 0.05)

    def test_the_same_seed_draws_the_same_lists(self):
        text = lines(votes(50, 6, 2))
        self.assertEqual(self.aggregate(text, "--seed", "9"), self.aggregate(text, "--seed", "9"))
        self.assertNotEqual(self.aggregate(text, "--seed", "9")["regret"], self.aggregate(text, "--seed", "10")["regret"])

    def test_forms_of_the_same_text_give_the_same(self):
        rankings = votes(9, 4, 5)
        plain = self.aggregate(lines(rankings))
        for other in (lines(rankings, ","), lines(rankings, ", "), lines(rankings, "\t"), lines(rankings).replace("\n", "\r\n"),
                      "\ufeff# votes\n\n  \n" + lines(rankings).replace("\n", "\n\n"), lines(rankings).rstrip("\n")):
            self.assertEqual(self.aggregate(other), plain)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "votes.txt"
            path.write_text(lines(rankings))
            code, out, err = run(str(path), "--json")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(json.loads(out), plain)

    def test_names_may_be_of_any_script(self):
        said = self.aggregate("\u00e4pfel birnen \u6843\nbirnen \u00e4pfel \u6843\nbirnen \u6843 \u00e4pfel\n")
        self.assertEqual([item["id"] for item in said["consensus"]], ["birnen", "\u00e4pfel", "\u6843"])

    def test_the_table_streams_and_ends_with_the_consensus(self):
        code, out, err = run("-", "--top", "2", text=lines(votes(100, 6, 4, noise=0.1)))
        self.assertEqual((code, err), (0, ""))
        rows = out.splitlines()
        self.assertEqual(rows[0].split(), ["rankings", "online", "consensus", "regret", "its", "bound", "first"])
        self.assertEqual([row.split()[0] for row in rows[1:9]], ["1", "2", "4", "8", "16", "32", "64", "100"])
        self.assertTrue(all(row.split()[5] == "i0" for row in rows[1:9]))
        self.assertIn("Consensus of 100 rankings of 6 items", out)
        self.assertRegex(out, r"\n +1 +1\.0000  i0\n +2 +2\.0000  i1\n +\.\.\. \(4 more; --top 0 shows all\)\n")
        self.assertIn("Mean Spearman correlation", out)
        self.assertIn("i5", run("-", "--top", "0", text=lines(votes(3, 6, 4)))[1])

    def test_standard_input_is_read_as_it_comes(self):
        with subprocess.Popen([PROGRAM, "aggregate", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write("a b c\n")
            process.stdin.flush()
            self.assertIn("rankings", process.stdout.readline())
            self.assertEqual(process.stdout.readline().split()[0], "1")
            process.stdin.write("b a c\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline().split()[0], "2")
            process.stdin.close()
            self.assertEqual(process.wait(300), 0)


class Refusals(unittest.TestCase):
    def refuse(self, text, *says, code=2):
        for option in ((), ("--json",)):
            got, out, err = run("-", *option, text=text)
            self.assertEqual(got, code, (text[:80], out, err))
            self.assertEqual(err.count("\n"), 1, err)
            self.assertTrue(err.startswith("hindsight: "), err)
            for word in says:
                self.assertIn(word, err)
            if option:
                self.assertEqual(out, "")

    def test_broken_lines_are_named_with_their_reason(self):
        self.refuse("a b c\n# fine\n\na b\n", "standard input:4", '"c" is missing')
        self.refuse("a b c\na b c b\n", "standard input:2", '"b" stands here twice')
        self.refuse("a b a\n", "standard input:1", '"a" stands here twice')
        self.refuse("a b c\na b d\n", "standard input:2", '"d" is not among the items')
        self.refuse("a b c\na b c d\n", "standard input:2", '"d" is not among the items')
        self.refuse("alone\n", "standard input:1", "at least two")

    def test_bytes_that_are_no_text_are_refused(self):
        self.refuse(b"a b\nb \xff\n", "standard input:2", "UTF-8")
        self.refuse(b"a b\nb a\x00\n", "standard input:2", "control character")
        self.refuse(b"a b\x1b[31m\n", "standard input:1", "control character")

    def test_nothing_to_read_is_an_error(self):
        self.refuse("", "no ranking")
        self.refuse("# only words\n\n , \n", "no ranking")

    def test_sizes_have_limits(self):
        self.refuse("a " + "x" * 257 + "\n", "standard input:1", "256 bytes", '"' + "x" * 40 + "...")
        self.refuse(" ".join(f"i{i}" for i in range(100_001)) + "\n", "standard input:1", "100000")
        self.refuse(b"a " + b"b" * (1 << 25) + b"\n", "standard input:1", "bytes")

    def test_files_that_are_none_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, says in ((folder, "is a folder"), (folder + "/nowhere", "cannot be opened")):
                code, out, err = run(path)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(says, err)
        for arguments in ((), ("-", "--seed", "-1"), ("-", "--top", "x"), ("-", "more")):
            self.assertEqual(run(*arguments, text="a b\n")[0], 2)


if __name__ == "__main__":
    unittest.main()
