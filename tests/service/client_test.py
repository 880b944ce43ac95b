#!/usr/bin/env python3
"""The example client against a real server.

Usage: client_test.py PROGRAM
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service  # noqa: E402
import hindsight_client  # noqa: E402

PROGRAM = sys.argv.pop(1)


class ClientExample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="hindsight_client_")
        cls.service = Service(PROGRAM, pathlib.Path(cls.temporary.name) / "data")

    @classmethod
    def tearDownClass(cls):
        code = cls.service.stop()
        cls.temporary.cleanup()
        assert code == 0, code

    def collection(self, name):
        client = self.service.client()
        self.addCleanup(client.close)
        return client.collection(name)

    def test_the_tour_shows_an_order_being_learned(self):
        key = (self.service.folder / "admin.key").read_text().strip()
        done = subprocess.run([sys.executable, hindsight_client.__file__, self.service.url, key],
                              capture_output=True, text=True, check=True)
        after = re.search(r"after:.*calculus\s+(\d+)", done.stdout)
        self.assertIsNotNone(after, done.stdout)
        # Six of ten readers want it; uniform lists would put it first 33 times. A binomial with
        # p = 0.55 stays below 38 with probability 4e-4.
        self.assertGreaterEqual(int(after.group(1)), 38, done.stdout)
        self.assertIn("clicks learned: 500", done.stdout)

    def test_items_come_page_by_page(self):
        books = self.collection("pages")
        books.put()
        ids = [f"weird/id ä {i}?" for i in range(250)]
        books.add(ids)
        self.assertEqual([item["id"] for item in books.items()], ids)
        self.assertEqual(books.item(ids[7])["id"], ids[7])
        books.remove(ids[7])
        with self.assertRaises(hindsight_client.HindsightError) as caught:
            books.item(ids[7])
        self.assertEqual(caught.exception.code, "unknown_item")
        self.assertEqual(caught.exception.status, 404)

    def test_errors_name_the_field(self):
        books = self.collection("errors")
        books.put()
        with self.assertRaises(hindsight_client.HindsightError) as caught:
            books.rank(candidates=["a", "a"], k=2)
        self.assertEqual(caught.exception.code, "duplicate_item")
        self.assertTrue(caught.exception.field.startswith("candidates["))


if __name__ == "__main__":
    unittest.main()
