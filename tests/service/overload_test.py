#!/usr/bin/env python3
"""A flood: whatever its size, every request gets an answer that says yes or when to come back, and nothing is lost.

Nothing here depends on how fast the machine is. Usage: overload_test.py PROGRAM
"""
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service  # noqa: E402

PROGRAM = sys.argv.pop(1)
PATIENCE = 300  # seconds; only a guard against hanging
FLOODERS = int(os.environ.get("HINDSIGHT_FLOODERS", "24"))
SECONDS = float(os.environ.get("HINDSIGHT_FLOOD_SECONDS", "4"))
MEMORY = int(os.environ.get("HINDSIGHT_MEMORY_MB", "512")) << 20  # of which it takes 100; a sanitized server needs more


class Flooder(threading.Thread):
    """Calls without pause until it is told to end, and keeps account of the answers."""

    def __init__(self, address, headers, make_request):
        super().__init__(daemon=True)
        self.address, self.headers, self.make_request = address, headers, make_request
        self.ending = threading.Event()
        self.statuses, self.problems, self.clicks = {}, [], 0

    def run(self):
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        while not self.ending.is_set():
            path, body, clicks = self.make_request()
            try:
                connection.request("POST", path, body, self.headers)
                response = connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException) as error:
                self.problems.append(repr(error))
                connection.close()
                continue
            self.statuses[response.status] = self.statuses.get(response.status, 0) + 1
            if response.status == 200:
                self.clicks += clicks
            elif response.status in (429, 503):
                if not (response.getheader("Retry-After") or "").isdigit():
                    self.problems.append(f"{response.status} without Retry-After: {text!r}")
                if json.loads(text)["error"]["code"] not in ("overloaded", "rate_limited"):
                    self.problems.append(text)
            else:
                self.problems.append(f"{response.status}: {text!r}")
        connection.close()


