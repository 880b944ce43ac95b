#!/usr/bin/env python3
"""The regret curve of a running `hindsight serve --demo` is what one computes from its log afterwards.

The lists and clicks are read back from the log, and everything is computed a second time, in plain Python: what was paid,
what the best fixed policy would have paid, and what the theorem allows.

Usage: demo_regret_test.py PROGRAM
"""
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

from service import Service

PROGRAM = sys.argv.pop(1)
PATIENCE_S = 1200  # a guard against hanging
CLICKS = 700
ALPHA = 3.0  # of the first expert of `auto`, to whose balls the bound belongs
EXPERTS = 13
PAGE = 40


def cycle_of(click):
    """RETURNS: the cycle of a click, both counted from 1: 1; 2, 3; 4, ..., 7; ..."""
    return click.bit_length()


def radius_of(cycle):
    return ALPHA * 2.0 ** (cycle / 4)


def length(weights):
    return math.sqrt(sum(w * w for w in weights))


def project(weights, radius):
    factor = min(1.0, radius / max(length(weights), 1e-300))
    return [factor * w for w in weights]


class Choices:
    """Clicks as choices among what was shown, with one weight for each item."""

    def __init__(self, decisions):
        numbers = {}
        self.choices = []  # the shown items, the picked one first
        for decision in decisions:
            shown = [numbers.setdefault(item["id"], len(numbers)) for item in decision["items"]]
            picked = numbers[decision["clicked"][0]]
            self.choices.append([picked] + [item for item in shown if item != picked])
        self.items = len(numbers)

    def cost(self, weights, first, last):
        """RETURNS: the K-L cost of the clicks first, ..., last, and its gradient."""
        total = 0.0
        gradient = [0.0] * self.items
        for choice in self.choices[first - 1:last]:
            parts = [math.exp(weights[item]) for item in choice]
            whole = sum(parts)
            total += math.log(whole) - weights[choice[0]]
            for item, part in zip(choice, parts):
                gradient[item] += part / whole
            gradient[choice[0]] -= 1.0
        return total, gradient

    def best(self, first, last, radius):
        """RETURNS: the weights of the least cost in a ball: accelerated projected gradient steps, with restarts."""
        weights = ahead = [0.0] * self.items
        value = math.inf
        momentum, slowness = 1.0, 1.0
        for _ in range(2000):
            here, gradient = self.cost(ahead, first, last)
            while True:
                step = project([w - g / slowness for w, g in zip(ahead, gradient)], radius)
                move = [s - w for s, w in zip(step, ahead)]
                new, _ = self.cost(step, first, last)
                promised = here + sum(g * m for g, m in zip(gradient, move)) + slowness / 2 * length(move) ** 2
                if new <= promised + 1e-9:
                    break
                slowness *= 2
            if new > value:  # it overshot: begin again from the best so far
                ahead, momentum = weights, 1.0
                value = math.inf
                continue
            gained, value = value - new, new
            after = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
            ahead = [s + (momentum - 1) / after * (s - w) for s, w in zip(step, weights)]
            weights, momentum = step, after
            if gained < 1e-7 * new:
                return weights
        raise AssertionError("the steps did not come to an end")

    def hindsight(self, clicks):
        """RETURNS: what the best policy of the last ball would have paid, projected on the ball of each click."""
        last_cycle = cycle_of(clicks)
        best = self.best(1, clicks, radius_of(last_cycle))
        return sum(self.cost(project(best, radius_of(cycle)), first, last)[0] for cycle, first, last in cycles(clicks))

    def cycle_minima(self, clicks):
        """RETURNS: what the best policy of each cycle would have paid, all together."""
        return sum(self.cost(self.best(first, last, radius_of(cycle)), first, last)[0]
                   for cycle, first, last in cycles(clicks))


def cycles(clicks):
    for cycle in range(1, cycle_of(clicks) + 1):
        yield cycle, 1 << (cycle - 1), min(clicks, (1 << cycle) - 1)


