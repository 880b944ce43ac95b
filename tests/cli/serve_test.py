#!/usr/bin/env python3
"""The server and the keys from outside: starts, keys, signals, settings, what it prints.

Usage: serve_test.py PROGRAM
"""
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120, **options)


class Server:
    """A running server, with what it has printed."""

    def __init__(self, data, *arguments, env=None):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([PROGRAM, "serve", "--data", data, "--listen", "127.0.0.1:0", *arguments],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env={**os.environ, **(env or {})})
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if "/rank" in line:
                break
        found = re.search(r"http://[\d.]+:(\d+)$", self.lines[0]) if self.lines else None
        self.base = found.group(0) if found else None
        self.port = int(found.group(1)) if found else None

    def call(self, method, path, key, body=None):
        request = urllib.request.Request(self.base + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        if key:
            request.add_header("Authorization", "Bearer " + key)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or "null")

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=60)

    def logged(self):
        self.log.seek(0)
        return self.log.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Serving(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.data = str(pathlib.Path(self.folder.name) / "data folder's")

    def tearDown(self):
        self.folder.cleanup()

    def admin(self):
        return pathlib.Path(self.data, "admin.key").read_text().strip()

    def add(self, *arguments):
        done = run("key", "add", "--data", self.data, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()[-1]

    def test_the_printed_commands_work_as_printed(self):
        with Server(self.data) as server:
            commands = [line.strip() for line in server.lines if line.strip().startswith("curl ")]
            self.assertEqual(len(commands), 2)
            for _ in range(2):
                answers = [subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
                           for command in commands]
                for answer in answers:
                    self.assertEqual((answer.returncode, answer.stderr), (0, ""))
                    self.assertNotIn("error", json.loads(answer.stdout))
            ranked = json.loads(answers[1].stdout)
            self.assertEqual({item["id"] for item in ranked["items"]}, {"b1", "b2", "b3"})

    def test_the_first_key_is_in_a_file_and_not_on_a_pipe(self):
        with Server(self.data) as server:
            path = pathlib.Path(self.data, "admin.key")
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            self.assertEqual(stat.S_IMODE(pathlib.Path(self.data).stat().st_mode), 0o700)
            self.assertIn(str(path), "\n".join(server.lines))
            self.assertNotIn(self.admin(), "\n".join(server.lines) + server.logged())
            self.assertEqual(server.call("GET", "/v1/collections", self.admin())[0], 200)
            self.assertEqual(server.call("GET", "/v1/collections", None)[0], 401)

    def test_what_was_made_is_there_after_a_restart(self):
        with Server(self.data) as server:
            self.assertEqual(server.call("PUT", "/v1/collections/books", self.admin(), {})[0], 201)
            self.assertEqual(server.stop(), 0)
        first = self.admin()
        with Server(self.data) as server:
            self.assertEqual(self.admin(), first)
            status, listed = server.call("GET", "/v1/collections", first)
            self.assertEqual(status, 200)
            self.assertIn("books", json.dumps(listed))

    def test_keys_made_and_revoked_beside_the_server_act_within_seconds(self):
        with Server(self.data) as server:
            key = self.add("--role", "read")
            self.assertEqual(self.await_status(server, key, 200), 200)
            done = run("key", "revoke", key.split("_")[1], "--data", self.data)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.await_status(server, key, 401), 401)

    @staticmethod
    def await_status(server, key, wanted):
        for _ in range(100):
            status = server.call("GET", "/v1/collections", key)[0]
            if status == wanted:
                break
            time.sleep(0.1)
        return status

    def test_it_goes_on_when_nobody_reads_its_log(self):
        reader, writer = os.pipe()
        process = subprocess.Popen([PROGRAM, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--log-level", "debug"],
                                   stdout=subprocess.PIPE, stderr=writer, text=True)
        try:
            os.close(writer)
            base = re.search(r"http://[\d.:]+", process.stdout.readline()).group(0)
            os.close(reader)
            for _ in range(3):
                with urllib.request.urlopen(base + "/healthz", timeout=60) as answer:
                    self.assertEqual(answer.status, 200)
            process.terminate()
            self.assertEqual(process.wait(timeout=60), 0)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_signals_stop_it_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with Server(self.data) as server:
                self.assertEqual(server.stop(number), 0)
                self.assertIn("message=stopped", server.logged())

    def test_a_second_signal_ends_it_at_once(self):
        with Server(self.data, "--drain-deadline-ms", "600000") as server:
            # Half a request keeps the server waiting.
            with socket.create_connection(("127.0.0.1", server.port)) as half:
                half.sendall(b"GET / HT")
                server.call("GET", "/healthz", None)
                server.process.send_signal(signal.SIGTERM)
                while "message=stopping" not in server.logged():
                    time.sleep(0.01)
                self.assertEqual(server.stop(), 128 + signal.SIGTERM)

    def test_two_servers_do_not_share_a_folder(self):
        with Server(self.data):
            done = run("serve", "--data", self.data, "--listen", "127.0.0.1:0")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count("hindsight: "), 1, done.stderr)

    def test_a_damaged_key_file_is_a_clear_error(self):
        with Server(self.data) as server:
            server.stop()
        pathlib.Path(self.data, "keys.toml").write_text("version = ")
        done = run("serve", "--data", self.data, "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("keys.toml", done.stderr)

    def test_killed_at_a_named_point(self):
        with Server(self.data, env={"HINDSIGHT_KILL_AT": "before_commit:1"}) as server:
            with self.assertRaises(Exception):
                server.call("PUT", "/v1/collections/books", self.admin(), {})
                server.call("POST", "/v1/collections/books/items", self.admin(), {"items": [{"id": "b1"}]})
            self.assertEqual(server.process.wait(timeout=60), -signal.SIGKILL)

    def test_debug_logs_show_requests_without_secrets(self):
        with Server(self.data, "--log-level", "debug", "--log-format", "json") as server:
            server.call("PUT", "/v1/collections/books", self.admin(), {})
            server.call("DELETE", "/v1/collections/books/users/mary-secret", self.admin())
            server.stop()
            logged = server.logged()
        events = [json.loads(line) for line in logged.splitlines()]
        self.assertTrue(any(event.get("method") == "PUT" and event["status"] == 201 for event in events))
        self.assertNotIn("mary-secret", logged)
        self.assertNotIn(self.admin(), logged)


class Settings(unittest.TestCase):
    def assert_refused(self, *arguments, says, env=None):
        with tempfile.TemporaryDirectory() as folder:
            done = run("serve", *arguments, cwd=folder, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        self.assertIn(says, done.stderr)

    def test_wrong_settings_are_named(self):
        self.assert_refused("--listen", "0.0.0.0:0", says="--allow-remote")
        self.assert_refused("--listen", "nowhere", says="--listen")
        self.assert_refused("--threads", "many", says="--threads")
        self.assert_refused("--log-level", "loud", says="--log-level")
        self.assert_refused("--config", "missing.toml", says="missing.toml")
        self.assert_refused(says="HINDSIGHT_THREADS", env={"HINDSIGHT_THREADS": "x"})
        for wrong in ("before_commit:0", "before_comit"):
            self.assert_refused(says="HINDSIGHT_KILL_AT", env={"HINDSIGHT_KILL_AT": wrong})

    def test_flags_come_before_the_environment_before_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "h.toml")
            config.write_text('log_level = "loud"\n')
            self.assert_refused("--config", str(config), says="log_level")
            config.write_text('node = 3\nlog_level = "error"\nlog_format = "json"\n')
            with Server(folder + "/data", "--config", str(config), "--log-format", "logfmt",
                        env={"HINDSIGHT_LOG_LEVEL": "info", "HINDSIGHT_LOG_FORMAT": "json"}) as server:
                server.stop()
                self.assertIn("message=serving", server.logged())

    def test_the_last_of_two_flags_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server(folder + "/first", "--data", folder + "/second") as server:
                self.assertEqual(server.stop(), 0)
            self.assertFalse(pathlib.Path(folder, "first").exists())
            self.assertTrue(pathlib.Path(folder, "second").exists())

    def test_a_switch_that_is_false_on_the_command_line_is_false(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder, "h.toml")
            for line in ("", "allow_remote = true\n"):
                config.write_text(line)
                for env in ({}, {"HINDSIGHT_ALLOW_REMOTE": "true"}):
                    wide = ("--check-config", "--config", str(config), "--listen", "0.0.0.0:0")
                    self.assert_refused(*wide, "--allow-remote=false", says="--allow-remote", env=env)
                    self.assert_refused(*wide, "--allow-remote", "--allow-remote=false", says="--allow-remote", env=env)
                    for flag in ("--allow-remote", "--allow-remote=true"):
                        done = run("serve", *wide, flag, env={**os.environ, **env})
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_refused("--allow-remote=maybe", says="--allow-remote")

    def test_a_lost_end_is_not_accepted_by_a_switch_that_is_false(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server(folder + "/data") as server:
                self.assertEqual(server.stop(), 0)
            pathlib.Path(folder, "data", "high-water").unlink()
            cut = ("--data", folder + "/data", "--listen", "127.0.0.1:0")
            self.assert_refused(*cut, "--accept-lost-end=false", says="high-water",
                                env={"HINDSIGHT_ACCEPT_LOST_END": "true"})
            with Server(folder + "/data", "--accept-lost-end=true") as server:
                self.assertEqual(server.stop(), 0)

    def test_help_lists_every_setting(self):
        text = run("serve", "--help").stdout
        for word in ("--data DIR", "--listen ADDR", "--allow-remote", "--config FILE", "HINDSIGHT_CONFIG",
                     "Examples:"):
            self.assertIn(word, text)


class Keys(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def key(self, *arguments):
        return run("key", *arguments, "--data", self.folder.name)

    def test_a_key_stands_alone_on_the_last_line(self):
        done = self.key("add", "--role", "rank", "--collections", "books,films")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout.splitlines()[-1], r"^hs_[0-9a-f]{12}_[0-9a-f]{64}$")

    def test_the_list_shows_scope_and_revocation_but_no_key(self):
        key = self.key("add", "--role", "publishable", "--origins", "https://shop.example").stdout.splitlines()[-1]
        _, name, secret = key.split("_")
        before = self.key("list").stdout
        self.assertIn(name, before)
        self.assertIn("publishable", before)
        self.assertIn("https://shop.example", before)
        self.assertNotIn(secret, before)
        self.assertEqual(self.key("revoke", name).returncode, 0)
        self.assertEqual(self.key("list").stdout.count(time.strftime("%Y-%m-%d", time.gmtime())), 2)

    def test_each_command_of_keys_has_examples_of_its_own(self):
        for command in ("add", "list", "revoke"):
            shown = run("key", command, "--help").stdout.split("Example")[1]
            examples = [line.strip() for line in shown.splitlines()[1:] if line.strip()]
            self.assertGreater(len(examples), 0)
            for example in examples:
                self.assertTrue(example.startswith(f"hindsight key {command}"), example)

    def test_mistakes_are_usage_errors_on_one_line(self):
        self.key("add", "--role", "admin")
        for arguments in (("add",), ("add", "--role", "king"), ("add", "--role", "publishable"),
                          ("add", "--role", "rank", "--collections", "Books"), ("revoke", "nobody"),
                          ("revoke",), ("sing",)):
            done = self.key(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(run("key", "list", "--data", "/no/such/folder").returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
