#!/usr/bin/env python3
"""Runs schemathesis against a live server: every answer must be one that docs/openapi.yaml describes.

Usage: schemathesis_test.py PROGRAM   (after scripts/python_tools.sh; HINDSIGHT_FULL=1 tries more)
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMATHESIS = ROOT / "build/venv/bin/schemathesis"
FULL = bool(os.environ.get("HINDSIGHT_FULL"))
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"

# Most calls go to a collection that is there, or every answer would be 404. The calls that change settings or delete
# have a collection of their own: a valid wish for a tiny memory budget would make the others fail, rightly.
CONFIG = """
[parameters]
"path.c" = "books"

[[operations]]
include-operation-id = ["putCollection", "deleteCollection"]
parameters = { "path.c" = "scratch" }
"""


class Server:
    """`hindsight serve` on a free port, with a collection and a few events."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--data", folder, "--listen", "127.0.0.1:0", "--log-level", "error"],
            stdout=subprocess.PIPE, text=True)
        self.url = None
        for line in self.process.stdout:
            if found := re.search(r"listens on (http://\S+)", line):
                self.url = found.group(1)
                break
        if self.url is None:
            raise RuntimeError(f"the server did not start (exit code {self.process.wait()})")
        # What else it prints must not fill the pipe.
        self.reader = threading.Thread(target=self.process.stdout.read, daemon=True)
        self.reader.start()
        self.key = (pathlib.Path(folder) / "admin.key").read_text().strip()

    def open(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={
            "Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=30)

    def call(self, method, path, body=None):
        with self.open(method, path, body) as answer:
            return json.loads(answer.read() or "null")

    def stop(self):
        self.process.terminate()
        code = self.process.wait(timeout=60)
        self.reader.join()
        self.process.stdout.close()
        return code


class Contract(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = Server(str(self.folder / "data"))
        self.addCleanup(self.server.process.kill)
        self.server.call("PUT", "/v1/collections/books", {"seed": 7, "control": 0.2})
        self.server.call("POST", "/v1/collections/books/items", {
            "items": [{"id": f"b{i}", "topics": ["t"], "features": {"year": i / 10}} for i in range(20)]})
        self.decision = self.server.call("POST", "/v1/collections/books/rank", {"topic": "t", "k": 5})
        self.server.call("POST", "/v1/collections/books/clicks", {
            "clicks": [{"decision": self.decision["decision"], "item": self.decision["items"][0]["id"]}]})

    def run_schemathesis(self, name, config, examples):
        path = self.folder / f"{name}.toml"
        path.write_text(config)
        done = subprocess.run(
            [SCHEMATHESIS, "--config-file", path, "run", f"{self.server.url}/openapi.yaml",
             "--header", f"Authorization: Bearer {self.server.key}", "--checks", CHECKS,
             "--phases", "examples,coverage,fuzzing", "--max-examples", str(examples), "--seed", "1",
             # An endless answer; test_stream_sends_the_stats looks at it.
             "--exclude-operation-id", "streamStats",
             "--generation-database", "none", "--suppress-health-check", "all", "--request-timeout", "30",
             "--continue-on-failure", "--no-color", "--warnings", "off"],
            cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-20000:] + done.stderr[-5000:])
        self.assertRegex(done.stdout, r"[1-9]\d* (generated|passed)", "schemathesis tried nothing")
        self.assertEqual(self.server.call("GET", "/readyz"), {"status": "ready"})

    def test_answers_keep_to_the_contract(self):
        self.run_schemathesis("pinned", CONFIG, 400 if FULL else 15)
        clicks = self.server.call("GET", "/v1/collections/books/stats")["clicks"]
        self.assertEqual(clicks.pop("received"), sum(clicks.values()))

    def test_any_collection_name_keeps_to_the_contract(self):
        self.run_schemathesis("free", "", 200 if FULL else 5)

    def test_stream_sends_the_stats(self):
        with self.server.open("GET", "/v1/collections/books/stream") as stream:
            self.assertEqual(stream.headers.get_content_type(), "text/event-stream")
            lines = [stream.readline().decode() for _ in range(3)]
        self.assertEqual(lines[0], "event: stats\n")
        self.assertEqual(json.loads(lines[1].removeprefix("data: "))["clicks"]["received"], 1)
        self.assertEqual(lines[2], "\n")

    def tearDown(self):
        self.assertEqual(self.server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
