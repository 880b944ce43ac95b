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
import re
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service  # noqa: E402
from hindsight_client import HindsightError  # noqa: E402

PROGRAM = sys.argv.pop(1)
CYCLES = int(os.environ.get("HINDSIGHT_CRASHES", 500 if os.environ.get("HINDSIGHT_FULL") else 50))
CLIENTS = 4
SEED = 20090608
WINDOW_SECONDS = 7 * 24 * 3600  # no window ends during the run, however long it is
POINTS = ("before_commit", "after_commit", "before_snapshot_rename", "after_snapshot")


class Ledger:
    """What the outside world knows: decisions that it was given, clicks that it sent."""

    def __init__(self):
        self.lock = threading.Lock()
        self.decisions = set()
        self.repeated = []       # decision ids that came twice
        self.acknowledged = {}   # event -> (decision, item)
        self.unanswered = {}     # sent, and the connection broke
        self.accepted = 0

    def decision(self, decision):
        with self.lock:
            if decision in self.decisions:
                self.repeated.append(decision)
            self.decisions.add(decision)


class Caller(threading.Thread):
    """Ranks and clicks over a connection of its own until the server goes away."""

    def __init__(self, service, ledger, seed):
        super().__init__(daemon=True)
        self.client = service.client(timeout=20)
        self.ledger = ledger
        self.random = random.Random(seed)
        self.wrong = None

    def run(self):
        books = self.client.collection("books")
        try:
            while True:
                self.one_round(books)
        except HindsightError as error:
            if error.status != 503:  # it may be shutting down, never anything else
                self.wrong = error
        except Exception:  # pylint: disable=broad-except
            pass  # the connection broke: the server was killed
        finally:
            self.client.close()

    def one_round(self, books):
        first = self.random.randrange(200)
        items = [f"item{first + i}" for i in range(8)]
        reply = books.rank(candidates=items, k=5)
        self.ledger.decision(reply["decision"])
        shown = [item["id"] for item in reply["items"]]
        clicks = []
        for item in self.random.sample(shown, self.random.randrange(3)):
            event = f"{self.random.getrandbits(64):x}"
            clicks.append({"decision": reply["decision"], "item": item, "event": event})
        if clicks:
            send(books, clicks, self.ledger)


def send(books, clicks, ledger):
    """Sends clicks and writes down what became of them."""
    with ledger.lock:
        for click in clicks:
            ledger.unanswered[click["event"]] = click
    answer = books.clicks(clicks)
    with ledger.lock:
        for click in clicks:
            del ledger.unanswered[click["event"]]
            ledger.acknowledged[click["event"]] = click
        ledger.accepted += answer["accepted"]
    return answer


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
        self.assertEqual(self.replayed_hash(), books.stats()["model_hash"])

    def replayed_hash(self):
        done = subprocess.run([PROGRAM, "replay", str(self.folder), "--collection", "books"],
                              capture_output=True, text=True, check=True)
        return re.search(r"model hash\s+(\w+)", done.stdout).group(1)


if __name__ == "__main__":
    unittest.main()
