#!/usr/bin/env python3
"""Clients that mean harm, or are merely broken: nothing they send stops the server or spoils a model.

Usage: hostile_test.py PROGRAM      HINDSIGHT_FULL=1: a million events at the learner
"""
import contextlib
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
from service import Service, check_folder  # noqa: E402
import hindsight_client  # noqa: E402

PROGRAM = sys.argv.pop(1)
PATIENCE = 300  # seconds; only a guard against hanging
EVENTS = 1_000_000 if os.environ.get("HINDSIGHT_FULL") else int(os.environ.get("HINDSIGHT_HOSTILE_EVENTS", "20000"))
MEMORY = int(os.environ.get("HINDSIGHT_MEMORY_MB", "512")) << 20  # a million events take 330; a sanitized server needs more

# Priors and features at the ends of what is taken, and beyond it.
NUMBERS = (0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e-17, 36.8, 700.0, -745.2, 1e3, -1e5, 1e6, -1e6)
HUGE = (1e308, -1e308, 1.7976931348623157e308, 9223372036854775808.0, 1e15, 1000000.0000000001)
BOUNDED = tuple(value for value in NUMBERS if abs(value) < 7e5)  # two of them are not longer than 10^6
# Whom the adversary teaches: collection -> ranker, its parameters, and the features of items that it takes.
TARGETS = {
    "auto": ("auto", {}, NUMBERS + HUGE),
    "auto-share": ("auto", {"share": 0.1}, NUMBERS + HUGE),
    "feature-klrank": ("feature-klrank", {}, NUMBERS + HUGE),
    "newton": ("feature-klrank", {"optimiser": "newton"}, NUMBERS + HUGE),
    "klrank": ("klrank", {}, ()),
    "klrank-features": ("klrank", {"phi": "items+features", "feature_bound": 1e6}, BOUNDED),
    "noregret-klrank": ("noregret-klrank", {}, ()),
    "greedy-klrank": ("greedy-klrank", {}, ()),
    "online-ranknet": ("online-ranknet", {}, ()),
    "category-ranking": ("category-ranking", {}, ()),
    "pagerank": ("pagerank", {"graph": "copicks"}, ()),
    "mcrank": ("mcrank", {"form": "online"}, ()),
    "onlinerank": ("onlinerank", {}, ()),
    "pdgd": ("pdgd", {"feature_bound": 1e6}, BOUNDED),
    "cascade-lints": ("cascade-lints", {}, tuple(value for value in BOUNDED if abs(value) > 1e-100)),
}
ITEMS = 30


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


