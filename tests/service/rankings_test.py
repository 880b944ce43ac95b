#!/usr/bin/env python3
"""Positions and whole rankings as feedback, through a live server.

Usage: rankings_test.py PROGRAM
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service, replayed_hash  # noqa: E402
import hindsight_client  # noqa: E402

PROGRAM = sys.argv.pop(1)
IDS = ["a", "b", "c", "d"]


class Rankings(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_rankings_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "data"
        self.service = None
        self.start()

    def start(self):
        self.service = Service(PROGRAM, self.folder)
        self.assertIsNotNone(self.service.url)
        self.addCleanup(lambda service: service.alive() and service.kill(), self.service)
        self.client = self.service.client()
        self.addCleanup(self.client.close)

    def collection(self, name, ranker="onlinerank", **params):
        collection = self.client.collection(name)
        collection.put(ranker=ranker, params=params, seed=5)
        collection.add(IDS)
        return collection

    def refused(self, collection, click, code, field, status=400):
        before = collection.stats()
        with self.assertRaises(hindsight_client.HindsightError) as caught:
            collection.clicks([click])
        self.assertEqual((caught.exception.code, caught.exception.field, caught.exception.status), (code, field, status))
        after = collection.stats()
        self.assertEqual(after["clicks"], before["clicks"], "nothing is logged")
        self.assertEqual(after["model_hash"], before["model_hash"])

    def quarantined(self, collection, reason, **click):
        before = collection.stats()["model_hash"]
        self.assertEqual(collection.clicks([click])["quarantined"], 1)
        stats = collection.stats()
        self.assertIn(reason, stats["quarantine_reasons"])
        self.assertEqual(stats["model_hash"], before)

    def test_a_server_learns_a_consensus_from_rankings(self):
        votes = self.collection("votes", feedback="rankings")
        for vote in range(60):
            reply = votes.rank(k=4)
            order = ["c", "a", "d", "b"] if vote % 4 else ["a", "b", "c", "d"]
            self.assertEqual(votes.click(reply["decision"], ranking=order)["accepted"], 1)
        scores = {item: votes.item(item)["score"] for item in IDS}
        self.assertEqual(sorted(IDS, key=scores.get, reverse=True), ["c", "a", "d", "b"])
        self.assertEqual(votes.stats()["clicks"]["learned"], 60)

    def test_repeats_follow_the_rules_of_clicks(self):
        votes = self.collection("votes", feedback="rankings")
        decision = votes.rank(k=4)["decision"]
        self.assertEqual(votes.click(decision, ranking=IDS, event="e")["accepted"], 1)
        learned = votes.stats()["model_hash"]
        self.assertEqual(votes.click(decision, ranking=IDS, event="e")["duplicate"], 1)
        self.assertEqual(votes.click(decision, ranking=IDS[::-1])["duplicate"], 1)
        self.assertEqual(votes.click(decision, ranking=IDS[::-1], event="f")["accepted"], 1)
        self.assertEqual(votes.stats()["model_hash"], learned)

    def test_bad_rankings_change_nothing(self):
        votes = self.collection("votes", feedback="rankings")
        decision = votes.rank(candidates=["a", "b", "c"], k=3)["decision"]
        self.refused(votes, {"decision": decision, "ranking": []}, "invalid_argument", "clicks[0].ranking")
        self.refused(votes, {"decision": decision, "ranking": ["a", "b", "a"]}, "duplicate_item", "clicks[0].ranking[2]")
        self.refused(votes, {"decision": decision, "ranking": ["a", "b", "c"], "item": "a"}, "invalid_argument", "clicks[0]")
        self.refused(votes, {"decision": decision}, "invalid_argument", "clicks[0].item")
        self.quarantined(votes, "ranking_not_of_the_list", decision=decision, ranking=["a", "b"])
        self.quarantined(votes, "ranking_not_of_the_list", decision=decision, ranking=["a", "b", "d"])
        self.quarantined(votes, "ranking_not_of_the_list", decision=decision, ranking=["a", "b", "c", "d"])
        self.assertEqual(votes.click(decision, ranking=["c", "b", "a"])["accepted"], 1)

    def test_rankers_without_rankings_say_so(self):
        for ranker in ("onlinerank", "klrank"):
            books = self.collection("books-" + ranker, ranker)
            decision = books.rank(k=4)["decision"]
            self.refused(books, {"decision": decision, "ranking": IDS}, "unsupported", "clicks[0].ranking")

    def test_a_position_is_enough(self):
        books = self.collection("books")
        reply = books.rank(k=3)
        shown = [item["id"] for item in reply["items"]]
        self.assertEqual(books.click(reply["decision"], position=2)["accepted"], 1)
        self.assertEqual(books.click(reply["decision"], shown[1])["duplicate"], 1)
        self.assertEqual(books.decision(reply["decision"])["clicked"], [shown[1]])
        self.assertGreater(books.item(shown[1])["score"], 0)
        for position in (0, -1, 10001, 1.5, "1"):
            self.refused(books, {"decision": reply["decision"], "position": position}, "invalid_argument",
                         "clicks[0].position")
        self.quarantined(books, "position_not_shown", decision=reply["decision"], position=4)

    def test_choice_sets_that_make_no_sense_are_refused(self):
        books = self.collection("books", choices=1000)  # more than there are items: all of them
        with self.assertRaises(hindsight_client.HindsightError) as caught:
            books.rank(candidates=[], k=3)
        self.assertEqual((caught.exception.code, caught.exception.field), ("empty_candidates", "candidates"))
        self.assertEqual(len(books.rank(k=1000)["items"]), len(IDS))
        with self.assertRaises(hindsight_client.HindsightError) as caught:
            self.client.collection("bad").put(ranker="onlinerank", params={"choices": 0})
        self.assertEqual(caught.exception.status, 400)

    def test_laws_that_are_not_known_are_null(self):
        for ranker, params, whole in (("onlinerank", {"sort": "quicksort"}, True), ("fpl", {}, False)):
            books = self.collection("books-" + ranker, ranker, **params)
            reply = books.rank(k=4)
            self.assertEqual({item["prob_first"] for item in reply["items"]}, {None})
            self.assertEqual(reply["log_propensity"] is not None, whole)
            self.assertIsNone(books.rank(k=2)["log_propensity"])
            self.assertEqual(books.click(reply["decision"], position=1)["accepted"], 1)
            self.assertIsNone(books.decision(reply["decision"])["items"][0]["prob_first"])
            self.assertIsNone(books.stats()["kl_cost"])

    def test_rankings_survive_a_kill(self):
        votes = self.collection("votes", feedback="rankings")
        for _ in range(20):
            reply = votes.rank(k=4)
            votes.click(reply["decision"], ranking=IDS)
            votes.click(votes.rank(k=4)["decision"], position=1)
        learned = votes.stats()["model_hash"]
        self.service.kill()
        self.start()
        votes = self.client.collection("votes")
        self.assertEqual(votes.stats()["model_hash"], learned)
        self.assertEqual(votes.click(reply["decision"], ranking=IDS)["duplicate"], 1)
        self.service.stop()
        self.assertEqual(replayed_hash(PROGRAM, self.folder, "votes"), learned)


if __name__ == "__main__":
    unittest.main()
