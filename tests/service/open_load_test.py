#!/usr/bin/env python3
"""Load that does not wait for answers, at 2, 5 and 10 times what the server can do, and a noisy neighbour at 10 times its limit.

Plays bench/service/overload_bench.py and holds every answer of it to what no machine's speed excuses: who is not served
hears 429 or 503 with Retry-After, nobody hears nothing, memory is bounded, and the server goes on. The long version
(HINDSIGHT_FULL) also asks for the ratios of latencies, of which a machine that is busy with other things may spoil a
round or two, but not three. Usage: open_load_test.py BUILD_DIR
"""
import argparse
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "service"))
from overload_bench import Bench, median_ratio  # noqa: E402

BUILD = sys.argv.pop(1)
FULL = "HINDSIGHT_FULL" in os.environ
ROUNDS = 3 if FULL else 1
MEMORY = 1 << 30


class WatchedBench(Bench):
    """Keeps every result, and what the server had taken by then."""

    def __init__(self, options):
        super().__init__(options)
        self.service = None
        self.seen = []
        self.memory = 0

    def load(self, connections, rates, seconds=None, *pulse):
        results = super().load(connections, rates, seconds, *pulse)
        self.seen += [(rates, name, result) for name, result in results.items()]
        status = pathlib.Path(f"/proc/{self.service.process.pid}/status").read_text()
        self.memory = max(self.memory, int(status.split("VmHWM:")[1].split()[0]) * 1024)
        with self.service.client() as client:  # and all is well again
            client.collection("main").rank(topic="all", k=10)
        return results


@unittest.skipUnless({0, 1} <= os.sched_getaffinity(0), "needs a core for the server and one for the load")
class OpenLoad(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = argparse.Namespace(seconds=5 if FULL else 1, items=10_000 if FULL else 5_000, only="overload,noise",
                                     build=BUILD, json=None)
        cls.bench = WatchedBench(options)
        cls.addClassCleanup(lambda: cls.bench.service and cls.bench.service.alive() and cls.bench.service.kill())
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory(prefix="hindsight_open_load_") as folder:
                cls.bench.run(pathlib.Path(folder))
            cls.rows = {row["name"]: row for row in cls.bench.rows}
            if not cls.missed():
                break

    @classmethod
    def missed(cls):
        """The loads under which those who were served waited for longer than they should. Beside a noisy collection all rounds
        count together, and as a machine has few calm seconds, what is asked is that they do not contradict the aim of 1.2, and
        are nearer to it than to the 2 to 4 that come out without a limit."""
        missed = {load: cls.rows[load]["p99_ratio"] for load in ("2x", "5x", "10x") if not (cls.rows[load]["p99_ratio"] or 99) <= 2}
        for load in ("10x its limit of 0.03x", "10x its limit of 0.1x"):
            found = median_ratio([ratio for row in cls.bench.rows if row["name"] == load for ratio in row["p99_ratios"]])
            if not ((found["p99_ratio_low"] or 99) <= 1.2 and found["p99_ratio"] <= 1.4):
                missed[load] = found
        return missed

    def test_every_request_is_served_or_hears_when_to_come_back(self):
        for rates, name, result in self.bench.seen:
            with self.subTest(rates=rates, name=name):
                self.assertLessEqual(set(result["statuses"]), {"200", "429", "503"})
                if name != "noisy":
                    self.assertGreater(result["statuses"].get("200", 0), 0)
                self.assertEqual(result["unanswered"], 0)
                self.assertEqual(sum(result["statuses"].values()), result["sent"])
                self.assertEqual(result["without_retry_after"], 0)

    def test_what_is_too_much_is_refused_and_memory_stays_bounded(self):
        for load in ("5x", "10x"):
            self.assertGreater(self.rows[load]["share_refused"], 0)
        self.assertLess(self.bench.memory, MEMORY)

    def test_a_collection_beyond_its_limit_is_refused_and_the_others_are_served(self):
        for share in (0.03, 0.1):
            row = self.rows[f"10x its limit of {share}x"]
            self.assertGreater(row["noisy_refused"], 0.5)
            self.assertLess(row["quiet_refused"], 0.5 * row["quiet_sent"])

    @unittest.skipUnless(FULL, "the long version")
    def test_who_is_served_waits_no_longer_than_without_the_load(self):
        self.assertEqual(self.missed(), {}, f"after {ROUNDS} rounds; noise over all of them")


if __name__ == "__main__":
    unittest.main(verbosity=2)
