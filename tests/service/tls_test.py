#!/usr/bin/env python3
"""TLS from outside: certificates made here, replaced while the server runs, wrong ones at the start.

Usage: tls_test.py PROGRAM
"""
import http.client
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from service import Service  # noqa: E402

PROGRAM = sys.argv.pop(1)
PATIENCE = 300  # seconds; only a guard against hanging


def make_pair(folder, name, password=None):
    """RETURNS: paths of a new certificate and its key."""
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    secret = ["-passout", f"pass:{password}"] if password else ["-nodes"]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", *secret,
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    key.chmod(0o600)
    return certificate, key


def dated(folder, name, days, seconds=0):
    """RETURNS: paths of a certificate that ends so many days and seconds from now, and of its key."""
    request, (certificate, key) = folder / f"{name}.csr", (folder / f"{name}.crt", folder / f"{name}.key")
    subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
                    request, "-subj", f"/CN={name}"], check=True, capture_output=True)
    key.chmod(0o600)
    (folder / "index").write_text("")
    (folder / "ca.cnf").write_text(f"[ca]\ndefault_ca = here\n[here]\ndatabase = {folder}/index\nnew_certs_dir = {folder}\n"
                                   "policy = any\nrand_serial = yes\ndefault_md = sha256\n[any]\ncommonName = supplied\n")

    def stamp(when):
        return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(when))
    end = time.time() + days * 86400 + seconds
    subprocess.run(["openssl", "ca", "-batch", "-config", folder / "ca.cnf", "-selfsign", "-keyfile", key, "-in", request, "-out",
                    certificate, "-notext", "-startdate", stamp(end - 86400), "-enddate", stamp(end)], check=True,
                   capture_output=True)
    return certificate, key


def replace(target, source):
    """As an operator should: a new file takes the old one's place."""
    fresh = target.with_suffix(".new")
    fresh.write_bytes(source.read_bytes())
    fresh.chmod(0o600)
    os.replace(fresh, target)


