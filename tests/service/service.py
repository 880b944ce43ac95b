"""A running server for tests: started on a free port over a data folder, stopped or killed."""
import json
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "client"))
from hindsight_client import Client  # noqa: E402


class Service:
    """One process. `options` are flags of `hindsight serve`."""

    def __init__(self, program, folder, *options, environment=None, log=None):
        self.folder = pathlib.Path(folder)
        self.log = open(log or self.folder.parent / "server.log", "ab")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [program, "serve", "--data", str(folder), "--listen", "127.0.0.1:0", *options],
            stdout=subprocess.PIPE, stderr=self.log, env=environment, text=True)
        self.url = None
        # The first line says where; a process that ends before it has no address.
        line = self.process.stdout.readline()
        found = re.search(r"https?://[0-9.:]+", line)
        if found:
            self.url = found.group(0)

    def client(self, timeout=30, key=None):
        return Client(self.url, key or (self.folder / "admin.key").read_text().strip(), timeout=timeout)

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self._end()

    def stop(self, timeout=120):
        """Graceful. RETURNS: the exit code."""
        self.process.terminate()
        self._end(timeout)
        return self.process.returncode

    def wait(self, seconds):
        """RETURNS: whether the process ended by itself in that time."""
        end = time.monotonic() + seconds
        while self.alive() and time.monotonic() < end:
            time.sleep(0.005)
        return not self.alive()

    def _end(self, timeout=120):
        self.process.wait(timeout)
        self.process.stdout.close()
        self.log.close()

    def reap(self):
        """After wait() said that it ended."""
        self._end()


def replayed_hash(program, folder, collection="books"):
    """RETURNS: the hash of the model that a full replay of the log gives."""
    done = subprocess.run([program, "replay", str(folder), "--collection", collection],
                          capture_output=True, text=True, check=True)
    return re.search(r"model hash\s+(\w+)", done.stdout).group(1)


def check_folder(program, folder):
    """RETURNS: the exit code of `hindsight check`, and what it says."""
    done = subprocess.run([program, "check", str(folder), "--json"], capture_output=True, text=True,
                          timeout=600, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else {"error": done.stderr}
