#!/usr/bin/env python3
"""What the program promises at its edges: exit codes, one line per error, help, listings.

Usage: cli_test.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
COMMANDS = ("serve", "key", "experiment", "bench", "rankers", "aggregate")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, **options)


class Usage(unittest.TestCase):
    def assert_usage_error(self, *arguments, says):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("hindsight: "), done.stderr)
        self.assertIn(says, done.stderr)

    def test_help_names_every_command_and_gives_examples(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in (*COMMANDS, "Examples:"):
            self.assertIn(word, done.stdout)

    def test_every_command_has_help(self):
        for command in COMMANDS:
            done = run(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("hindsight " + command, done.stdout)

    def test_version_is_one_line(self):
        done = run("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^hindsight \d+\.\d+\.\d+\n$")

    def test_no_command_is_a_usage_error(self):
        self.assert_usage_error(says="hindsight --help")

    def test_unknown_command_is_named(self):
        self.assert_usage_error("sing", says="there is no command 'sing'")

    def test_unknown_option_is_named(self):
        self.assert_usage_error("rankers", "--loud", says="--loud")
        self.assert_usage_error("rankers", "--loud", says="hindsight rankers --help")

    def test_misspelt_option_comes_with_the_nearest(self):
        for slip in (["--header-deadlin-ms", "5"], ["--header-deadlin-ms=5"]):
            self.assert_usage_error("serve", *slip, says="did you mean --header-deadline-ms?")

    def test_newlines_in_arguments_stay_on_one_line(self):
        self.assert_usage_error("rankers", "no\nsuch\nranker", says="no such ranker")

    def test_control_characters_do_not_reach_the_terminal(self):
        self.assert_usage_error("rankers", "\x1b[31mred\x7f", says="\\x1b[31mred\\x7f")

    def test_options_that_exclude_each_other_are_a_usage_error(self):
        self.assert_usage_error("rankers", "--json", "--markdown", says="--json")

    def test_full_disk_is_a_failure_of_the_machine(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "rankers"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1)


class Rankers(unittest.TestCase):
    NAMES = ["noregret-klrank", "greedy-klrank", "klrank", "online-ranknet", "category-ranking", "hits", "pagerank",
             "mcrank", "random", "onlinerank", "dbgd", "mgd", "pdgd", "recurrank", "cascade-linucb", "cascade-lints", "toprank",
             "fpl", "auto", "feature-klrank"]

    def test_json_has_every_ranker_with_its_promises(self):
        rankers = json.loads(run("rankers", "--json").stdout)["rankers"]
        self.assertEqual(sorted(ranker["name"] for ranker in rankers), sorted(self.NAMES))
        for ranker in rankers:
            for key in ("summary", "paper", "guarantee", "assumptions"):
                self.assertTrue(ranker[key], (ranker["name"], key))
            for param in ranker["params"]:
                self.assertTrue(param["help"], (ranker["name"], param))
                if param["type"] in ("number", "integer"):
                    if param["minimum"] is not None:
                        self.assertLessEqual(param["minimum"], param["default"])
                    if param["maximum"] is not None:
                        self.assertGreaterEqual(param["maximum"], param["default"])
                if param["type"] == "word":
                    self.assertIn(param["default"], param["words"])

    def test_text_names_every_ranker_within_100_columns(self):
        text = run("rankers").stdout
        for name in self.NAMES:
            self.assertIn(f"\n{name}\n", "\n" + text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_one_ranker_can_be_asked_for(self):
        self.assertTrue(run("rankers", "mcrank").stdout.startswith("mcrank\n"))

    def test_unknown_ranker_is_bad_input(self):
        done = run("rankers", "bestrank")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("bestrank", done.stderr)


class Bench(unittest.TestCase):
    def test_table_and_json_have_the_same_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bench.json"
            done = run("bench", "draw/top10", "--max-n", "1000", "--seconds", "0", "--json", str(path))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            rows = json.loads(path.read_text())["benchmarks"]
        self.assertEqual([(row["name"], row["n"]) for row in rows],
                         [("draw/top10", 100), ("draw/top10", 1000)])
        for row in rows:
            self.assertEqual(set(row), {"name", "n", "ns", "ratio", "aim"})
            self.assertGreater(row["ns"], 0)
            self.assertIn(row["name"], done.stdout)

    def test_bad_wishes_are_bad_input(self):
        for wish in (["no-such-name"], ["tree", "--seconds", "-1"], ["tree", "--max-n", "x"],
                     ["tree", "--max-n", "-5"], ["tree", "--max-n", "0"], ["tree", "--max-n", "010"],
                     ["tree", "--max-n", ""], ["tree", "--seconds", ""], ["tree", "--seconds", "inf"]):
            done = run("bench", *wish)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_an_unwritable_place_is_a_failure_of_the_machine(self):
        done = run("bench", "tree", "--json", "/no/such/folder/x.json")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_slopes_are_known_by_name(self):
        done = run("bench", "slope/draw", "--max-n", "100", "--seconds", "0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("draw/top10", done.stdout)
        self.assertIn("slope/tree", run("bench", "no-such-name").stderr)

    def test_help_has_examples_and_says_what_is_a_file(self):
        text = run("bench", "--help").stdout
        self.assertIn("Examples:", text)
        self.assertIn("--json FILE", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
