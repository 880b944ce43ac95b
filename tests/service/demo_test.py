#!/usr/bin/env python3
"""`hindsight serve --demo`: readers come, the order is learned, books arrive, and a restart goes on.
Usage: demo_test.py PROGRAM"""
import pathlib
import sys
import tempfile
import time
import unittest

from service import Service

PROGRAM = sys.argv.pop(1)
PATIENCE = 1200.0  # seconds; a guard against waiting for ever


class DemoTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "data"
        self.service = None

    def start(self, *options):
        self.service = Service(PROGRAM, self.folder, *options)
        self.addCleanup(lambda: self.service.alive() and self.service.stop())
        client = self.service.client()
        self.addCleanup(client.close)
        return client.collection("demo")

    def wait_for(self, demo, condition):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            stats = demo.stats()
            if condition(stats):
                return stats
            time.sleep(0.1)
        self.fail(f"still {stats}")

    def test_readers_come_and_the_order_is_learned(self):
        demo = self.start("--demo")
        early = self.wait_for(demo, lambda stats: stats["clicks"]["learned"] >= 50)
        late = self.wait_for(demo, lambda stats: stats["clicks"]["learned"] >= 1200)
        self.assertGreater(late["items"], early["items"], "books keep arriving")
        clicks = late["kl_cost"]["clicks"] - early["kl_cost"]["clicks"]
        since = (late["kl_cost"]["served"] - early["kl_cost"]["served"]) / clicks
        # Ten books in a uniform order cost log 10 = 2.303 nats a click.
        self.assertLess(since, 2.25, "the readers' taste is being learned")
        self.assertEqual(late["clicks"]["quarantined"], 0)

        self.assertEqual(self.service.stop(), 0)
        demo = self.start("--demo")
        again = demo.stats()
        self.assertGreaterEqual(again["clicks"]["learned"], late["clicks"]["learned"])
        self.wait_for(demo, lambda stats: stats["decisions"] > again["decisions"])

    def test_without_the_flag_nobody_reads(self):
        self.start()
        client = self.service.client()
        self.addCleanup(client.close)
        self.assertEqual(client.collections(), [])

    def test_a_library_that_is_taken_away_stops_the_readers_and_nothing_else(self):
        demo = self.start("--demo")
        self.wait_for(demo, lambda stats: stats["decisions"] >= 5)
        demo.delete()
        log = self.folder.parent / "server.log"
        end = time.monotonic() + PATIENCE
        while "readers have stopped" not in log.read_text() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertIn("readers have stopped", log.read_text())
        client = self.service.client()
        self.addCleanup(client.close)
        self.assertEqual(client.collections(), [])
        self.assertEqual(self.service.stop(), 0)


if __name__ == "__main__":
    unittest.main()
