#!/usr/bin/env python3
"""A data folder of the schema version before, opened by this program, killed on the way, resumed.

Usage: upgrade_test.py PROGRAM
"""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service, check_folder, replayed_hash  # noqa: E402

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
COLLECTIONS = ("books", "films")
POINTS = ("during_migration", "after_migration")
WINDOW_SECONDS = 7 * 24 * 3600


def back_to_version_1(folder):
    """Version 1 had one table for the entries of all logs, and a key file without a checksum."""
    with sqlite3.connect(folder / "hindsight.db") as database:
        database.execute("CREATE TABLE entries (log INTEGER NOT NULL, position INTEGER NOT NULL, "
                         "checksum BLOB NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (log, position)) "
                         "WITHOUT ROWID")
        for (log,) in database.execute("SELECT id FROM logs").fetchall():
            database.execute(f"INSERT INTO entries SELECT {log}, position, checksum, payload "
                             f"FROM entries_{log}")
            database.execute(f"DROP TABLE entries_{log}")
        database.execute("PRAGMA user_version = 1")
    database.close()
    keys = folder / "keys.toml"
    lines = keys.read_text().replace("version = 2", "version = 1").splitlines(keepends=True)
    keys.write_text("".join(line for line in lines if not line.startswith("checksum = ")))


def contents(folder):
    """RETURNS: every entry of every log, from the database itself."""
    database = sqlite3.connect(folder / "hindsight.db")
    try:
        return {log: database.execute(f"SELECT position, checksum, payload FROM entries_{log} "
                                      "ORDER BY position").fetchall()
                for (log,) in database.execute("SELECT id FROM logs")}
    finally:
        database.close()


class Upgrade(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_upgrade_")
        self.addCleanup(temporary.cleanup)
        self.top = pathlib.Path(temporary.name)
        self.old = self.top / "old"
        service = self.start(self.old)
        with service.client() as client:
            for number, name in enumerate(COLLECTIONS):
                collection = client.collection(name)
                collection.put(ranker="klrank", seed=7, window_seconds=WINDOW_SECONDS,
                               decisions_before_reply=True)
                for i in range(20 * (number + 1)):
                    reply = collection.rank(candidates=["a", "b", "c"], k=2)
                    collection.click(reply["decision"], reply["items"][i % 2]["id"])
            self.stats = {name: client.collection(name).stats() for name in COLLECTIONS}
        self.assertEqual(service.stop(), 0)
        self.entries = contents(self.old)
        self.assertGreater(len(self.entries[2]), 80)
        back_to_version_1(self.old)

    def start(self, folder, kill_at=None):
        environment = {**os.environ, **({"HINDSIGHT_KILL_AT": kill_at} if kill_at else {})}
        service = Service(PROGRAM, folder, environment=environment)
        self.addCleanup(lambda: service.alive() and service.kill())
        return service

    def test_an_older_folder_is_brought_up_to_date(self):
        self.check_upgraded(self.old)

    def test_an_older_folder_is_checked_and_copied_as_it_is(self):
        copy = self.top / "copy"
        done = subprocess.run([PROGRAM, "backup", str(self.old), "--to", str(copy)], capture_output=True, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for folder in (self.old, copy):
            code, report = check_folder(PROGRAM, folder)
            self.assertEqual((code, report["problems"]), (0, []))
            self.assertEqual({one["name"]: one["model_hash"] for one in report["collections"]},
                             {name: self.stats[name]["model_hash"] for name in COLLECTIONS})
            with sqlite3.connect(folder / "hindsight.db") as database:
                self.assertEqual(database.execute("PRAGMA user_version").fetchone(), (1,))
                self.assertEqual(database.execute("SELECT count(*) FROM entries").fetchone(),
                                 (sum(map(len, self.entries.values())),))
            database.close()
        self.check_upgraded(copy)

    def test_kills_on_the_way_lose_nothing(self):
        for point in POINTS:
            for times in (1, 3):  # the same folder, killed again at the next start
                with self.subTest(point=point, times=times):
                    folder = self.top / f"{point}_{times}"
                    shutil.copytree(self.old, folder)
                    for _ in range(times):
                        service = self.start(folder, point)
                        if service.url is not None:
                            service.kill()
                            break  # there was nothing left to migrate
                        self.assertTrue(service.wait(60))
                        service.reap()
                        self.assertEqual(service.process.returncode, -9)
                    self.check_upgraded(folder)

    def check_upgraded(self, folder):
        service = self.start(folder)
        self.assertIsNotNone(service.url, (self.top / "server.log").read_text()[-2000:])
        with service.client() as client:
            for name in COLLECTIONS:
                stats = client.collection(name).stats()
                self.assertEqual(stats["model_hash"], self.stats[name]["model_hash"])
                self.assertEqual(stats["clicks"], self.stats[name]["clicks"])
            reply = client.collection("books").rank(candidates=["a", "b"], k=2)
            client.collection("books").click(reply["decision"], "a")
        self.assertEqual(service.stop(), 0)
        after = contents(folder)
        for log, entries in self.entries.items():
            self.assertEqual(after[log][:len(entries)], entries)
        # The next change of the keys brings their file up to date.
        self.assertIn("version = 1", (folder / "keys.toml").read_text())
        subprocess.run([PROGRAM, "key", "add", "--data", str(folder), "--role", "read"], check=True,
                       capture_output=True)
        self.assertIn("version = 2\nchecksum = ", (folder / "keys.toml").read_text())
        self.assertEqual(check_folder(PROGRAM, folder)[0], 0)
        self.assertEqual(replayed_hash(PROGRAM, folder, "films"), self.stats["films"]["model_hash"])


if __name__ == "__main__":
    unittest.main()
