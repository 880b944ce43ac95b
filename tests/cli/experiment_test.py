#!/usr/bin/env python3
"""`hindsight experiment` from outside: files, exit codes, determinism.

Usage: experiment_test.py PROGRAM
"""
import json
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
RANKERS = {"noregret-klrank", "klrank", "greedy-klrank", "online-ranknet", "category-ranking",
           "hits", "pagerank", "mcrank", "random", "feature-klrank", "auto", "auto-sorted", "auto-share", "auto-no-session",
           "auto-no-links", "auto-no-groups", "auto-picks", "auto-picks-sorted"}


def experiment(*arguments, folder=None):
    return subprocess.run([PROGRAM, "experiment", *arguments], capture_output=True, text=True,
                          cwd=folder)


class GrowingLibrary(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "nowhere"
        self.folder.mkdir()

    def assert_input_error(self, *arguments, says):
        done = experiment(*arguments, folder=self.folder)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def test_without_data_it_runs_on_the_synthetic_library_and_says_so(self):
        done = experiment("growing-library", "--quick", "--json", "out.json", "--html", "out.html",
                          folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("no data in ../shared/data or data", done.stdout)
        found = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(found["experiment"], "growing-library")
        self.assertEqual(found["seed"], 1)
        self.assertEqual({row["ranker"] for row in found["rows"]}, RANKERS)
        for row in found["rows"]:
            for key in ("alpha", "kl_cost", "rel_distance", "first_rate", "ndcg", "regret", "bound",
                        "information"):
                self.assertIn(key, row)
        page = (self.folder / "out.html").read_text()
        self.assertTrue(page.startswith("<!"))
        self.assertIn("noregret-klrank", page)

    def test_verbose_shows_the_search_for_the_best_policy(self):
        done = experiment("growing-library", "--quick", "--rankers", "klrank", "--verbose",
                          folder=self.folder)
        self.assertEqual(done.returncode, 0, done)
        lines = done.stderr.splitlines()
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertRegex(line, r"^synthetic alpha 3: iteration \d+, value [\d.]+, gap [\d.e+-]+, "
                                   r"\d+ Hessian products$")

    def test_threads_do_not_change_a_byte(self):
        texts = []
        for threads in ("1", "3"):
            done = experiment("growing-library", "--quick", "--rankers", "klrank,random", "--runs",
                              "2", "--threads", threads, "--json", "out.json", folder=self.folder)
            self.assertEqual(done.returncode, 0, done)
            texts.append((done.stdout, (self.folder / "out.json").read_bytes()))
        self.assertEqual(texts[0], texts[1])

    def test_a_library_of_ones_own_is_read(self):
        books = self.folder / "books"
        books.mkdir()
        (books / "papers.tsv").write_text("id\tyear\tshelf\na\t1990\tx\nb\t1991\tx\nc\t\tx\n")
        (books / "citations.tsv").write_text("citing\tcited\nb\ta\n")
        done = experiment("growing-library", "--data", "books", "--topic-column", "shelf",
                          "--rankers", "random", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("books: 2 papers, 1 topics, 1 queries", done.stdout)
        self.assertIn("left out: 1 papers without year or topic", done.stdout)

    def test_a_broken_line_is_named(self):
        books = self.folder / "books"
        books.mkdir()
        (books / "papers.tsv").write_text("id\tyear\ttopic\na\t1990\n")
        (books / "citations.tsv").write_text("citing\tcited\n")
        self.assert_input_error("growing-library", "--data", "books",
                                says="papers.tsv:2: 2 columns where the header has 3")

    def test_bad_options_are_input_errors(self):
        name = "growing-library"
        self.assert_input_error(name, "--data", "no-such-folder", says="no such folder")
        self.assert_input_error(name, "--dataset", "cora", says="no data set 'cora'")
        self.assert_input_error(name, "--rankers", "no-such", says="no-such")
        self.assert_input_error(name, "--alpha", "0", says="not a positive number")
        self.assert_input_error(name, "--alpha", "x", says="--alpha")
        self.assert_input_error(name, "--runs", "0", says="runs")
        self.assert_input_error(name, "--threads", "0", says="threads")
        self.assert_input_error(name, "--data", "/etc/passwd", says="is not a folder")
        self.assert_input_error(name, "--json", "a", "--html", "./a", says="another file")
        for option in ("--seed", "--runs", "--threads"):
            for word in ("-1", "18446744073709551616", "010", "0x10", "1.5", "", " 1"):
                self.assert_input_error(name, option, word, says=option)
        for word in ("", "1,", "nan", "inf", "0x1p3", "1e999"):
            self.assert_input_error(name, "--alpha", word, says="--alpha")
        for option in ("--rankers", "--dataset"):
            self.assert_input_error(name, option, "", says=option)
            self.assert_input_error(name, option, "random,", says=option)
            self.assert_input_error(name, option, "random", "klrank", says="klrank")
        self.assert_input_error("no-such", says="there is no command 'no-such'")
        self.assert_input_error(says="experiment --help")

    def assert_file_is_old(self):
        self.assertEqual((self.folder / "out.json").read_text(), "old")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["out.json"])

    def test_a_run_that_fails_leaves_the_files_as_they_were(self):
        (self.folder / "out.json").write_text("old")
        for wish in (("--rankers", "no-such"), ("--dataset", "nope"), ("--runs", "0"), ("--seed", "x")):
            done = experiment("growing-library", *wish, "--json", "out.json", "--html", "out.html",
                              folder=self.folder)
            self.assertEqual(done.returncode, 2, done)
            self.assert_file_is_old()

    def test_a_full_disk_is_one_line_and_leaves_no_file(self):
        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        (self.folder / "out.json").write_text("old")
        for name in ("out.json", "new.json"):
            done = subprocess.run([PROGRAM, "experiment", "growing-library", "--quick", "--rankers",
                                   "random", "--json", name], capture_output=True, text=True,
                                  cwd=self.folder, preexec_fn=small_disk)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assert_file_is_old()

    def test_an_unwritable_place_is_known_before_the_work(self):
        for place in ("no/such/folder.json", ".", "/dev/full"):
            done = experiment("growing-library", "--quick", "--rankers", "random", "--json", place,
                              folder=self.folder)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertIn("cannot be written", done.stderr)

    def test_standard_output_takes_the_figures_before_the_table(self):
        for where in (subprocess.PIPE, "file"):
            path = self.folder / "all.txt"
            with open(path, "w") as file:
                done = subprocess.run([PROGRAM, "experiment", "growing-library", "--quick",
                                       "--rankers", "random", "--json", "/dev/stdout"], text=True,
                                      stdout=file if where == "file" else where, cwd=self.folder)
            self.assertEqual(done.returncode, 0)
            text = path.read_text() if where == "file" else done.stdout
            first, rest = text.split("\n", 1)
            self.assertEqual(json.loads(first)["experiment"], "growing-library")
            self.assertIn("growing-library: seed 1", rest)

    def test_a_link_stays_and_its_file_is_replaced(self):
        (self.folder / "real.json").write_text("old")
        (self.folder / "out.json").symlink_to("real.json")
        done = experiment("growing-library", "--quick", "--rankers", "random", "--json", "out.json",
                          folder=self.folder)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue((self.folder / "out.json").is_symlink())
        self.assertIn("growing-library", (self.folder / "real.json").read_text())

    def test_help_names_the_experiment(self):
        done = experiment("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("growing-library", done.stdout)


class OpenBandit(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "nowhere"
        self.folder.mkdir()

    def write(self, policy, chances):
        """A log of 60 rows: two items at one place, of which the second is clicked."""
        lines = [",timestamp,item_id,position,click,propensity_score"]
        for i in range(60):
            item = int(i % 10 >= 10 * chances[0])
            lines.append(f"{i},t,{item},1,{int(item == 1 and i % 3 == 0)},{chances[item]}")
        (self.folder / f"{policy}_shop.csv").write_text("\n".join(lines) + "\n")

    def test_both_policies_are_estimated(self):
        self.write("random", (0.5, 0.5))
        self.write("bts", (0.2, 0.8))
        done = experiment("open-bandit", "--data", ".", "--quick", "--json", "out.json", "--html",
                          "out.html", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("of 4 estimates agree", done.stdout)
        found = json.loads((self.folder / "out.json").read_text())
        self.assertEqual((found["experiment"], found["seed"]), ("open-bandit", 1))
        self.assertEqual([(row["logged_by"], row["target"], row["estimator"]) for row in found["rows"]],
                         [("random", "bts", "ips"), ("random", "bts", "snips"), ("bts", "random", "ips"),
                          ("bts", "random", "snips")])
        for row in found["rows"]:
            self.assertEqual(row["campaign"], "shop")
            self.assertLessEqual(row["low"], row["value"])
            self.assertLessEqual(row["bootstrap_low"], row["bootstrap_high"])
        self.assertIn("What would the other policy", (self.folder / "out.html").read_text())

    def test_without_data_it_says_what_is_missing(self):
        for wish in ((), ("--data", ".")):
            done = experiment("open-bandit", *wish, folder=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("random_NAME.csv", done.stderr)


class Dueling(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_the_paper_stands_beside_what_came_out(self):
        done = experiment("dueling-synthetic", "--rounds", "300", "--json", "out.json", "--html",
                          "out.html", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("(0.465)", done.stdout)
        found = json.loads((self.folder / "out.json").read_text())
        self.assertEqual((found["experiment"], found["seed"]), ("dueling-synthetic", 1))
        table = [row for row in found["rows"] if row["method"] == "DBGD"]
        self.assertEqual([(row["problem"], row["delta_l"]) for row in table],
                         [(f"P{i}", factor) for i in range(1, 6) for factor in (0.6, 0.8, 1, 2, 3)])
        for row in table:
            self.assertEqual(row["rounds"], 300)
            self.assertTrue(0 < row["avg_regret"] < 1.01)
        self.assertIn("Average regret on P1", (self.folder / "out.html").read_text())

    def test_judged_documents_are_ranked(self):
        for part in range(1, 6):
            lines = [f"{doc % 3} qid:{query} 1:{doc % 3} 2:{(doc * 7 + query) % 5}"
                     for query in range(4) for doc in range(6)]
            (self.folder / f"S{part}.txt").write_text("\n".join(lines) + "\n")
        done = experiment("dueling-letor", "--data", ".", "--duels", "200", "--lists", "20", "--json",
                          "out.json", "--html", "out.html", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Table 3", done.stdout)
        found = json.loads((self.folder / "out.json").read_text())
        self.assertEqual((found["experiment"], found["seed"]), ("dueling-letor", 1))
        self.assertEqual({row["ranker"] for row in found["rows"]}, {"dbgd", "mgd", "pdgd", "ranking-svm"})
        for row in found["rows"]:
            self.assertTrue(0 < row["ndcg10_train"] <= 1 and 0 < row["ndcg10_test"] <= 1, row)
        self.assertIn("Learning to rank documents", (self.folder / "out.html").read_text())
        (self.folder / "S3.txt").write_text("1 qid:1 1:1\n1 qid:1 1:oops\n")
        done = experiment("dueling-letor", "--data", ".", folder=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("S3.txt:2", done.stderr)

    def test_without_judged_documents_it_says_what_is_missing(self):
        done = experiment("dueling-letor", "--data", ".", folder=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("S1.txt", done.stderr)

    def test_bad_options_are_input_errors(self):
        for option, word in (("--rounds", "5"), ("--rounds", "x"), ("--runs", "0"), ("--threads", "0")):
            done = experiment("dueling-synthetic", "--quick", option, word, folder=self.folder)
            if option == "--rounds" and word == "5":
                done = experiment("dueling-synthetic", option, word, folder=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(option.strip("-"), done.stderr)


class DiscreteChoice(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_quick(self, *arguments):
        return experiment("discrete-choice", "--quick", *arguments, folder=self.folder)

    def test_rows_have_regret_and_both_bounds(self):
        done = self.run_quick("--time-up-to", "0", "--json", "out.json", "--html", "out.html")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("mean regrets are below the upper bound", done.stdout)
        found = json.loads((self.folder / "out.json").read_text())
        self.assertEqual((found["experiment"], found["seed"]), ("discrete-choice", 1))
        self.assertEqual({row["adversary"] for row in found["rows"]},
                         {"uniform", "zipf", "shifting", "worst"})
        self.assertEqual({row["ranker"] for row in found["rows"]},
                         {"onlinerank", "onlinerank-quicksort", "onlinerank-doubling", "fpl-uniform",
                          "fpl-gumbel", "mw", "permelearn", "permutahedron"})
        for row in found["rows"]:
            for key in ("n", "k", "rounds", "regret", "upper_bound", "lower_bound"):
                self.assertIsInstance(row[key], (int, float), row)
            self.assertEqual(row["limit"] is None, row["adversary"] != "uniform")
            if row["loss"] == "expected":
                self.assertLessEqual(row["regret"], row["upper_bound"] * 1.000001)
        self.assertEqual({row["rankings"] for row in found["aggregation"]}, {"mallows", "reversing"})
        self.assertEqual((found["times"], found["time_slope"]), ([], None))
        page = (self.folder / "out.html").read_text()
        self.assertIn("Theorem 3.1", page)

    def test_threads_do_not_change_a_byte(self):
        texts = []
        for threads in ("1", "2"):
            done = self.run_quick("--time-up-to", "0", "--threads", threads, "--json", "out.json")
            self.assertEqual(done.returncode, 0, done)
            texts.append((done.stdout, (self.folder / "out.json").read_bytes()))
        self.assertEqual(texts[0], texts[1])

    def test_sizes_are_as_wished_and_times_are_measured(self):
        done = self.run_quick("--adversaries", "uniform", "--rankers", "onlinerank", "--items",
                              "8,9", "--choices", "2", "--rounds", "30", "--runs", "2", "--seed", "5",
                              "--time-up-to", "100000", "--json", "out.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads((self.folder / "out.json").read_text())
        self.assertEqual([(row["n"], row["k"], row["rounds"], row["runs"]) for row in found["rows"]],
                         [(8, 2, 30, 2), (9, 2, 30, 2)])
        self.assertEqual([time["n"] for time in found["times"]], [10000, 100000])
        self.assertIsInstance(found["time_slope"], float)

    def test_bad_input_is_one_line(self):
        for wish, says in ((("--rankers", "nobody"), "nobody"), (("--adversaries", "x"), "'x'"),
                           (("--items", "1"), "two items"), (("--items", "5,"), "--items"),
                           (("--items", "-3"), "--items"), (("--choices", "0"), "choices"),
                           (("--choices", "99"), "nothing can be played"), (("--rounds", "0"), "rounds"),
                           (("--effort", "0"), "effort"), (("--threads", "0"), "threads"),
                           (("--json", "a", "--html", "./a"), "another file")):
            done = self.run_quick("--time-up-to", "0", *wish)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(says, done.stderr)


class ClickBandits(unittest.TestCase):
    """`click-models` and `movielens`."""
    RANKERS = ["recurrank", "recurrank-printed", "cascade-linucb", "cascade-linucb-proven", "cascade-lints", "toprank"]
    KEYS = ("environment", "ranker", "rounds", "regret_mean", "regret_se", "ns_per_round")

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "nowhere"
        self.folder.mkdir()

    def write_ratings(self):
        rows = ["userId,movieId,rating,timestamp"]
        for user in range(150):
            rows += [f"{user},{movie},{1 + (user * movie) % 5}.0,0" for movie in range(1100)
                     if (user + movie) % (1 + movie // 400) == 0]
        (self.folder / "ratings.csv").write_text("\n".join(rows) + "\n")

    def test_a_quick_look_has_every_ranker_in_every_file(self):
        done = experiment("click-models", "--quick", "--runs", "1", "--environments", "cascade,dependent",
                          "--json", "out.json", "--html", "out.html", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads((self.folder / "out.json").read_text())
        self.assertEqual((found["experiment"], found["seed"]), ("click-models", 1))
        self.assertEqual([(row["environment"], row["ranker"]) for row in found["rows"]],
                         [(name, ranker) for name in ("cascade", "dependent") for ranker in self.RANKERS])
        for row in found["rows"]:
            for key in self.KEYS:
                self.assertIn(key, row)
            self.assertEqual(row["curve_rounds"][-1], row["rounds"])
            self.assertEqual(row["curve_mean"][-1], row["regret_mean"])
        self.assertIn("Regret over time", (self.folder / "out.html").read_text())
        self.assertIn("recurrank-printed", done.stdout)

    def test_threads_do_not_change_a_regret(self):
        regrets = []
        for threads in ("1", "3"):
            done = experiment("click-models", "--quick", "--environments", "cascade", "--rankers", "recurrank,toprank",
                              "--threads", threads, "--json", "out.json", folder=self.folder)
            self.assertEqual(done.returncode, 0, done)
            rows = json.loads((self.folder / "out.json").read_text())["rows"]
            regrets.append([(row["regret_mean"], row["regret_se"], row["curve_mean"]) for row in rows])
        self.assertEqual(regrets[0], regrets[1])

    def test_movies_of_ones_own_are_read(self):
        self.write_ratings()
        done = experiment("movielens", "--quick", "--data", ".", "--rankers", "recurrank", "--json", "out.json",
                          folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads((self.folder / "out.json").read_text())
        self.assertEqual([row["environment"] for row in found["rows"]], ["document"])
        self.assertGreater(found["rows"][0]["regret_mean"], 0.0)

    def test_bad_input_is_one_line(self):
        (self.folder / "bad").mkdir()
        (self.folder / "bad" / "ratings.csv").write_text("userId,movieId,rating\n1,2,7\n")
        (self.folder / "few").mkdir()
        (self.folder / "few" / "ratings.csv").write_text("userId,movieId,rating\n1,2,3\n")
        for wish, says in ((("click-models", "--rankers", "nobody"), "nobody"),
                           (("click-models", "--environments", "x"), "'x'"),
                           (("click-models", "--runs", "0"), "runs"), (("click-models", "--threads", "0"), "threads"),
                           (("click-models", "--json", "a", "--html", "./a"), "another file"),
                           (("movielens",), "--data"), (("movielens", "--data", "bad"), "ratings.csv:2"),
                           (("movielens", "--data", "few"), "users")):
            done = experiment(*wish, "--quick", folder=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main()
