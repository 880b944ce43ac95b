#!/usr/bin/env python3
"""Backups beside a live server under load, restored and read through.

Usage: backup_test.py PROGRAM
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service, check_folder, replayed_hash  # noqa: E402
from hindsight_client import HindsightError  # noqa: E402
from ledger import Caller, Ledger  # noqa: E402

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
ROUNDS = 20 if os.environ.get("HINDSIGHT_FULL") else 4
KILLS = 40 if os.environ.get("HINDSIGHT_FULL") else 6
POINTS = ("after_backup_snapshots", "during_backup_database", "before_backup_rename")
WINDOW_SECONDS = 7 * 24 * 3600


def backup(folder, target, **environment):
    return subprocess.run([PROGRAM, "backup", str(folder), "--to", str(target)], capture_output=True,
                          text=True, timeout=300, check=False, env={**os.environ, **environment})


class Backup(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_backup_")
        self.addCleanup(temporary.cleanup)
        self.top = pathlib.Path(temporary.name)
        self.folder = self.top / "data"
        self.services = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for service in self.services:
            if service.alive():
                service.kill()

    def start(self, folder):
        service = Service(PROGRAM, folder, "--snapshot-events", "150")
        self.assertIsNotNone(service.url, (self.top / "server.log").read_text()[-2000:])
        self.services.append(service)
        return service

    def start_with_books(self):
        service = self.start(self.folder)
        with service.client() as client:
            client.collection("books").put(ranker="klrank", seed=7, window_seconds=WINDOW_SECONDS,
                                           decisions_before_reply=True)
        return service

    def test_everything_acknowledged_before_a_backup_is_in_it(self):
        service = self.start_with_books()
        ledger = Ledger()
        callers = [Caller(service, ledger, seed) for seed in range(3)]
        for caller in callers:
            caller.start()
        kept = []
        for number in range(ROUNDS):
            self.wait_for_clicks(ledger, 30 * (number + 1))
            with ledger.lock:
                before = dict(ledger.acknowledged)
            target = self.top / f"backup{number}"
            done = backup(self.folder, target)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse((self.top / f"backup{number}.part").exists())
            kept.append((target, before))
        service.stop()
        for caller in callers:
            caller.join(60)
            self.assertIsNone(caller.wrong)
        for target, before in kept:
            self.check_backup(target, before, ledger)

    def wait_for_clicks(self, ledger, count):
        deadline = time.monotonic() + 120
        while len(ledger.acknowledged) < count:
            self.assertLess(time.monotonic(), deadline, "the clients hardly do anything")
            time.sleep(0.01)

    def check_backup(self, target, before, ledger):
        code, report = check_folder(PROGRAM, target)
        self.assertEqual((code, report["problems"]), (0, []))
        self.assertEqual(target.stat().st_mode & 0o777, 0o700)
        restored = self.top / "restored"
        shutil.copytree(target, restored)
        service = self.start(restored)
        with service.client() as client:  # with the key that was copied
            books = client.collection("books")
            stats = books.stats()
            self.assertEqual(stats["model_hash"], report["collections"][0]["model_hash"])
            self.assertGreaterEqual(stats["clicks"]["learned"], len(before))
            for click in random.Random(1).sample(list(before.values()), min(50, len(before))):
                self.assertEqual(books.clicks([dict(click)])["duplicate"], 1, click)
            # An id that the original has given out since must not be given out again.
            for _ in range(20):
                reply = books.rank(candidates=["item1", "item2"], k=2)
                self.assertNotIn(reply["decision"], ledger.decisions)
        self.assertEqual(service.stop(), 0)
        self.assertEqual(replayed_hash(PROGRAM, restored), stats["model_hash"])
        shutil.rmtree(restored)

    def test_a_restore_with_the_keys_of_the_folder_moved_away_brings_no_revoked_key_back(self):
        service = self.start_with_books()

        def key(*arguments):
            done = subprocess.run([PROGRAM, "key", *arguments, "--data", self.folder], capture_output=True, text=True,
                                  timeout=60, check=True)
            return done.stdout.splitlines()[-1]

        revoked = key("add", "--role", "read")
        target = self.top / "copy"
        self.assertEqual(backup(self.folder, target).returncode, 0)
        key("revoke", revoked.split("_")[1])
        made = key("add", "--role", "read")
        service.stop()
        before = self.top / "before"
        self.folder.rename(before)
        shutil.copytree(target, self.folder)
        for name in ("keys.toml", *(file.name for file in before.glob("audit.log*"))):
            shutil.copy2(before / name, self.folder / name)
        self.assertEqual(check_folder(PROGRAM, self.folder)[0], 0)
        service = self.start(self.folder)
        with service.client(key=made) as client:
            self.assertEqual([one["name"] for one in client.collections()], ["books"])
        with service.client(key=revoked) as client, self.assertRaises(HindsightError) as refused:
            client.collections()
        self.assertEqual(refused.exception.status, 401)

    def test_a_backup_of_a_folder_that_nobody_uses(self):
        self.start_with_books().stop()
        self.assertEqual(backup(self.folder, self.top / "copy").returncode, 0)
        self.assertEqual(check_folder(PROGRAM, self.top / "copy")[0], 0)

    def test_a_place_that_is_taken_is_refused(self):
        self.start_with_books().stop()
        taken = self.top / "taken"
        taken.mkdir()
        (taken / "mine").write_text("mine")
        done = backup(self.folder, taken)
        self.assertEqual(done.returncode, 2)
        self.assertIn("not empty", done.stderr)
        self.assertEqual([entry.name for entry in taken.iterdir()], ["mine"])
        done = backup(self.top / "nothing", self.top / "copy")
        self.assertEqual(done.returncode, 2)
        self.assertFalse((self.top / "copy").exists())
        (self.top / "empty").mkdir()
        self.assertEqual(backup(self.folder, self.top / "empty").returncode, 0)

    def test_a_killed_backup_leaves_nothing_that_looks_whole(self):
        service = self.start_with_books()
        ledger = Ledger()
        caller = Caller(service, ledger, 1)
        caller.start()
        self.wait_for_clicks(ledger, 100)
        rng = random.Random(5)
        for number in range(KILLS):
            target = self.top / f"killed{number}"
            part = self.top / f"killed{number}.part"
            if number % 2 == 0:
                done = backup(self.folder, target,
                              HINDSIGHT_KILL_AT=POINTS[number // 2 % len(POINTS)])
                self.assertEqual(done.returncode, -9)
            else:
                with subprocess.Popen([PROGRAM, "backup", str(self.folder), "--to", str(target)],
                                      stdout=subprocess.DEVNULL) as process:
                    time.sleep(rng.uniform(0.0, 0.03))
                    process.kill()
            if target.exists():  # it was done before the kill came
                self.assertEqual(check_folder(PROGRAM, target)[0], 0)
                continue
            if part.exists():
                done = backup(self.folder, target)
                self.assertEqual(done.returncode, 2)
                self.assertIn(part.name, done.stderr)
                shutil.rmtree(part)
            self.assertEqual(backup(self.folder, target).returncode, 0)
        service.stop()
        caller.join(60)
        self.assertIsNone(caller.wrong)

    def test_what_an_unfinished_copy_holds_does_not_open_under_another_name(self):
        service = self.start_with_books()
        service.stop()
        for point in POINTS[1:2]:
            backup(self.folder, self.top / "copy", HINDSIGHT_KILL_AT=point)
            (self.top / "copy.part").rename(self.top / "renamed")
            again = Service(PROGRAM, self.top / "renamed")
            self.assertIsNone(again.url)
            again.reap()
            self.assertIn("high-water", (self.top / "server.log").read_text())


if __name__ == "__main__":
    unittest.main()
