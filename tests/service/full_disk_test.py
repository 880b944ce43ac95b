#!/usr/bin/env python3
"""A disk that fills while clients click: clear refusals, nothing acknowledged that is not there.

Usage: full_disk_test.py PROGRAM

Needs the right to mount a small file system in memory, which whoever lacks it may have in a namespace of his own
(unshare -Urm). Where that is forbidden as well the test is skipped: it says so and exits with 77, which ctest lists as
skipped. Full disks are then left to the tests of the store and the engine, whose device says that it is full.
"""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service, check_folder, replayed_hash  # noqa: E402
from hindsight_client import HindsightError  # noqa: E402
from ledger import Caller, Ledger, send  # noqa: E402

SKIPPED = 77
NAMESPACE = ["unshare", "-Urm"]
COMMAND = [sys.executable, *sys.argv]
PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
DISK_BYTES = 16 << 20
WINDOW_SECONDS = 7 * 24 * 3600


def mount_command(folder):
    return ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]


def can_mount(*prefix):
    """RETURNS: whether a command after `prefix` may mount."""
    with tempfile.TemporaryDirectory(prefix="hindsight_disk_") as folder:
        try:
            done = subprocess.run([*prefix, *mount_command(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, check=False)
        except OSError as error:
            print(error, file=sys.stderr)
            return False
        if done.returncode == 0 and not prefix:
            subprocess.run(["umount", folder], check=True)
        print(done.stderr.strip(), file=sys.stderr, end="\n" if done.returncode else "")
        return done.returncode == 0


class Disk:
    """A file system of a few megabytes, with a big file in it that can be deleted."""

    def __init__(self, folder):
        self.folder = folder
        subprocess.run(mount_command(folder), check=True)

    def fill(self, leave):
        """Leaves about so many bytes free."""
        free = os.statvfs(self.folder)
        with open(self.folder / "other_people's_file", "wb") as file:
            file.write(b"x" * max(0, free.f_bavail * free.f_frsize - leave))

    def free(self):
        (self.folder / "other_people's_file").unlink()

    def forbid_writing(self):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(self.folder)], check=True)

    def allow_writing(self):
        subprocess.run(["mount", "-o", "remount,bind,rw", str(self.folder)], check=True)

    def unmount(self):
        subprocess.run(["umount", "-l", str(self.folder)], check=False)


