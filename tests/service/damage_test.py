#!/usr/bin/env python3
"""Every file of a data folder flipped, cut and lost, under the whole server.

Usage: damage_test.py PROGRAM

The server refuses to start and names a file, or starts with the same model; it never dies of a
signal, and never serves another model. Where it refuses, `hindsight check` finds something wrong,
and what `hindsight check` calls whole starts. A few places in each file; many with HINDSIGHT_FULL=1, or as many as
HINDSIGHT_DAMAGES says.
"""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service, check_folder  # noqa: E402

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
PLACES = int(os.environ.get("HINDSIGHT_DAMAGES", 120 if os.environ.get("HINDSIGHT_FULL") else 4))
WINDOW_SECONDS = 7 * 24 * 3600
# A file, and those whose damage may show in its place: a write-ahead log is part of its database.
NAMES = {"hindsight.db-wal": ("hindsight.db",), "hindsight.db-shm": ("hindsight.db",)}


def places(size, count):
    """RETURNS: offsets all over a file, its first and last bytes included."""
    if size == 0:
        return []
    return sorted({0, size - 1, *((2 * i + 1) * size // (2 * count) for i in range(count))})


def flip(file, offset):
    with open(file, "r+b") as stream:
        stream.seek(offset)
        byte = stream.read(1)[0]
        stream.seek(offset)
        stream.write(bytes([byte ^ (1 << offset % 8)]))


class Damage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="hindsight_damage_")
        cls.top = pathlib.Path(cls.temporary.name)
        cls.origin = cls.top / "origin"
        cls.refused = cls.started = 0
        service = Service(PROGRAM, cls.origin, "--snapshot-events", "40")
        with service.client() as client:
            books = client.collection("books")
            books.put(ranker="klrank", seed=7, window_seconds=WINDOW_SECONDS, decisions_before_reply=True)
            cls.click(books, 60)
        assert service.stop() == 0  # all of it in the database, and a snapshot
        service = Service(PROGRAM, cls.origin, "--snapshot-events", "1000000")
        with service.client() as client:
            books = client.collection("books")
            cls.click(books, 20)  # in the write-ahead log
            stats = books.stats()
            cls.expected = stats["model_hash"], stats["clicks"]
        service.kill()

    @classmethod
    def tearDownClass(cls):
        print(f"{cls.refused} starts refused, {cls.started} with the same model")
        cls.temporary.cleanup()

    @staticmethod
    def click(books, count):
        for i in range(count):
            reply = books.rank(candidates=[f"item{(i + j) % 30}" for j in range(6)], k=4)
            books.click(reply["decision"], reply["items"][0]["id"])

    def files(self):
        return sorted(path.relative_to(self.origin).as_posix()
                      for path in self.origin.rglob("*") if path.is_file())

    def test_every_kind_of_file_is_there(self):
        names = self.files()
        for name in ("hindsight.db", "hindsight.db-wal", "high-water", "keys.toml", "admin.key"):
            self.assertIn(name, names)
        self.assertTrue(any(name.endswith(".snapshot") for name in names))
        self.assertGreater((self.origin / "hindsight.db-wal").stat().st_size, 4096)

    def test_flipped_bits(self):
        for name in self.files():
            for offset in places((self.origin / name).stat().st_size, PLACES):
                with self.subTest(file=name, flipped=offset):
                    self.damaged(name, lambda file, at=offset: flip(file, at))

    def test_cut_files(self):
        for name in self.files():
            size = (self.origin / name).stat().st_size
            for end in places(size, (PLACES + 1) // 2):
                with self.subTest(file=name, cut_at=end):
                    self.damaged(name, lambda file, at=end: os.truncate(file, at))

    def test_lost_files(self):
        for name in self.files():
            with self.subTest(lost=name):
                self.damaged(name, lambda file: file.unlink())

    def damaged(self, name, damage):
        copy = self.top / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.origin, copy)
        damage(copy / name)
        code, report = check_folder(PROGRAM, copy)
        self.assertIn(code, (0, 1), report)
        said = [problem["file"] for problem in report["problems"]]
        log = self.top / "server.log"
        log.unlink(missing_ok=True)
        service = Service(PROGRAM, copy)
        if service.url is None:
            type(self).refused += 1
            self.assertTrue(service.wait(60))
            service.reap()
            text = log.read_text()
            self.assertIn(service.process.returncode, (1, 2), text)  # never a signal
            self.assertTrue(any(word in text for word in self.names_of(name)), text)
            self.assertEqual(code, 1, f"refused, but the check found nothing: {text}")
            self.assertTrue(any(word in file for file in said for word in self.names_of(name)), report)
            return
        type(self).started += 1
        if name == "keys.toml":
            self.assertIn("keys.toml was missing", log.read_text())
        try:
            # The key of the folder, or where keys were lost the new one.
            with self.client(service) as client:
                stats = client.collection("books").stats()
        finally:
            service.kill()
        self.assertEqual((stats["model_hash"], stats["clicks"]), self.expected)
        if code == 1:
            self.assertTrue(any(word in file for file in said for word in self.names_of(name)), report)
        else:
            self.assertEqual(report["collections"][0]["model_hash"], self.expected[0])

    def client(self, service):
        """With a key that works, whatever became of admin.key."""
        key = self.origin / "admin.key"
        if "keys.toml" not in {entry.name for entry in self.top.joinpath("copy").iterdir()} or \
                (service.folder / "keys.toml").read_bytes() != (self.origin / "keys.toml").read_bytes():
            key = service.folder / "admin.key"
        return service.client(key=key.read_text().strip())

    @staticmethod
    def names_of(name):
        return (name, pathlib.Path(name).name, *NAMES.get(name, ()))


if __name__ == "__main__":
    unittest.main()
