#!/usr/bin/env python3
"""Clients that mean harm, or are merely broken: nothing they send stops the server or spoils a model.

Usage: hostile_test.py PROGRAM      HINDSIGHT_FULL=1: a million events at the learner
"""
import http.client
import json
import math
import os
import pathlib
import random
import resource
import socket
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service  # noqa: E402
import hindsight_client  # noqa: E402

PROGRAM = sys.argv.pop(1)
PATIENCE = 300  # seconds; only a guard against hanging
EVENTS = 1_000_000 if os.environ.get("HINDSIGHT_FULL") else int(os.environ.get("HINDSIGHT_HOSTILE_EVENTS", "20000"))
MEMORY = 3 << 30  # generous: a sanitized server takes several times what another does
RANKERS = ("klrank", "noregret-klrank", "greedy-klrank", "online-ranknet", "mcrank", "pagerank")


def strict(text):
    """JSON whose numbers are all finite."""
    def refuse(word):
        raise ValueError(f"{word} in an answer")

    def number(word):
        value = float(word)
        if not math.isfinite(value):
            refuse(word)
        return value
    return json.loads(text, parse_constant=refuse, parse_float=number)


class Hostile(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_hostile_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "data"

    def start(self, *options):
        self.service = Service(PROGRAM, self.folder, "--idle-deadline-ms", "3600000", *options)
        self.assertIsNotNone(self.service.url)
        self.addCleanup(lambda: self.service.alive() and self.service.kill())
        key = (self.folder / "admin.key").read_text().strip()
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        parts = urllib.parse.urlsplit(self.service.url)
        self.address = (parts.hostname, parts.port)
        # A full-size run on a busy machine may pause for long between two calls.
        self.client = self.service.client(timeout=PATIENCE)
        self.addCleanup(self.client.close)
        self.kept = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        self.addCleanup(self.kept.close)

    def call(self, method, path, body=None):
        """RETURNS: status and bytes."""
        self.kept.request(method, path, body, self.headers)
        response = self.kept.getresponse()
        return response.status, response.read()

    def raw(self, data):
        """RETURNS: all that comes back for some bytes."""
        received = b""
        with socket.create_connection(self.address, timeout=PATIENCE) as plain:
            try:
                plain.sendall(data)
                plain.shutdown(socket.SHUT_WR)
                while piece := plain.recv(65536):
                    received += piece
            except ConnectionError:
                pass
        return received

    def honest(self, name="honest", calls=20):
        """An ordinary client is served."""
        books = self.client.collection(name)
        books.put(seed=1)
        learned = books.stats()["clicks"]["learned"]
        for i in range(calls):
            reply = books.rank(candidates=["a", "b", "c"], k=3)
            self.assertEqual({item["id"] for item in reply["items"]}, {"a", "b", "c"})
            counted = books.click(reply["decision"], "b", event=f"{learned}-{i}")
            self.assertEqual(counted["accepted"], 1)
        self.assertEqual(books.stats()["clicks"]["learned"], learned + calls)

    def finish(self):
        self.assertTrue(self.service.alive())
        self.assertEqual(self.call("GET", "/healthz")[0], 200)
        status = pathlib.Path(f"/proc/{self.service.process.pid}/status").read_text()
        self.assertLess(int(status.split("VmHWM:")[1].split()[0]) * 1024, MEMORY)
        self.assertEqual(self.service.stop(), 0)

    def test_a_thousand_dripping_connections_do_not_keep_honest_clients_out(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
        count = min(1000, (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200) // 2)
        self.start("--header-deadline-ms", "3000", "--body-deadline-ms", "3000")
        bodies = b"POST /v1/collections/honest/rank HTTP/1.1\r\nHost: h\r\nContent-Length: 3000\r\n\r\n"
        drips = []
        for i in range(count):
            plain = socket.create_connection(self.address, timeout=PATIENCE)
            plain.setblocking(False)
            drips.append(plain)
            if i % 2 == 0:
                plain.send(bodies)
        ending = threading.Event()

        def drip():
            while not ending.is_set():
                for plain in drips:
                    try:
                        plain.send(b"G")
                    except OSError:
                        pass  # given up by the server
                ending.wait(0.05)
        dripper = threading.Thread(target=drip, daemon=True)
        dripper.start()
        try:
            self.honest(calls=50)
            end = time.monotonic() + PATIENCE
            while self.connections() > 20:
                self.assertLess(time.monotonic(), end, "the server does not give the drips up")
                time.sleep(0.1)
        finally:
            ending.set()
            dripper.join()
            for plain in drips:
                plain.close()
        self.honest()
        self.finish()

    def connections(self):
        text = self.call("GET", "/metrics")[1].decode()
        return float(text.split("\nhindsight_connections ")[1].split()[0])

    def test_hostile_json_is_refused_or_harmless(self):
        self.start()
        self.client.collection("books").put(seed=1)
        rank = "/v1/collections/books/rank"

        def prior(word):
            return f'{{"candidates":[{{"id":"a","prior":{word}}},{{"id":"b"}}],"k":2}}'.encode()
        refused = [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 33 + b"]" * 33, b"", b"{", b"nul", b'"', b"\xff\xfe{}",
                   b'{"candidates":["\xc3"],"k":2}', b'{"candidates":["\xed\xa0\x80"],"k":2}', b'{"candidates":["\\ud800"],"k":2}',
                   b'{"candidates":["a\\u0000"],"k":2}\x00', b'{"k":1,"k":2,"candidates":["a"]}', b'{"candidates":["a"],"k":-1}',
                   b'{"candidates":["a"],"k":1.5}', b'{"candidates":["a"],"k":9223372036854775808}',
                   b'{"candidates":["a"],"k":18446744073709551616}', b'{"candidates":["a"],"k":1e400}',
                   b'{"candidates":["a","a"],"k":2}', b'{"candidates":[""],"k":2}', b'{"candidates":["' + b"x" * 300 + b'"],"k":2}',
                   prior("NaN"), prior("Infinity"), prior("-Infinity"), prior("1e400"), prior("-1e400"), prior("01"), prior("+1"),
                   prior("1."), prior(".5"), prior("0x10"), prior('"1"'), prior("null,null")]
        for body in refused:
            with self.subTest(body=body[:60]):
                status, text = self.call("POST", rank, body)
                self.assertIn(status, (400, 413), text)
                self.assertIn("code", strict(text)["error"])
        for word in ("1e308", "-1e308", "1.7976931348623157e308", "5e-324", "-5e-324", "-0", "-0.0", "0e0", "9223372036854775807",
                     "9223372036854775808", "18446744073709551615", "1e-400"):
            with self.subTest(word=word):
                status, text = self.call("POST", rank, prior(word))
                self.assertIn(status, (200, 400), text)
                strict(text)
        for method, path in (("PUT", "/v1/collections/books"), ("POST", "/v1/collections/books/items"),
                             ("POST", "/v1/collections/books/clicks")):
            for body in (b"[" * 50_000, b"\xff" * 100, b'{"ranker":1e999}', b'{"seed":18446744073709551616}', b'{"seed":-1}',
                         b'{"window_ms":9223372036854775808}', b'{"items":[{"id":"\\udfff"}]}', b'{"clicks":[{"decision":"d_","item":""}]}'):
                status, text = self.call(method, path, body)
                self.assertIn(status, (400, 413), (path, body[:40], text))
                strict(text)
        self.honest()
        self.finish()

    def test_framing_tricks_reach_nobody(self):
        self.start()
        smuggled = b"GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
        post = b"POST /v1/collections/x/rank HTTP/1.1\r\nHost: h\r\n"
        for head in (post + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                     post + b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n",
                     post + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
                     post + b"Content-Length: 0,5\r\n\r\n", post + b"Content-Length: 1_0\r\n\r\n",
                     post + b"Transfer-Encoding: chunked\r\n\r\n1\r\nZZ\r\n0\r\n\r\n",
                     post + b"Transfer-Encoding: chunked\r\n\r\n0x1\r\nZ\r\n0\r\n\r\n",
                     post + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", post + b"Transfer-Encoding: cow\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: h\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
                     b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: h\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                     bytes(range(256)) * 16):
            with self.subTest(head=head[:80]):
                received = self.raw(head + smuggled)
                self.assertRegex(received[:12], rb"^HTTP/1\.1 (400|401|431|505)")
                self.assertEqual(received.count(b"HTTP/1.1 "), 1, "one answer, and the connection ends")
        self.honest()
        self.finish()

    def test_pipelines_and_broken_uploads_cost_nothing(self):
        self.start("--body-deadline-ms", "2000")
        request = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
        last = b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        self.assertEqual(self.raw(request * 999 + last).count(b"HTTP/1.1 200 "), 1000)
        key = self.headers["Authorization"].encode()
        head = (b"POST /v1/collections/honest/rank HTTP/1.1\r\nHost: h\r\nAuthorization: " + key +
                b"\r\nContent-Length: 8000000\r\n\r\n")
        for i in range(200):  # 1.6 GB announced, almost nothing sent
            with socket.create_connection(self.address, timeout=PATIENCE) as plain:
                plain.sendall(head + b"x" * (i * 100))
        slow = [socket.create_connection(self.address, timeout=PATIENCE) for _ in range(20)]
        for plain in slow:
            plain.sendall(head + b"[")
        self.honest()
        for plain in slow:
            self.assertRegex(plain.recv(12), rb"HTTP/1\.1 (408|503)")
            plain.close()
        self.finish()

    def test_adversarial_events_spoil_no_model(self):
        self.start("--snapshot-events", "5000")
        draw = random.Random(7)
        extremes = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, -5e-324, 1e300, 1e-300, 1e15, -1e15, 1e6, 700.0, -700.0]
        each = EVENTS // len(RANKERS)
        for ranker in RANKERS:
            with self.subTest(ranker=ranker):
                self.attack(ranker, each, draw, extremes)
        hashes = {name: self.stats(name)["model_hash"] for name in RANKERS}
        self.honest()
        self.finish()
        self.start()  # what was learned is read back as it was
        for name, value in hashes.items():
            self.assertEqual(self.stats(name)["model_hash"], value, name)
        self.honest()
        self.finish()

    def stats(self, name):
        status, text = self.call("GET", f"/v1/collections/{name}/stats")
        self.assertEqual(status, 200)
        return strict(text)

    def attack(self, name, events, draw, extremes):
        """Extreme priors and features, repeated clicks, one item over and over, items that are gone."""
        books = self.client.collection(name)
        books.put(ranker=name, seed=3, max_open=1000)
        books.add([{"id": f"i{n}", "features": {"f": draw.choice(extremes) if n % 7 == 0 else 1.0}} for n in range(30)]
                  if self.accepts_features(name) else [f"i{n}" for n in range(30)])
        sent = 0
        kept = 0
        while sent < events:
            candidates = [{"id": f"i{n}", "prior": draw.choice(extremes)} for n in draw.sample(range(40), 12)]
            if draw.random() < 0.3:
                for candidate in candidates:
                    candidate["features"] = {"f": draw.choice(extremes), "g": draw.choice(extremes)}
            status, text = self.call("POST", f"/v1/collections/{name}/rank", json.dumps(
                {"candidates": candidates, "k": 10, "session": f"s{draw.randrange(5)}", "context_key": f"c{draw.randrange(1000)}"}))
            self.assertIn(status, (200, 400, 404), text)
            reply = strict(text)
            if status != 200:
                sent += 1
                continue
            kept += 1
            shown = [item["id"] for item in reply["items"]]
            clicks = [{"decision": reply["decision"], "item": draw.choice(shown[:1] + ["i0", "never-shown"] + shown),
                       "event": f"e{draw.randrange(40)}"} for _ in range(100)]
            status, text = self.call("POST", f"/v1/collections/{name}/clicks", json.dumps({"clicks": clicks}))
            self.assertEqual(status, 200, text)
            self.assertEqual(sum(strict(text).values()), 100)
            sent += 101
            if draw.random() < 0.1:
                gone = draw.choice(shown)
                self.assertIn(self.call("DELETE", f"/v1/collections/{name}/items/{gone}")[0], (204, 404))
                clicks[0]["item"] = gone
                self.assertEqual(self.call("POST", f"/v1/collections/{name}/clicks", json.dumps({"clicks": clicks[:1]}))[0], 200)
        self.assertGreater(kept, 0)
        stats = self.stats(name)
        self.assertEqual(stats["clicks"]["received"], sum(n for outcome, n in stats["clicks"].items() if outcome != "received"))
        for item in ("i0", "i1", "i2"):
            strict(self.call("GET", f"/v1/collections/{name}/items/{item}")[1])
        status, text = self.call("POST", f"/v1/collections/{name}/rank", '{"candidates":["i1","i2","new"],"k":3}')
        self.assertEqual(status, 200, text)
        for item in strict(text)["items"]:
            self.assertGreaterEqual(item["prob_first"], 0.0)
            self.assertLessEqual(item["prob_first"], 1.0)

    def accepts_features(self, name):
        try:
            trial = self.client.collection(name + "-trial")
            trial.put(ranker=name, seed=3)
            trial.add([{"id": "x", "features": {"f": 1.0}}])
            return True
        except hindsight_client.HindsightError:
            return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