class FullDisk(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_disk_")
        self.addCleanup(temporary.cleanup)
        mounted = pathlib.Path(temporary.name) / "disk"
        mounted.mkdir()
        self.disk = Disk(mounted)
        self.addCleanup(self.disk.unmount)
        self.folder = mounted / "data"
        self.log = mounted.parent / "server.log"
        self.service = None
        self.addCleanup(lambda: self.service and self.service.alive() and self.service.kill())

    def start(self):
        self.service = Service(PROGRAM, self.folder, "--snapshot-events", "500", "--log-level", "error", log=self.log)
        self.assertIsNotNone(self.service.url, self.log.read_text()[-2000:])
        return self.service

    def get(self, path):
        """RETURNS: status and text."""
        connection = http.client.HTTPConnection(self.service.url.removeprefix("http://"), timeout=30)
        try:
            key = (self.folder / "admin.key").read_text().strip()
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def readiness(self):
        status, text = self.get("/readyz")
        return status, json.loads(text)

    def test_a_full_disk_is_told_and_loses_nothing_that_was_acknowledged(self):
        self.check_after(self.fill_up(decisions_before_reply=True), lost=0)

    def test_decisions_behind_their_replies_are_lost_with_the_disk_but_counted(self):
        ledger = self.fill_up(decisions_before_reply=False)
        self.assertGreater(self.lost, 0)
        self.check_after(ledger, lost=self.lost)

    def fill_up(self, decisions_before_reply):
        """RETURNS: what three clients know who ranked and clicked until the disk was full and the server stopped."""
        service = self.start()
        with service.client() as client:
            client.collection("books").put(ranker="klrank", seed=7, window_seconds=WINDOW_SECONDS,
                                           decisions_before_reply=decisions_before_reply)
        self.assertEqual(self.readiness(), (200, {"status": "ready"}))
        self.disk.fill(leave=1_500_000)
        ledger = Ledger()
        callers = [Caller(service, ledger, seed) for seed in range(3)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(300)
            self.assertFalse(caller.is_alive(), "the disk never became full")
            self.assertIsNone(caller.wrong)
            self.assertIsNotNone(caller.refused)
        self.assertGreater(len(ledger.acknowledged), 20)
        # Red, in words; and for good, though there were room again.
        status, answer = self.readiness()
        self.assertEqual((status, answer["status"], answer["code"]), (503, "failed", "io_error"))
        self.assertIn("nothing more is acknowledged", answer["message"])
        self.disk.free()
        self.assertEqual(self.readiness()[0], 503)
        deadline = time.monotonic() + 60
        while "nothing is acknowledged any more" not in self.log.read_text():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertIn("full", self.log.read_text())
        self.assertTrue(service.alive())
        if not decisions_before_reply:
            self.rank_from_memory(ledger)
        self.lost = self.lost_decisions()
        service.stop()
        return ledger

    def rank_from_memory(self, ledger):
        with self.service.client() as client:
            books = client.collection("books")
            reply = books.rank(candidates=["item1", "item2"], k=2)
            ledger.decision(reply["decision"])
            with self.assertRaises(HindsightError) as refused:
                books.click(reply["decision"], "item1", event="memory")
            self.assertEqual(refused.exception.status, 503)

    def lost_decisions(self):
        text = self.get("/metrics")[1]
        return int(text.split('hindsight_lost_decisions_total{collection="books"} ')[1].split()[0])

    def test_a_folder_on_a_read_only_device_can_be_checked(self):
        for how, leave in (("stopped", Service.stop), ("killed", Service.kill)):
            with self.subTest(how):
                service = self.start()
                with service.client() as client:
                    client.collection(how).put()
                leave(service)
                (self.folder / "lock").unlink()
                self.disk.forbid_writing()
                status, report = check_folder(PROGRAM, self.folder)
                self.assertEqual(status, 0, report)
                self.disk.allow_writing()

    def check_after(self, ledger, lost):
        service = self.start()
        self.assertEqual(self.readiness()[0], 200)
        with service.client() as client:
            books = client.collection("books")
            for click in list(ledger.acknowledged.values()):
                self.assertEqual(books.clicks([dict(click)])["duplicate"], 1, click)
            for event in list(ledger.unanswered):
                send(books, [ledger.unanswered[event]], ledger)
            # What was shown is there or was counted as lost; clicks on what is lost wait for it, and are no mistake.
            before = books.stats()["clicks"]
            for decision in ledger.decisions:
                self.assertEqual(books.click(decision, position=1, event="afterwards")["accepted"], 1)
            after = books.stats()["clicks"]
            missing = after["pending"] - before["pending"]
            self.assertEqual(after["learned"] - before["learned"], len(ledger.decisions) - missing)
            self.assertLessEqual(missing, lost)
            self.assertEqual(books.stats()["model_hash"], replayed_hash(PROGRAM, self.folder))
        self.assertEqual(service.stop(), 0)
        self.assertEqual(check_folder(PROGRAM, self.folder)[0], 0)
        print(f"{len(ledger.acknowledged)} clicks acknowledged on a disk that became full")


if __name__ == "__main__":
    if can_mount():
        unittest.main()
    if can_mount(*NAMESPACE):
        os.execvp(NAMESPACE[0], NAMESPACE + COMMAND)
    print("SKIPPED: no right to mount a file system, neither as this user nor in a namespace; full disks are not tested")
    sys.exit(SKIPPED)