def is_number(value):
    """Of strict() JSON: a finite one."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def require(truth, why):
    """Threads have no test to assert with."""
    if not truth:
        raise AssertionError(why)


class Attacker(threading.Thread):
    """Teaches one collection with numbers at the ends of what it takes, until so many clicks were learned.

    Extreme priors and features, and now and then one beyond what is taken; one item over and over, clicks sent twice,
    items that were not shown, items that go. What is beyond is refused and nothing else is, every number of every list
    is there and finite (the server writes null for one that is not), and each click is counted as what it is.
    """
    LISTS = 16  # between two calls with clicks
    OPEN = 2 * LISTS  # any more close at once

    def __init__(self, name, address, headers, clicks):
        super().__init__(daemon=True, name=name)
        self.ranker, self.params, self.features = TARGETS[name]
        self.path, self.headers, self.clicks = f"/v1/collections/{name}", headers, clicks
        self.connection = http.client.HTTPConnection(*address, timeout=PATIENCE)
        self.draw = random.Random(name)
        self.good = self.duplicate = self.quarantined = self.lists = self.refused = 0
        self.law_is_stated = True
        self.problem = None

    def run(self):
        try:
            row = next(one for one in self.call("GET", "/v1/rankers")["rankers"] if one["name"] == self.ranker)
            self.law_is_stated = row["law"] != "not_stated"
            # Who learns when a list closes has yet to hear of those that are open.
            self.attack(self.clicks + (20 * self.OPEN if row["learns"] == "on_close" else 0))
            self.check()
        except Exception as error:  # pylint: disable=broad-except
            self.problem = repr(error)
        finally:
            self.connection.close()

    def call(self, method, path, body=None, expected=200):
        """RETURNS: the answer's JSON."""
        self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        response = self.connection.getresponse()
        text = response.read()
        require(response.status == expected, f"{method} {path}: {response.status} {text} to {body}")
        return strict(text) if text else None

    def attack(self, clicks_in_all):
        self.call("PUT", self.path, {"ranker": self.ranker, "params": self.params, "seed": 3, "max_open": self.OPEN}, 201)
        self.add(*(f"i{n}" for n in range(ITEMS)))
        while self.good < clicks_in_all:
            clicks = [click for _ in range(self.LISTS) for click in self.one_list()]
            gone = clicks[0]["item"]
            self.call("DELETE", f"{self.path}/items/{gone}", expected=204)  # clicks on it are learned all the same
            answer = self.call("POST", self.path + "/clicks", {"clicks": clicks})
            require(sum(answer.values()) == len(clicks), answer)
            self.add(gone)

    def add(self, *items):
        self.call("POST", self.path + "/items", {"items": [
            {"id": item, "features": self.some_features(), "links": [self.draw.choice(items)]} for item in items]})

    def some_features(self):
        return {name: self.draw.choice(self.features) for name in "fg"} if self.features else {}

    def one_list(self):
        """RETURNS: clicks on a new list; none where it was refused, as it should be."""
        candidates = [{"id": f"i{n}", "prior": self.draw.choice(NUMBERS)} for n in self.draw.sample(range(ITEMS + 10), 24)]
        if self.features and self.draw.random() < 0.5:
            for candidate in candidates:
                candidate["features"] = self.some_features()
        request = {"candidates": candidates, "k": 20, "session": f"s{self.draw.randrange(5)}",
                   "group": f"g{self.draw.randrange(3)}", "context_key": f"c{self.draw.randrange(1000)}"}
        if self.draw.random() < 0.02:
            self.draw.choice(candidates)["prior"] = self.draw.choice(HUGE)
            self.call("POST", self.path + "/rank", request, 400)
            self.refused += 1
            return []
        reply = self.call("POST", self.path + "/rank", request)
        require(len(reply["items"]) == 20, reply)
        self.check_law(reply)
        self.lists += 1
        return self.clicks_on(reply["decision"], [item["id"] for item in reply["items"]])

    def clicks_on(self, decision, shown):
        wanted = self.draw.sample(shown, self.draw.randint(10, 20))
        wanted.sort(key=lambda item: item != "i0")  # the favourite comes first wherever it is shown
        clicks = [{"decision": decision, "item": item, "event": item} for item in wanted]
        again = self.draw.sample(clicks, 3)
        not_shown = {"decision": decision, "item": "not-shown", "event": "none"}
        self.good += len(clicks)
        self.duplicate += len(again)
        self.quarantined += 1
        return clicks + again + [not_shown]

    def check_law(self, reply):
        require(all(is_number(item["score"]) for item in reply["items"]), reply)
        law = [reply["log_propensity"]] + [item["prob_first"] for item in reply["items"]]
        if self.law_is_stated:
            require(all(is_number(value) for value in law) and law[0] <= 1e-9, reply)
            require(min(law[1:]) >= 0.0 and sum(law[1:]) <= 1.0 + 1e-9, reply)
        else:
            require(law == [None] * len(law), reply)

    def check(self):
        end = time.monotonic() + PATIENCE
        while True:
            stats = self.call("GET", self.path + "/stats")
            clicks = stats["clicks"]
            if clicks["duplicate"] + clicks["quarantined"] == self.duplicate + self.quarantined:
                break  # the log has the last decisions as well
            require(time.monotonic() < end, stats)
            time.sleep(0.1)
        require(clicks["learned"] >= self.clicks and clicks["learned"] + clicks["pending"] == self.good, (clicks, self.good))
        require((clicks["late"], clicks["unjoined"]) == (0, 0), clicks)
        cost = stats["kl_cost"]
        require(cost is None or is_number(cost["served"]) and is_number(cost["learned"]), cost)
        items = self.call("GET", self.path + "/items?limit=1000")["items"]
        require(len(items) >= ITEMS, len(items))
        for item in items:
            require(all(is_number(value) for value in (item["score"], *item["decayed_picks"], *item["features"].values())), item)
            explained = self.call("GET", f"{self.path}/items/{item['id']}/explain")
            require(is_number(explained["score"]), explained)
            for part in explained["parts"] + explained["experts"]:
                require(None not in part.values(), explained)
        library = [item["id"] for item in items][:20]
        self.check_law(self.call("POST", self.path + "/rank", {"candidates": library, "k": len(library)}))


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

    @contextlib.contextmanager
    def dripping(self, count):
        """So many connections, each with a byte now and then: half of them within a header, half within a body."""
        bodies = b"POST /v1/collections/honest/rank HTTP/1.1\r\nHost: h\r\nContent-Length: 3000\r\n\r\n"
        drips = []
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
        try:
            for i in range(count):
                plain = socket.create_connection(self.address, timeout=PATIENCE)
                plain.setblocking(False)
                drips.append(plain)
                if i % 2 == 0:
                    with contextlib.suppress(ConnectionError):  # turned away
                        plain.send(bodies)
            dripper.start()
            yield
        finally:
            ending.set()
            if dripper.is_alive():
                dripper.join()
            for plain in drips:
                plain.close()

    def test_a_thousand_dripping_connections_do_not_keep_honest_clients_out(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
        count = min(1000, (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200) // 2)
        self.start("--header-deadline-ms", "3000", "--body-deadline-ms", "3000")
        with self.dripping(count):
            self.honest(calls=50)
            end = time.monotonic() + PATIENCE
            while self.connections() > 20:
                self.assertLess(time.monotonic(), end, "the server does not give the drips up")
                time.sleep(0.1)
        self.honest()
        self.finish()

    def test_drips_in_every_place_give_way_to_those_who_come_back(self):
        self.start("--max-connections", "100", "--header-deadline-ms", "2000", "--body-deadline-ms", "2000")
        self.client.collection("honest").put(seed=1)
        with self.dripping(150):
            served = 0
            end = time.monotonic() + PATIENCE
            while served < 50:
                self.assertLess(time.monotonic(), end, "an honest client never gets a place")
                try:
                    self.client.collection("honest").rank(candidates=["a", "b", "c"], k=3)
                    served += 1
                    self.client.close()  # the next call needs a place of its own
                except hindsight_client.HindsightError as error:
                    self.assertEqual(error.status, 503)
                    time.sleep(0.05)
                except (OSError, http.client.HTTPException):
                    time.sleep(0.05)  # turned away before it had said what it wants
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
        for word in ("1e308", "-1e308", "1.7976931348623157e308", "9223372036854775807", "9223372036854775808",
                     "18446744073709551615", "1000000.0000000001"):
            with self.subTest(word=word):
                status, text = self.call("POST", rank, prior(word))
                self.assertEqual((status, strict(text)["error"]["field"]), (400, "candidates[0].prior"), text)
        for word in ("1e6", "-1e6", "5e-324", "-5e-324", "-0", "-0.0", "0e0", "1e-400"):
            with self.subTest(word=word):
                status, text = self.call("POST", rank, prior(word))
                self.assertEqual(status, 200, text)
                for item in strict(text)["items"]:
                    self.assertTrue(is_number(item["score"]) and is_number(item["prob_first"]), text)
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
        self.honest()  # for an unknown collection no body would be read at all
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
        self.start("--snapshot-events", "200", "--max-wait-ms", "60000")  # on a busy machine nobody is sent away
        attackers = [Attacker(name, self.address, self.headers, math.ceil(EVENTS / len(TARGETS))) for name in TARGETS]
        waiting, under_way = list(attackers), []
        while waiting or under_way:
            while waiting and len(under_way) < 4:
                under_way.append(waiting.pop())
                under_way[-1].start()
            self.honest(calls=5)
            under_way = [one for one in under_way if one.is_alive()]
        for one in attackers:
            with self.subTest(target=one.name):
                self.assertIsNone(one.problem)
        learned = sum(self.stats(name)["clicks"]["learned"] for name in TARGETS)
        refused = sum(one.refused for one in attackers)
        self.assertGreaterEqual(learned, EVENTS)
        self.assertGreater(refused, 0)
        hashes = {name: self.stats(name)["model_hash"] for name in TARGETS}
        self.finish()
        # Each event and each snapshot is sound, and what was learned is read back as it was.
        status, report = check_folder(PROGRAM, self.folder)
        self.assertEqual((status, report["problems"]), (0, []))
        for collection in report["collections"]:
            self.assertGreater(collection["snapshots"], 0, collection["name"])
        self.start()
        for name, value in hashes.items():
            self.assertEqual(self.stats(name)["model_hash"], value, name)
        self.honest()
        self.finish()
        print(f"{learned} clicks learned from {sum(one.lists for one in attackers)} lists; {refused} lists refused")

    def stats(self, name):
        status, text = self.call("GET", f"/v1/collections/{name}/stats")
        self.assertEqual(status, 200)
        return strict(text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