class Tls(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hindsight_tls_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.first = make_pair(self.folder, "first")
        self.certificate, self.key = self.folder / "live.crt", self.folder / "live.key"
        replace(self.certificate, self.first[0])
        replace(self.key, self.first[1])

    def start(self, *options):
        service = Service(PROGRAM, self.folder / "data", "--tls-cert", str(self.certificate), "--tls-key",
                          str(self.key), *options)
        self.assertIsNotNone(service.url, (self.folder / "server.log").read_text())
        self.addCleanup(lambda: service.alive() and service.stop())
        self.assertTrue(service.url.startswith("https://"))
        self.port = urllib.parse.urlsplit(service.url).port
        return service

    def get(self, authority, path="/healthz"):
        """RETURNS: the status, by a client that trusts nothing but `authority`."""
        context = ssl.create_default_context(cafile=str(authority))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=context)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def serves(self, authority):
        try:
            return self.get(authority) == 200
        except ssl.SSLError:
            return False

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def log(self):
        return (self.folder / "server.log").read_text()

    def connect(self, adjust):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        adjust(context)
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as plain:
            with context.wrap_socket(plain) as wrapped:
                return wrapped.version(), wrapped.cipher()[0]

    def test_requests_are_served_over_tls_1_2_and_1_3(self):
        self.start()
        self.assertEqual(self.get(self.certificate), 200)

        def only(version):
            def adjust(context):
                context.minimum_version = context.maximum_version = version
            return adjust
        self.assertEqual(self.connect(only(ssl.TLSVersion.TLSv1_3))[0], "TLSv1.3")
        version, cipher = self.connect(only(ssl.TLSVersion.TLSv1_2))
        self.assertEqual(version, "TLSv1.2")
        self.assertRegex(cipher, "^ECDHE-.*(GCM|CHACHA20)")

    def test_older_versions_and_weak_ciphers_are_refused(self):
        self.start()

        def old(context):
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1

        def weak(context):
            context.set_ciphers("AES128-SHA:AES256-SHA:@SECLEVEL=0")  # no forward secrecy
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        for adjust in (old, weak):
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                self.connect(adjust)
        self.assertEqual(self.get(self.certificate), 200)

    def test_large_bodies_and_many_requests_go_through(self):
        service = self.start()
        key = (service.folder / "admin.key").read_text().strip()
        context = ssl.create_default_context(cafile=str(self.certificate))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=context)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

        def call(method, path, body):
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        self.assertEqual(call("PUT", "/v1/collections/books", "{}")[0], 201)
        ids = ",".join(f'{{"id":"item-{i:040d}"}}' for i in range(9000))
        self.assertEqual(call("POST", "/v1/collections/books/items", f'{{"items":[{ids}]}}')[0], 200)
        for _ in range(50):
            status, text = call("POST", "/v1/collections/books/rank", '{"k":1000}')
            self.assertEqual(status, 200)
            self.assertGreater(len(text), 40_000)
        connection.close()

    def test_plain_http_is_closed_without_an_answer(self):
        self.start()
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
            received = b""
            try:
                while piece := plain.recv(4096):
                    received += piece
            except ConnectionError:
                pass
        self.assertNotIn(b"HTTP/", received)
        self.assertEqual(self.get(self.certificate), 200)

    def test_silent_clients_are_given_up_and_honest_ones_served(self):
        self.start("--max-handshakes", "8", "--handshake-deadline-ms", "2000")
        silent = [socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) for _ in range(50)]
        try:
            for _ in range(10):
                self.assertEqual(self.get(self.certificate), 200)
            for one in silent:
                try:
                    self.assertEqual(one.recv(1), b"")
                except ConnectionError:
                    pass
        finally:
            for one in silent:
                one.close()

    def test_a_new_pair_is_used_without_a_restart(self):
        service = self.start()
        self.assertEqual(self.get(self.certificate), 200)
        context = ssl.create_default_context(cafile=str(self.first[0]))
        kept = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=context)
        kept.request("GET", "/healthz")
        kept.getresponse().read()
        second = make_pair(self.folder, "second")
        # The key comes a moment after the certificate; meanwhile the old pair serves.
        replace(self.certificate, second[0])
        time.sleep(0.2)
        replace(self.key, second[1])
        self.wait_for(lambda: self.serves(second[0]), "the new certificate is not used")
        self.assertFalse(self.serves(self.first[0]))
        kept.request("GET", "/healthz")
        self.assertEqual(kept.getresponse().status, 200, "a connection of before goes on")
        kept.close()
        self.assertEqual(service.stop(), 0)

    def test_a_broken_pair_keeps_the_old_one_in_force(self):
        self.start()
        other = make_pair(self.folder, "other")
        replace(self.key, other[1])  # belongs to another certificate
        self.wait_for(lambda: "stays in force" in self.log(), "no warning")
        self.assertTrue(self.serves(self.first[0]))
        self.assertIn("is not the key of the certificate", self.log())
        (self.folder / "garbage").write_text("-----BEGIN NONSENSE-----\n")
        replace(self.certificate, self.folder / "garbage")
        self.wait_for(lambda: "holds no certificate" in self.log(), "no second warning")
        self.assertTrue(self.serves(self.first[0]))
        replace(self.certificate, other[0])
        self.wait_for(lambda: self.serves(other[0]), "the repaired pair is not used")

    def metric(self, service, name):
        key = (service.folder / "admin.key").read_text().strip()
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=context)
        try:
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {key}"})
            text = connection.getresponse().read().decode()
        finally:
            connection.close()
        return float(re.search(rf"^{name} (\S+)$", text, flags=re.MULTILINE).group(1))

    def test_the_days_of_a_certificate_are_told(self):
        expired, future = dated(self.folder, "expired", -1), dated(self.folder, "future", 30)
        for pair, words in ((expired, "has expired"), (future, "is not yet valid")):
            done = subprocess.run([PROGRAM, "serve", "--check-config", "--tls-cert", str(pair[0]), "--tls-key", str(pair[1])],
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
        service = self.start()
        good = self.metric(service, "hindsight_certificate_not_after_seconds")
        self.assertGreater(good, time.time())
        self.assertNotIn("clients refuse it", self.log())
        # An expired one in place of a good one is used, for it may be all there is; but not in silence.
        replace(self.certificate, expired[0])
        replace(self.key, expired[1])
        self.wait_for(lambda: "has expired" in self.log(), "no warning")
        self.assertLess(self.metric(service, "hindsight_certificate_not_after_seconds"), time.time())

    def test_a_certificate_that_ends_while_it_is_used_is_told_once(self):
        ending = dated(self.folder, "ending", 0, 4)
        replace(self.certificate, ending[0])
        replace(self.key, ending[1])
        service = self.start()
        self.wait_for(lambda: "has expired" in self.log(), "no warning")
        time.sleep(2.5)  # two looks more
        self.assertEqual(service.stop(), 0)
        self.assertEqual(self.log().count("has expired"), 1)

    def test_a_pair_that_cannot_be_used_and_failed_handshakes_are_counted(self):
        service = self.start()
        other = make_pair(self.folder, "other")
        self.assertEqual(self.metric(service, "hindsight_certificate_unusable"), 0)
        self.assertEqual(self.metric(service, "hindsight_handshakes_failed_total"), 0)
        self.assertGreaterEqual(self.metric(service, "hindsight_handshakes_total"), 1)
        self.assertFalse(self.serves(other[0]))  # this client hangs up
        self.wait_for(lambda: self.metric(service, "hindsight_handshakes_failed_total") == 1, "it is not counted")
        replace(self.key, other[1])
        self.wait_for(lambda: self.metric(service, "hindsight_certificate_unusable") == 1, "it is not told")
        replace(self.certificate, other[0])
        self.wait_for(lambda: self.metric(service, "hindsight_certificate_unusable") == 0, "it is not taken up")

    def test_wrong_files_are_clear_errors_at_the_start(self):
        other = make_pair(self.folder, "other")
        locked = make_pair(self.folder, "locked", password="secret")
        garbage = self.folder / "garbage"
        garbage.write_text("not a key\n")
        garbage.chmod(0o600)
        loose = self.folder / "loose.key"
        loose.write_bytes(self.first[1].read_bytes())
        loose.chmod(0o644)
        for certificate, key, words in (
                (self.folder / "none.crt", self.key, ["tls_cert", "none.crt"]),
                (self.certificate, self.folder / "none.key", ["tls_key", "none.key"]),
                (self.folder, self.key, ["tls_cert"]),
                (garbage, self.key, ["tls_cert", "no certificate in PEM form"]),
                (self.certificate, garbage, ["tls_key", "no private key in PEM form"]),
                (self.certificate, other[1], ["tls_key", "is not the key of the certificate"]),
                (locked[0], locked[1], ["tls_key", "without a password"]),
                (self.certificate, loose, ["tls_key", "every user of this machine may read this key"]),
                (self.certificate, "", ["tls_key", "together or not at all"]),
                ("", self.key, ["tls_cert", "together or not at all"])):
            for check in ([], ["--check-config"]):
                with self.subTest(certificate=str(certificate), key=str(key), check=check):
                    done = subprocess.run([PROGRAM, "serve", "--data", str(self.folder / "never"), "--listen", "127.0.0.1:0",
                                           "--tls-cert", str(certificate), "--tls-key", str(key), *check],
                                          capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
                    self.assertNotEqual(done.returncode, 0)
                    for word in words:
                        self.assertIn(word, done.stderr)
        done = subprocess.run([PROGRAM, "serve", "--check-config", "--tls-cert", str(self.certificate), "--tls-key",
                               str(self.key)], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
