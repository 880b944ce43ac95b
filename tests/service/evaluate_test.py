#!/usr/bin/env python3
"""Off-policy evaluation over the wire, and the same from the command line on the server's folder.

Usage: evaluate_test.py PROGRAM
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service  # noqa: E402
from hindsight_client import HindsightError  # noqa: E402

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
ITEMS = [f"b{i}" for i in range(6)]
TASTE = dict(zip(ITEMS, (0.8, 0.1, 0.3, 0.05, 0.5, 0.2)))


def path(name):
    return f"/v1/collections/{name}/evaluate"


class Evaluate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="hindsight_evaluate_")
        cls.folder = pathlib.Path(cls.temporary.name) / "data"
        cls.service = Service(PROGRAM, cls.folder)

    @classmethod
    def tearDownClass(cls):
        code = cls.service.stop()
        cls.temporary.cleanup()
        assert code == 0, code

    def setUp(self):
        self.client = self.service.client()
        self.addCleanup(self.client.close)

    def visit(self, name, ranker, visits, **settings):
        """Readers look at lists of three and click what they like."""
        books = self.client.collection(name)
        # Logged before the reply, so that no decision is still on its way when an evaluation begins.
        books.put(ranker=ranker, seed=5, decisions_before_reply=True, **settings)
        reader = random.Random(1)
        for _ in range(visits):
            reply = books.rank(candidates=ITEMS, k=3)
            for item in reply["items"]:
                if reader.random() < TASTE[item["id"]]:
                    books.click(reply["decision"], item["id"])
        return books

    @staticmethod
    def state_of(books):
        stats = books.stats()
        return {key: stats[key] for key in ("model_hash", "clicks", "decisions", "era")}

    def result(self, name):
        """Waits for the end; the deadline only keeps a fault from hanging the tests."""
        deadline = time.monotonic() + 300
        job = self.client.call("GET", path(name))
        while job["state"] == "running" and time.monotonic() < deadline:
            time.sleep(0.01)
            job = self.client.call("GET", path(name))
        self.assertEqual(job["state"], "done", job)
        self.assertEqual(job["position"], job["head"])
        return job["result"]

    def assert_refused(self, status, code, method, where, body=None):
        with self.assertRaises(HindsightError) as caught:
            self.client.call(method, where, body)
        self.assertEqual((caught.exception.status, caught.exception.code), (status, code))

    def test_another_ranker_is_judged_on_the_log_and_nothing_changes(self):
        books = self.visit("whole", "random", 300)
        before = self.state_of(books)
        job = self.client.call("POST", path("whole"), {"ranker": "noregret-klrank", "params": {"alpha": 1}})
        self.assertEqual((job["state"], job["params"]["alpha"]), ("running", 1))
        result = self.result("whole")
        self.assertEqual(result["decisions"], 300)
        for metric in ("first_click", "ndcg"):
            said = result[metric]
            self.assertIn(said["status"], ("ok", "weak_support"))
            self.assertEqual(said["decisions"], 300)
            self.assertEqual(said["left_out"], {})
            for estimator in ("ips", "snips", "logged"):
                self.assertLessEqual(said[estimator]["low"], said[estimator]["value"])
                self.assertLessEqual(said[estimator]["value"], said[estimator]["high"])
            self.assertLessEqual(said["effective_sample_size"], 300.001)
        # The reader likes some books better, and the ranker has seen it: a fixed seed on both sides.
        first = result["first_click"]
        self.assertGreater(first["snips"]["value"], first["logged"]["value"])
        self.assertEqual(result["regret"]["clicks"], result["replay_cost"]["clicks"])
        self.assertAlmostEqual(result["regret"]["learned"], result["replay_cost"]["total"], places=6)
        self.assertEqual(self.state_of(books), before)
        done = subprocess.run(
            [PROGRAM, "replay", str(self.folder), "--collection", "whole", "--ranker", "noregret-klrank",
             "--param", "alpha=1", "--json"], capture_output=True, text=True, check=True)
        again = json.loads(done.stdout)
        for said in (again["result"], result):
            said.pop("through")  # the server may have logged a measurement since
        self.assertEqual(again["result"], result, "the command line says the same")
        self.assertEqual(again["state"], "done")

    def test_without_support_it_says_why(self):
        self.visit("first", "klrank", 60)
        self.client.call("POST", path("first"), {"ranker": "random"})
        result = self.result("first")
        self.assertEqual(result["ndcg"]["status"], "no_support")
        self.assertIn("only the first item", result["ndcg"]["reason"])
        self.assertEqual(result["ndcg"]["left_out"], {"first_slot_log": 60})
        self.assertIsNone(result["ndcg"]["ips"])
        self.assertNotEqual(result["first_click"]["status"], "no_support")
        self.visit("sorted", "mcrank", 5)
        self.client.call("POST", path("sorted"), {"ranker": "random"})
        self.assertEqual(self.result("sorted")["first_click"]["left_out"], {"deterministic_log": 5})
        self.visit("silent", "random", 5, log_candidates=False)
        self.client.call("POST", path("silent"), {"ranker": "klrank"})
        self.assertEqual(self.result("silent")["first_click"]["left_out"], {"candidates_not_logged": 5})

    def test_refusals(self):
        self.visit("few", "random", 1)
        self.assert_refused(404, "not_found", "GET", path("few"))
        self.assert_refused(404, "not_found", "DELETE", path("few"))
        self.assert_refused(404, "not_found", "POST", path("none"), {"ranker": "random"})
        self.assert_refused(404, "unknown_name", "POST", path("few"), {"ranker": "best"})
        self.assert_refused(404, "unknown_name", "POST", path("few"), {"ranker": "random", "params": {"alpha": 1}})
        self.assert_refused(400, "invalid_argument", "POST", path("few"), {})
        self.client.call("POST", path("few"), {"ranker": "random"})
        self.result("few")
        self.assertEqual(self.client.call("DELETE", path("few"))["state"], "done")

    def test_replay_prints_for_people(self):
        self.visit("people", "random", 20)
        done = subprocess.run([PROGRAM, "replay", str(self.folder), "--collection", "people", "--ranker",
                               "greedy-klrank"], capture_output=True, text=True, check=True)
        for words in ("replay cost    infinite", "first click", "NDCG", "rewarded; mean weight", "model hash",
                      "open           20 of 20 decisions"):
            self.assertIn(words, done.stdout)
        for flags, words in ((["--json"], "--ranker"), (["--json", "--regret", "--ranker", "klrank"], "does not go with --json"),
                             (["--regret"], "random books no K-L cost")):
            refused = subprocess.run([PROGRAM, "replay", str(self.folder), "--collection", "people", *flags],
                                     capture_output=True, text=True, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(words, refused.stderr)


if __name__ == "__main__":
    unittest.main()
