#!/usr/bin/env python3
"""The files in deploy/ against the program: what they name exists, and they are accepted.

Usage: deploy_test.py PROGRAM
"""
import json
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PATIENCE = 300  # seconds; only a guard against hanging
# Recording rules and counters of Prometheus itself.
NOT_OURS = {"up"}
FUNCTIONS = {"or", "sum", "rate", "by", "and", "on", "histogram_quantile", "increase", "delta", "time", "clamp_min", "le", "instance", "reason",
             "collection", "status", "humanize1024"}


def needs(tool):
    """Where a tool is missing, the test is skipped with the reason."""
    return unittest.skipUnless(shutil.which(tool), f"{tool} is not installed")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def trusting_everyone():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Deploy(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_deploy_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_the_sample_settings_are_accepted(self):
        done = subprocess.run([PROGRAM, "serve", "--check-config", "--config", DEPLOY / "hindsight.toml"],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # What is commented out must exist, too.
        text = (DEPLOY / "hindsight.toml").read_text()
        names = set(re.findall(r"^#? ?(\w+) = ", text, flags=re.MULTILINE))
        helped = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True, check=True).stdout
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertIn("--" + name.replace("_", "-"), helped)

    def test_wrong_settings_are_found_without_a_start(self):
        wrong = self.folder / "wrong.toml"
        wrong.write_text('listen = "0.0.0.0:80"\n')
        done = subprocess.run([PROGRAM, "serve", "--check-config", "--config", wrong, "--data", self.folder / "data"],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--allow-remote", done.stderr)
        self.assertFalse((self.folder / "data").exists())

    @needs("systemd-analyze")
    def test_the_unit_is_valid_and_hardened(self):
        unit = self.folder / "hindsight.service"
        text = (DEPLOY / "hindsight.service").read_text()
        self.assertIn("ExecStart=/usr/bin/hindsight serve ", text)
        unit.write_text(text.replace("/usr/bin/hindsight", str(PROGRAM)))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=PATIENCE)
        mine = [line for line in done.stderr.splitlines() if "hindsight" in line]
        self.assertEqual(mine, [])
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", unit], capture_output=True,
                              text=True, timeout=PATIENCE)
        found = re.search(r"Overall exposure level for hindsight.service: ([\d.]+)", done.stdout)
        if not found:
            self.skipTest("this systemd-analyze does not judge a unit offline: " + done.stderr.strip())
        self.assertLessEqual(float(found.group(1)), 2.0)

    @needs("systemd-analyze")
    def test_the_unit_is_valid_with_tls_of_its_own(self):
        unit = self.folder / "hindsight.service"
        unit.write_text((DEPLOY / "hindsight.service").read_text().replace("/usr/bin/hindsight", str(PROGRAM)))
        beside = self.folder / "hindsight.service.d"
        beside.mkdir()
        (beside / "tls.conf").write_text((DEPLOY / "hindsight-tls.conf").read_text())
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual([line for line in done.stderr.splitlines() if "hindsight" in line], [])

    def test_alerts_name_metrics_that_exist(self):
        text = (DEPLOY / "prometheus-alerts.yml").read_text()
        expressions = re.findall(r"expr: (?:>-)?\n?((?:.|\n)*?)\n {8}(?:for|labels):", text)
        self.assertEqual(len(expressions), text.count("- alert: "))
        self.make_certificate()
        metrics = self.metrics_of("--tls-cert", str(self.folder / "tls.crt"), "--tls-key", str(self.folder / "tls.key"))
        known = set(re.findall(r"^([a-z_]+)[{ ]", metrics, flags=re.MULTILINE)) | NOT_OURS
        reasons = set(re.findall(r'hindsight_refused_total{reason="(\w+)"}', metrics))
        for expression in expressions:
            plain = re.sub(r'"[^"]*"', '""', expression)
            used = set(re.findall(r"\b([a-z]\w+)\b(?!\s*[=(!])", re.sub(r"\{[^}]*\}", "", plain))) - FUNCTIONS
            used = {name for name in used if not re.fullmatch(r"\d*[smhe]\d*", name)}
            self.assertEqual(used - known, set(), expression)
            for pattern in re.findall(r'reason=~"([^"]+)"', expression):
                for word in pattern.split("|"):
                    self.assertTrue(any(re.fullmatch(word, reason) for reason in reasons), word)
            # A series that begins with the first failure shows no rise: it must be there before.
            for pattern in re.findall(r'status=~"([^"]+)"', expression):
                for word in pattern.split("|"):
                    self.assertTrue(re.search(rf'\nhindsight_requests_total{{.*/rank",status="{word}"}} 0\n', metrics), word)

    def make_certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.folder / "tls.key", "-out",
                        self.folder / "tls.crt", "-days", "2", "-subj", "/CN=rank.example"], check=True, capture_output=True)

    def metrics_of(self, *options):
        """RETURNS: /metrics of a server with a collection, a decision and a click."""
        service = Service(str(PROGRAM), self.folder / "data", *options)
        try:
            def call(method, path, body=None):
                key = (service.folder / "admin.key").read_text().strip()
                request = urllib.request.Request(service.url + path, method=method, headers={
                    "Authorization": f"Bearer {key}", "Content-Type": "application/json"},
                    data=None if body is None else json.dumps(body).encode())
                with urllib.request.urlopen(request, timeout=PATIENCE, context=trusting_everyone()) as response:
                    return response.read().decode()
            call("PUT", "/v1/collections/books", {})
            reply = json.loads(call("POST", "/v1/collections/books/rank", {"candidates": ["a", "b"], "k": 2}))
            call("POST", "/v1/collections/books/clicks", {"clicks": [{"decision": reply["decision"], "item": "a"}]})
            return call("GET", "/metrics")
        finally:
            self.assertEqual(service.stop(), 0)

    @needs("promtool")
    def test_alerts_fire_when_they_should(self):
        for command in (["check", "rules", DEPLOY / "prometheus-alerts.yml"],
                        ["test", "rules", pathlib.Path(__file__).resolve().parent / "prometheus_alerts_test.yml"]):
            done = subprocess.run(["promtool", *command], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_alert_has_its_paragraph_in_the_runbook(self):
        page = (ROOT / "docs" / "operations.md").read_text()
        for alert in re.findall(r"- alert: (\w+)", (DEPLOY / "prometheus-alerts.yml").read_text()):
            self.assertIn(f"**{alert}**", page)

    def test_the_image_has_the_libraries_that_the_program_needs(self):
        if not shutil.which("dpkg"):
            self.skipTest("dpkg is not installed")
        text = (ROOT / "Dockerfile").read_text()
        self.assertIn("scripts/install_deps.sh", text)
        self.assertIn("\nUSER hindsight\n", text)
        linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        for path in re.findall(r"=> (/\S+)", linked):
            owner = subprocess.run(["dpkg", "-S", pathlib.Path(path).resolve()], capture_output=True, text=True)
            package = owner.stdout.split(":")[0]
            if package and not re.match(r"libc6|libgcc|libstdc|zlib1g|libasan|libubsan|libtsan", package):
                self.assertIn(package, text, f"{path} belongs to {package}")

    @needs("nginx")
    def test_a_proxy_in_front_passes_requests_and_addresses(self):
        service = Service(str(PROGRAM), self.folder / "data", "--trusted-proxies", "127.0.0.1", "--address-rate", "0.001",
                          "--address-burst", "2")
        self.addCleanup(lambda: service.alive() and service.stop())
        port = free_port()
        self.make_certificate()
        text = (DEPLOY / "nginx.conf").read_text()
        text = text.replace("127.0.0.1:8080", urllib.parse.urlsplit(service.url).netloc)
        text = text.replace("/var/log/nginx/", f"{self.folder}/")
        text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace("/etc/hindsight/", f"{self.folder}/")
        whole = self.folder / "nginx.conf"
        whole.write_text(f"daemon off; pid {self.folder}/nginx.pid; error_log {self.folder}/error.log;\nevents {{}}\n"
                         f"http {{ access_log off; client_body_temp_path {self.folder}/b; proxy_temp_path {self.folder}/p;\n"
                         f"fastcgi_temp_path {self.folder}/f; uwsgi_temp_path {self.folder}/u; scgi_temp_path {self.folder}/s;\n"
                         f"{text}}}\n")
        checked = subprocess.run(["nginx", "-t", "-c", whole], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        with subprocess.Popen(["nginx", "-c", whole], stderr=subprocess.DEVNULL) as proxy:
            try:
                self.check_proxied(service, port)
            finally:
                proxy.terminate()

    def check_proxied(self, service, port):
        context = trusting_everyone()
        key = (service.folder / "admin.key").read_text().strip()
        headers = {"Authorization": f"Bearer {key}", "X-Forwarded-For": "6.6.6.6"}
        end = time.monotonic() + PATIENCE
        statuses = []
        while len(statuses) < 3:
            request = urllib.request.Request(f"https://127.0.0.1:{port}/v1/collections", headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE, context=context) as response:
                    statuses.append(response.status)
                    self.assertEqual(json.loads(response.read()), {"collections": []})
            except urllib.error.HTTPError as error:
                statuses.append(error.code)
            except OSError:
                self.assertLess(time.monotonic(), end, "the proxy does not start")
                time.sleep(0.1)
        self.assertEqual(statuses, [200, 200, 429])
        # Also where nothing answers behind the proxy, which the error log tells with the request's line.
        service.stop()
        for path in ("users/alice@example.com", "%75sers/alice%40example.com", "users/alice@example.com?a=alice"):
            request = urllib.request.Request(f"https://127.0.0.1:{port}/v1/collections/books/{path}", method="DELETE",
                                             headers=headers)
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=PATIENCE, context=context)
            self.assertEqual(refused.exception.code, 502)
        while (logged := (self.folder / "hindsight.log").read_text()).count("DELETE /v1/collections/books/users/-") < 3:
            self.assertLess(time.monotonic(), end, logged)
            time.sleep(0.1)
        self.assertIn('"GET /v1/collections" 200', logged)
        self.assertNotIn("alice", logged + (self.folder / "error.log").read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