class Overload(unittest.TestCase):
    def start(self, *options):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_overload_")
        self.addCleanup(temporary.cleanup)
        self.service = Service(PROGRAM, pathlib.Path(temporary.name) / "data", *options)
        self.addCleanup(lambda: self.service.alive() and self.service.kill())
        self.client = self.service.client(timeout=PATIENCE)
        self.addCleanup(self.client.close)
        key = (self.service.folder / "admin.key").read_text().strip()
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        parts = urllib.parse.urlsplit(self.service.url)
        self.address = (parts.hostname, parts.port)

    def flood(self, make_requests):
        flooders = [Flooder(self.address, self.headers, make) for make in make_requests]
        for one in flooders:
            one.start()
        return flooders

    def end(self, flooders):
        for one in flooders:
            one.ending.set()
        for one in flooders:
            one.join(2 * PATIENCE)
            self.assertFalse(one.is_alive(), "a request was never answered")
        self.assertEqual([problem for one in flooders for problem in one.problems][:5], [])
        total = {}
        for one in flooders:
            for status, count in one.statuses.items():
                total[status] = total.get(status, 0) + count
        return total

    def memory(self):
        status = pathlib.Path(f"/proc/{self.service.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024

    def call(self, method, path, body=None):
        """RETURNS: the status. For calls that may be refused."""
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        try:
            connection.request(method, path, body, self.headers)
            response = connection.getresponse()
            response.read()
            return response.status
        finally:
            connection.close()

    def served_again(self, path, body):
        end = time.monotonic() + PATIENCE
        while self.call("POST", path, body) != 200:
            self.assertLess(time.monotonic(), end, "the server does not recover")
            time.sleep(0.1)

    def rank_requests(self, name, topic):
        return lambda: (f"/v1/collections/{name}/rank", json.dumps({"topic": topic, "k": 10}), 0)

    def test_a_flood_of_rankings_leaves_room_for_others(self):
        self.start("--max-wait-ms", "2", "--threads", "1")
        for name in ("noisy", "quiet"):
            books = self.client.collection(name)
            books.put(seed=1)
            books.add([{"id": f"b{i}", "topics": ["all"]} for i in range(3000)])
        flooders = self.flood([self.rank_requests("noisy", "all")] * FLOODERS)
        quiet = {}
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            status = self.call("POST", "/v1/collections/quiet/rank", '{"topic":"all","k":5}')
            quiet[status] = quiet.get(status, 0) + 1
            self.assertEqual(self.call("GET", "/healthz"), 200)
        total = self.end(flooders)
        self.assertLessEqual(set(total), {200, 429, 503})
        self.assertGreater(total.get(200, 0), 0)
        self.assertLessEqual(set(quiet), {200, 503})
        self.assertGreater(quiet.get(200, 0), 0, "other collections are served")
        self.served_again("/v1/collections/noisy/rank", '{"topic":"all","k":5}')
        self.assertEqual(self.call("GET", "/healthz"), 200)
        self.assertLess(self.memory(), MEMORY)
        self.assertEqual(self.service.stop(), 0)

    def test_every_acknowledged_click_is_in_the_accounts(self):
        # Room for few clicks at once, and a small backlog: much of the flood is refused.
        self.start("--max-waiting", "40", "--max-backlog", "200")
        names = ("noisy", "quiet")
        requests = []
        for name in names:
            books = self.client.collection(name)
            books.put(seed=1)
            decision = books.rank(candidates=["a", "b", "c"], k=3)["decision"]

            def make(name=name, decision=decision, numbers=iter(range(10**9)), lock=threading.Lock()):
                with lock:
                    first = next(numbers)
                clicks = [{"decision": decision, "item": "abc"[(first + i) % 3], "event": f"{first}-{i}"} for i in range(5)]
                return f"/v1/collections/{name}/clicks", json.dumps({"clicks": clicks}), 5
            requests.append(make)
        flooders = self.flood([requests[0]] * FLOODERS + [requests[1]] * 2)
        time.sleep(SECONDS)
        total = self.end(flooders)
        self.assertLessEqual(set(total), {200, 429, 503})
        acknowledged = [sum(one.clicks for one in flooders[:FLOODERS]), sum(one.clicks for one in flooders[FLOODERS:])]
        self.assertGreater(min(acknowledged), 0, "both collections are served")
        for _ in range(2):
            for name, count in zip(names, acknowledged):
                stats = self.client.collection(name).stats()["clicks"]
                self.assertEqual(stats["received"], count, name)
                self.assertEqual(stats["received"], sum(n for outcome, n in stats.items() if outcome != "received"))
            self.assertLess(self.memory(), MEMORY)
            self.assertEqual(self.service.stop(), 0)  # and they are there after a restart
            self.client.close()
            self.service = Service(PROGRAM, self.service.folder)
            self.client = self.service.client(timeout=PATIENCE)

    def test_rates_are_limited_by_collection_and_by_address(self):
        for setting in ("collection", "address"):
            with self.subTest(setting=setting):
                self.start(f"--{setting}-rate", "0.2", f"--{setting}-burst", "10")
                self.client.collection("books").put(seed=1)
                flooders = self.flood([self.rank_requests("books", "none")] * 2)
                end = time.monotonic() + PATIENCE
                while not all(429 in one.statuses for one in flooders) and time.monotonic() < end:
                    for one in flooders:
                        one.problems = [problem for problem in one.problems if "empty_candidates" not in str(problem)]
                    time.sleep(0.05)
                for one in flooders:
                    one.ending.set()
                    one.join(PATIENCE)
                    self.assertIn(429, one.statuses)
                    self.assertEqual([p for p in one.problems if "empty_candidates" not in str(p)], [])
                self.assertEqual(self.call("GET", "/healthz"), 200)
                self.assertEqual(self.service.stop(), 0)

    def test_addresses_behind_a_trusted_proxy_have_limits_of_their_own(self):
        self.start("--address-rate", "0.001", "--address-burst", "5", "--trusted-proxies", "127.0.0.0/8")
        statuses = {}
        for address in ("192.0.2.1", "192.0.2.2"):
            self.headers["X-Forwarded-For"] = "6.6.6.6, " + address
            statuses[address] = [self.call("GET", "/v1/collections") for _ in range(8)]
        for each in statuses.values():
            self.assertEqual(each, [200] * 5 + [429] * 3)
        self.assertEqual(self.service.stop(), 0)

    def holder(self, path, announced, sent):
        """A client that announces a body, sends a part of it, as far as it is let, and waits."""
        one = socket.create_connection(self.address, timeout=PATIENCE)
        self.addCleanup(one.close)
        head = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        one.sendall(f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {announced}\r\n{head}\r\n".encode())
        try:
            one.sendall(b"[" * sent)
        except OSError:
            pass  # refused, and closed
        return one

    def test_uploads_together_are_bounded_and_one_key_leaves_room_for_others(self):
        self.start("--max-body-memory", str(16 << 20))
        for name in ("books", "films"):
            self.client.collection(name).put(seed=1)
        body = json.dumps({"candidates": [f"item-{i:0240d}" for i in range(4000)], "k": 2})
        self.assertGreater(len(body), 900_000)
        self.served_again("/v1/collections/books/rank", body)
        admin = self.headers["Authorization"]
        done = subprocess.run([PROGRAM, "key", "add", "--data", str(self.service.folder), "--role", "rank", "--collections", "films"],
                              capture_output=True, text=True, check=True)
        self.headers["Authorization"] = "Bearer " + done.stdout.split()[-1]
        self.served_again("/v1/collections/films/rank", '{"candidates":["a","b"],"k":2}')  # the key is known by now
        before = self.memory()
        holders = [self.holder("/v1/collections/films/rank", 8 << 20, 4 << 20) for _ in range(40)]
        holders += [self.holder("/v1/collections/films/rank", 8 << 20, 1) for _ in range(100)]
        self.headers["Authorization"] = admin
        for _ in range(5):
            self.assertEqual(self.call("POST", "/v1/collections/books/rank", body), 200, "another key is served")
        metrics = urllib.request.urlopen(urllib.request.Request(self.service.url + "/metrics", headers=self.headers)).read().decode()
        held = int(re.search(r"^hindsight_body_bytes (\d+)", metrics, re.MULTILINE).group(1))
        self.assertGreater(held, 1 << 20)
        self.assertLessEqual(held, 16 << 20)
        if "HINDSIGHT_FLOODERS" not in os.environ:  # sanitizers keep what was freed
            self.assertLess(self.memory() - before, 100 << 20)
        for one in holders:
            one.close()
        flooders = self.flood([lambda: ("/v1/collections/books/rank", body, 0)] * 8)
        time.sleep(SECONDS / 2)
        total = self.end(flooders)
        self.assertLessEqual(set(total), {200, 503})
        self.served_again("/v1/collections/books/rank", body)
        self.assertEqual(self.service.stop(), 0)

    def test_answers_that_nobody_reads_are_bounded(self):
        self.start("--max-body-memory", str(16 << 20))
        books = self.client.collection("books")
        books.put(seed=1, ranker="random")
        for first in range(0, 10_000, 2_000):
            books.add([{"id": f"item-{i:0240d}", "topics": ["all"]} for i in range(first, first + 2_000)])
        body = '{"topic":"all","k":10000}'
        self.served_again("/v1/collections/books/rank", body)
        before = self.memory()
        deaf = []
        for _ in range(60):
            one = socket.create_connection(self.address, timeout=PATIENCE)
            self.addCleanup(one.close)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            head = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
            one.sendall(f"POST /v1/collections/books/rank HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n{head}\r\n{body}".encode())
            deaf.append(one)
        self.served_again("/v1/collections/books/rank", '{"topic":"all","k":10}')
        if "HINDSIGHT_FLOODERS" not in os.environ:
            self.assertLess(self.memory() - before, 100 << 20)
        for one in deaf:
            one.close()
        self.served_again("/v1/collections/books/rank", body)
        self.assertEqual(self.service.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
