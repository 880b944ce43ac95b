#!/usr/bin/env python3
"""Kills the server again and again while clients rank and click, and holds it to their ledger.

Usage: crash_test.py PROGRAM

Every acknowledged click is in the log once, none is learned twice, the model after recovery equals a
full replay by hash, no decision id is ever issued twice, the accounts add up. 50 kills; 500 with
HINDSIGHT_FULL=1, or as many as HINDSIGHT_CRASHES says. Random moments and named points take turns.
"""
import os
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service, replayed_hash  # noqa: E402
from ledger import Caller, Ledger, send  # noqa: E402

PROGRAM = sys.argv.pop(1)
CYCLES = int(os.environ.get("HINDSIGHT_CRASHES", 500 if os.environ.get("HINDSIGHT_FULL") else 50))
CLIENTS = 4
SEED = 20090608
WINDOW_SECONDS = 7 * 24 * 3600  # no window ends during the run, however long it is
POINTS = ("before_commit", "after_commit", "before_snapshot_rename", "after_snapshot")


class Crash(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="hindsight_crash_")
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name) / "data"
        self.service = None
        self.waiting_again = 0  # clicks on lost decisions that were sent again
        self.addCleanup(lambda: self.service and self.service.alive() and self.service.kill())

    def start(self, kill_at=None):
        environment = dict(os.environ)
        environment.pop("HINDSIGHT_KILL_AT", None)
        if kill_at:
            environment["HINDSIGHT_KILL_AT"] = kill_at
        self.service = Service(PROGRAM, self.folder, "--snapshot-events", "150",
                               environment=environment)
        return self.service

    def test_kills_during_the_making_of_the_store_leave_one_that_opens(self):
        for nth in (1, 2):
            service = self.start(f"during_migration:{nth}")
            self.assertTrue(service.wait(60), "it was to be killed during the migration")
            service.reap()
        service = self.start()
        self.assertIsNotNone(service.url)
        with service.client() as client:
            self.assertEqual(client.collections(), [])
        self.assertEqual(service.stop(), 0)

    def test_kills_at_random_moments_and_named_points(self):
        rng = random.Random(SEED)
        ledger = Ledger()
        service = self.start()
        with service.client() as client:
            client.collection("books").put(ranker="klrank", seed=7, window_seconds=WINDOW_SECONDS)
        service.kill()
        for cycle in range(CYCLES):
            point = None
            if cycle % 2 == 1:
                point = f"{POINTS[cycle // 2 % len(POINTS)]}:{rng.randrange(1, 30)}"
            with self.subTest(cycle=cycle, point=point or "random moment"):
                self.one_life(ledger, rng, point)
        service = self.start()
        self.check(service, ledger)
        self.assertEqual(service.stop(), 0)
        self.assertGreater(len(ledger.acknowledged), 5 * CYCLES, "the clients hardly did anything")
        print(f"{CYCLES} kills, {len(ledger.decisions)} decisions, "
              f"{len(ledger.acknowledged)} acknowledged clicks")

    def one_life(self, ledger, rng, point):
        service = self.start(point)
        if service.url is None:  # killed at its point while starting
            self.assertTrue(service.wait(60))
            service.reap()
            return
        try:
            callers = [Caller(service, ledger, rng.getrandbits(32)) for _ in range(CLIENTS)]
            for caller in callers:
                caller.start()
            # A point that is never reached ends in a kill all the same.
            if not service.wait(5 if point else rng.uniform(0.02, 0.4)):
                service.process.kill()
            service.reap()
        finally:
            for caller in callers:
                caller.join(60)
        for caller in callers:
            self.assertIsNone(caller.wrong)
        service = self.start()
        self.assertIsNotNone(service.url, (self.folder.parent / "server.log").read_text()[-2000:])
        self.check(service, ledger)
        service.kill()

    def check(self, service, ledger):
        with service.client() as client:
            self.check_books(client.collection("books"), ledger)

    def check_books(self, books, ledger):
        # Clicks without an answer may or may not be there; sent again, they are there once.
        for event in list(ledger.unanswered):
            click = ledger.unanswered[event]
            send(books, [click], ledger)
        # Acknowledged ones are there: each is known as a repeat, whatever the kill left undone,
        # unless its decision was lost behind its reply; then it waits, and is counted below.
        for click in random.Random(len(ledger.acknowledged)).sample(
                list(ledger.acknowledged.values()), min(20, len(ledger.acknowledged))):
            answer = books.clicks([dict(click)])
            self.assertEqual(answer["quarantined"] + answer["late"] + answer["unjoined"], 0, click)
            if answer["accepted"]:
                self.waiting_again += 1
        counts = books.stats()["clicks"]
        self.assertEqual(counts["received"],
                         sum(counts[name] for name in counts if name != "received"))
        # Distinct clicks are learned, or wait for a decision that was lost (those sent again too).
        self.assertEqual(counts["learned"] + counts["pending"],
                         len(ledger.acknowledged) + self.waiting_again)
        self.assertEqual(ledger.repeated, [])
        self.assertEqual(replayed_hash(PROGRAM, self.folder), books.stats()["model_hash"])


if __name__ == "__main__":
    unittest.main()
