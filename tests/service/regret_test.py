#!/usr/bin/env python3
"""Regret while a real server runs: stats, history, stream and metrics tell the same, over a kill and a restart.

Usage: regret_test.py PROGRAM
"""
import json
import math
import pathlib
import random
import re
import sys
import tempfile
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service  # noqa: E402

PROGRAM = sys.argv.pop(1)
SHOWN = 4
PATIENCE_S = 300  # a guard against hanging


class Regret(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_regret_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "data"
        self.service = None

    def start(self, *options):
        self.service = Service(PROGRAM, self.folder, *options)
        self.assertIsNotNone(self.service.url)
        self.addCleanup(lambda service: service.alive() and service.kill(), self.service)
        client = self.service.client()
        self.addCleanup(client.close)
        return client

    def open(self, path):
        key = (self.folder / "admin.key").read_text().strip()
        request = urllib.request.Request(self.service.url + path, headers={"Authorization": f"Bearer {key}"})
        return urllib.request.urlopen(request, timeout=30)

    def metric(self, text, name, **labels):
        labels = {"collection": "books", **labels}
        inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
        found = re.search(re.escape(f"{name}{{{inside}}}") + r" (\S+)", text)
        self.assertIsNotNone(found, f"no {name} {inside}")
        return float(found.group(1))

    def play(self, client, decisions):
        """Readers who prefer low numbers. RETURNS: how many clicks the ranker learns."""
        chance = random.Random(decisions)
        learned = 0
        books = client.collection("books")
        for _ in range(decisions):
            ids = chance.sample(range(12), 6)
            reply = books.rank(candidates=[f"b{i:02}" for i in ids], k=SHOWN)
            shown = sorted(item["id"] for item in reply["items"])
            books.click(reply["decision"], shown[0] if chance.random() < 0.8 else shown[-1])
            learned += 0 if reply.get("control") else 1
        return learned

    def settled(self, client, clicks):
        """RETURNS: stats once so many clicks are measured that it is not done again soon, and nothing is on its way."""
        end = time.monotonic() + PATIENCE_S
        before = None
        while time.monotonic() < end:
            stats = client.call("GET", "/v1/collections/books/stats?hash=false")
            measured = stats["kl_cost"]["measured"]
            if measured and 1.05 * measured["clicks"] > clicks and stats == before:
                return stats
            before = stats
            time.sleep(0.3)
        self.fail(f"not measured: {before}")

    def check(self, client, clicks):
        stats = self.settled(client, clicks)
        cost = stats["kl_cost"]
        measured = cost["measured"]
        self.assertEqual(cost["clicks"], clicks)
        self.assertEqual((cost["choice_set"], cost["refresh"], measured["sampled"]), ("shown", "on", False))
        self.assertAlmostEqual(cost["regret"], measured["learned"] - cost["hindsight"], places=9)
        self.assertLessEqual(cost["regret"], cost["regret_upper"])
        self.assertLessEqual(cost["regret_upper"], measured["data_bound"])
        # The policy that draws at random is one of those that it was compared with.
        self.assertLess(cost["hindsight"], measured["clicks"] * math.log(SHOWN))

        points = client.collection("books").history(2000)
        last = [point for point in points if point["kl_cost"]["hindsight"] is not None][-1]
        for name in ("hindsight", "regret", "regret_upper"):
            self.assertEqual(last["kl_cost"][name], cost[name])
        for name in ("clicks", "learned", "served", "bound", "data_bound", "sampled", "sample", "error"):
            self.assertEqual(last["kl_cost"][name], measured[name])
        self.assertEqual((last["time_ms"], last["position"]), (measured["time_ms"], measured["position"]))
        for name in ("clicks", "learned", "served", "bound", "data_bound"):
            self.assertEqual(points[-1]["kl_cost"][name], cost[name])

        with self.open("/v1/collections/books/stream") as stream:
            self.assertEqual(stream.readline(), b"event: stats\n")
            self.assertEqual(json.loads(stream.readline().removeprefix(b"data: ")), stats)

        with self.open("/metrics") as answer:
            text = answer.read().decode()
        for kind in ("learned", "served", "hindsight"):
            self.assertAlmostEqual(self.metric(text, "hindsight_kl_cost", kind=kind, choice_set="shown") / cost[kind], 1.0, places=5)
        self.assertAlmostEqual(self.metric(text, "hindsight_regret", choice_set="shown") / cost["regret"], 1.0, places=5)
        for kind, name in (("theorem", "bound"), ("data", "data_bound")):
            self.assertAlmostEqual(self.metric(text, "hindsight_regret_bound", kind=kind, choice_set="shown") / cost[name], 1.0, places=5)
        self.assertEqual(self.metric(text, "hindsight_era"), stats["era"])
        return stats, points

    def test_all_ways_to_look_at_it_agree_also_after_a_kill(self):
        client = self.start("--insight-share", "1")
        client.collection("books").put(ranker="klrank", seed=7, control=0.1)
        clicks = self.play(client, 300)
        stats, points = self.check(client, clicks)
        arms = stats["arms"]
        self.assertEqual(arms["ranker"]["clicks"], clicks)
        self.assertEqual(arms["control"]["clicks"], 300 - clicks)
        for arm in arms.values():
            for rate in ("click_rate", "first_rate", "ndcg"):
                low, high = arm[rate + "_95"]
                self.assertLessEqual(low, arm[rate])
                self.assertLessEqual(arm[rate], high)
        self.service.kill()

        client = self.start("--insight-share", "1")
        again, points_again = self.check(client, clicks)
        if again["kl_cost"]["measured"]["clicks"] == stats["kl_cost"]["measured"]["clicks"]:  # else five minutes passed
            self.assertEqual(again["kl_cost"], stats["kl_cost"])
        measured = [point for point in points if point["kl_cost"]["hindsight"] is not None]
        self.assertEqual([point for point in points_again if point in measured], measured)
        self.check(client, clicks + self.play(client, 150))
        self.assertEqual(self.service.stop(), 0)

    def test_without_a_share_it_is_off(self):
        client = self.start("--insight-share", "0")
        client.collection("books").put(ranker="klrank", seed=7)
        self.play(client, 20)
        cost = client.call("GET", "/v1/collections/books/stats")["kl_cost"]
        self.assertEqual((cost["refresh"], cost["measured"], cost["regret"]), ("off", None, None))
        self.assertEqual(len(client.collection("books").history(5)), 5)
        self.assertEqual(self.service.stop(), 0)


if __name__ == "__main__":
    unittest.main()