class DemoRegret(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_demo_regret_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "data"

    def start(self, *options):
        service = Service(PROGRAM, self.folder, *options)
        self.assertIsNotNone(service.url)
        self.addCleanup(lambda: service.alive() and service.kill())
        client = service.client()
        self.addCleanup(client.close)
        return service, client

    def run_demo(self):
        """Lets the readers come until their clicks were measured at least twice. RETURNS: the curve."""
        service, client = self.start("--demo", "--insight-share", "1")
        demo = client.collection("demo")
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            points = measured(demo.history(2000))
            if len(points) >= 2 and points[-1]["kl_cost"]["clicks"] >= CLICKS:
                self.assertEqual(service.stop(), 0)
                return points
            time.sleep(0.05)
        self.fail("the readers did not come, or nothing was measured")

    def read_log(self, client):
        """RETURNS: every decision of the log that was clicked, in its order. The readers come one by one."""
        head = client.collection("demo").stats()["head"]
        found = {}
        for before in range(1 + PAGE, head + 1 + PAGE, PAGE):
            page = client.call("GET", f"/v1/collections/demo/decisions?limit=50&before={before}")["decisions"]
            for decision in reversed(page):
                found[decision["decision"]] = decision
        self.assertEqual(len(found), client.collection("demo").stats()["decisions"], "some were not read")
        return [decision for decision in found.values() if decision["clicked"]]

    def test_the_curve_of_a_running_demo_is_that_of_its_log(self):
        live = self.run_demo()
        service, client = self.start("--insight-share", "0")  # nobody reads or measures any more
        demo = client.collection("demo")
        decisions = self.read_log(client)
        stats = demo.stats()
        curve = demo.history(2000)
        self.assertEqual([point for point in measured(curve) if point in live], live, "the curve outlives the server")
        self.assertEqual(service.stop(), 0)
        self.assertEqual(stats["kl_cost"]["clicks"], len(decisions))
        self.assertEqual(stats["kl_cost"]["choice_set"], "shown")

        paid = [0.0]
        for decision in decisions:
            scores = {item["id"]: item["score"] for item in decision["items"]}
            pick = scores[decision["clicked"][0]]
            paid.append(paid[-1] + math.log(sum(math.exp(score - pick) for score in scores.values())))
        for point in curve:
            cost = point["kl_cost"]
            self.assertAlmostEqual(cost["served"], paid[cost["clicks"]], delta=1e-6 * paid[-1])
            bound = 20 * ALPHA * (cost["clicks"] ** 0.75 + 1) + math.log(EXPERTS)
            self.assertAlmostEqual(cost["bound"], bound, delta=1e-6 * bound)

        choices = Choices(decisions)
        for point in (live[0], live[-1]):
            cost = point["kl_cost"]
            self.assertFalse(cost["sampled"])
            hindsight = choices.hindsight(cost["clicks"])
            self.assertAlmostEqual(cost["hindsight"], hindsight, delta=2e-4 * hindsight)
            self.assertAlmostEqual(cost["regret"], cost["learned"] - hindsight, delta=2e-4 * hindsight)
            upper = cost["learned"] - choices.cycle_minima(cost["clicks"])
            self.assertAlmostEqual(cost["regret_upper"], upper, delta=2e-4 * hindsight)
        self.check_replay(stats["kl_cost"], choices)

    def check_replay(self, cost, choices):
        """A fold of the log from its beginning, without a server, comes to the same."""
        done = subprocess.run([PROGRAM, "replay", str(self.folder), "--regret"], capture_output=True, text=True, check=True)

        def figures(pattern):
            return map(float, re.search(pattern, done.stdout).groups())
        served, learned = figures(r"K-L cost +(\S+) as served, (\S+) when learned")
        self.assertAlmostEqual(served, cost["served"], delta=1e-5 * served)
        self.assertAlmostEqual(learned, cost["learned"], delta=1e-5 * learned)
        hindsight, error, sample, clicks = figures(r"hindsight +(\S+), may be off by (\S+); from (\d+) of (\d+) clicks")
        self.assertEqual((sample, clicks), (cost["clicks"], cost["clicks"]))
        self.assertLess(error, 1e-5 * hindsight)
        self.assertAlmostEqual(hindsight, choices.hindsight(cost["clicks"]), delta=2e-4 * hindsight)
        lower, upper = figures(r"regret +(\S+) to (\S+)\n")
        self.assertAlmostEqual(lower, learned - hindsight, delta=2e-5 * hindsight)
        self.assertAlmostEqual(upper, learned - choices.cycle_minima(cost["clicks"]), delta=2e-4 * hindsight)


def measured(points):
    return [point for point in points if point["kl_cost"]["hindsight"] is not None]


if __name__ == "__main__":
    unittest.main()
