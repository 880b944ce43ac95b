#!/usr/bin/env python3
"""Measures the server beside what it stands on, in one run, and prints the table of docs/performance.md.

    bench/service/service_bench.py [--seconds 5] [--only rank,clicks,scaling,startup,memory] [--full]
                                   [--build build/release] [--json FILE]

rank      wrk on the rank call with 10, 100 and 1,000 candidates, against a bare Beast echo
clicks    durable clicks in calls of 1 and of 64, from 1, 16 and 64 clients, against SQLite alone
startup   time from start to ready with 10^6 events (--full: 10^7) of klrank and of auto, with and without a snapshot
scaling   rankings of one collection on one thread and on two, while clicks are learned
memory    bytes per item with 10^6 items

The server gets one core and wrk another. Figures are of this machine; the ratios are what counts.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "service"))
from service import Service  # noqa: E402

RANK_LUA = """
local bodies = {}
math.randomseed(7)
for i = 1, 64 do
  local ids = {}
  local first = math.random(0, %(items)d - %(n)d)
  for j = 1, %(n)d do ids[j] = '"item' .. (first + j - 1) .. '"' end
  bodies[i] = '{"candidates":[' .. table.concat(ids, ",") .. '],"k":10}'
end
local next_body = 0
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer %(key)s"
wrk.headers["Content-Type"] = "application/json"
request = function()
  next_body = next_body %% #bodies + 1
  return wrk.format(nil, nil, nil, bodies[next_body])
end
"""

CLICK_LUA = """
local lines = {}
for line in io.lines("%(decisions)s") do lines[#lines + 1] = line end
local salt = "%(salt)s"
local count = 0
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer %(key)s"
wrk.headers["Content-Type"] = "application/json"
request = function()
  local clicks = {}
  for i = 1, %(size)d do
    count = count + 1
    clicks[i] = '{' .. lines[count %% #lines + 1] .. ',"event":"' .. salt .. count .. '"}'
  end
  return wrk.format(nil, nil, nil, '{"clicks":[' .. table.concat(clicks, ",") .. ']}')
end
"""


def wrk(url, script, folder, connections, seconds):
    """RETURNS: requests per second, p50 and p99 in ms, and answers that were not 2xx."""
    path = pathlib.Path(folder) / "wrk.lua"
    path.write_text(script)
    done = subprocess.run(
        ["taskset", "-c", "1", "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency",
         "-s", str(path), url], capture_output=True, text=True, check=True)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout).group(1))
    units = {"us": 1e-3, "ms": 1.0, "s": 1e3}
    latency = {}
    for name in ("50", "99"):
        found = re.search(rf"{name}%\s+([\d.]+)(us|ms|s)", done.stdout)
        latency[name] = float(found.group(1)) * units[found.group(2)]
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    return rate, latency["50"], latency["99"], int(bad.group(1)) if bad else 0


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = pathlib.Path(options.build).resolve()
        self.rows = []
        self.echo_cpu_us = 0.0

    def row(self, name, value, unit, beside=None, ratio=None, aim=None):
        self.rows.append({"name": name, "value": value, "unit": unit, "beside": beside,
                          "ratio": ratio, "aim": aim})
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        ratio_text = "" if ratio is None else f"{ratio:.2f}"
        print(f"| {name} | {shown} {unit} | {beside or ''} | {ratio_text} | {aim or ''} |", flush=True)

    def serve(self, folder, *options):
        # One core for the whole server.
        script = pathlib.Path(folder).parent / "pinned"
        script.write_text(f'#!/bin/sh\nexec taskset -c 0 {self.build}/hindsight "$@"\n')
        script.chmod(0o755)
        return Service(str(script), folder, "--threads", "1", *options)

    def echo(self, size, script, folder, connections):
        process = subprocess.Popen(["taskset", "-c", "0", str(self.build / "bench" / "echo_server"),
                                    str(size)], stdout=subprocess.PIPE, text=True)
        try:
            port = int(process.stdout.readline())
            before = cpu_seconds(process.pid)
            result = wrk(f"http://127.0.0.1:{port}/", script, folder, connections,
                         self.options.seconds)
            self.echo_cpu_us = (cpu_seconds(process.pid) - before) / (result[0] * self.options.seconds) * 1e6
            return result
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()

    def rank(self, temporary):
        items = 10_000
        folder = pathlib.Path(temporary) / "data"
        service = self.serve(folder)
        key = (folder / "admin.key").read_text().strip()
        with service.client() as client:
            books = client.collection("books")
            books.put(ranker="klrank", seed=7, max_open=100_000)
            books.add([f"item{i}" for i in range(items)])
            size = len(json.dumps(books.rank(candidates=[f"item{i}" for i in range(10)], k=10)))
        for n in (10, 100, 1000):
            script = RANK_LUA % {"items": items, "n": n, "key": key}
            base, _, base99, _ = self.echo(size, script, temporary, 16)
            before = cpu_seconds(service.process.pid)
            rate, _, p99, bad = wrk(f"{service.url}/v1/collections/books/rank", script, temporary, 16,
                                    self.options.seconds)
            cpu_us = (cpu_seconds(service.process.pid) - before) / (rate * self.options.seconds) * 1e6
            assert bad == 0, f"{bad} answers were errors"
            aim = "0.60" if n == 100 else None
            self.row(f"rank, {n} candidates, k = 10", rate, "calls/s",
                     f"echo {base:,.0f}", rate / base, aim)
            self.row("processor time of a call", cpu_us, "us", f"echo {self.echo_cpu_us:.1f} us",
                     self.echo_cpu_us / cpu_us)
            self.row("p99 of the same", p99, "ms", f"echo {base99:.2f} ms", p99 / base99,
                     "2.00" if n == 100 else None)
        service.stop()

    def clicks(self, temporary):
        folder = pathlib.Path(temporary) / "data"
        service = self.serve(folder)
        key = (folder / "admin.key").read_text().strip()
        decisions = pathlib.Path(temporary) / "decisions"
        with service.client() as client:
            books = client.collection("books")
            books.put(ranker="klrank", seed=7)
            ids = [f"item{i}" for i in range(10)]
            with open(decisions, "w", encoding="ascii") as out:
                for _ in range(20_000):
                    reply = books.rank(candidates=ids, k=10)
                    for item in reply["items"]:
                        out.write(f'"decision":"{reply["decision"]}","item":"{item["id"]}"\n')
        url = f"{service.url}/v1/collections/books/clicks"
        for size in (1, 64):
            for clients in (1, 16, 64):
                values = {"decisions": decisions, "salt": f"{size}-{clients}-", "key": key,
                          "size": size}
                base, _, _, _ = self.echo(70, CLICK_LUA % values, temporary, clients)
                rate, _, _, bad = wrk(url, CLICK_LUA % values, temporary, clients,
                                      self.options.seconds)
                assert bad == 0, f"{bad} answers were errors"
                if size == 1:
                    alone = self.sqlite(temporary, clients)
                    self.row(f"durable clicks, calls of 1, {clients} clients", rate, "clicks/s",
                             f"echo {base:,.0f}; SQLite {alone:,.0f}", rate / base, "0.60")
                else:
                    alone = self.sqlite(temporary, 64)
                    self.row(f"durable clicks, calls of 64, {clients} clients", rate * 64, "clicks/s",
                             f"SQLite {alone:,.0f}", rate * 64 / alone, "0.80")
        service.stop()

    def sqlite(self, temporary, group):
        path = pathlib.Path(temporary) / "alone.db"
        done = subprocess.run(["taskset", "-c", "0", str(self.build / "bench" / "sqlite_appends"),
                               str(path), str(group), "100", str(self.options.seconds / 2)],
                              capture_output=True, text=True, check=True)
        for suffix in ("", "-wal", "-shm"):
            pathlib.Path(str(path) + suffix).unlink(missing_ok=True)
        return float(done.stdout)

    def startup(self, temporary):
        events = 10_000_000 if self.options.full else 1_000_000
        for ranker in ("klrank", "auto"):
            self.startup_of(pathlib.Path(temporary) / ranker, ranker, events)

    def startup_of(self, folder, ranker, events):
        subprocess.run([str(self.build / "bench" / "make_log"), str(folder), str(events), ranker], check=True,
                       stdout=subprocess.DEVNULL)
        for name in ("the whole log", "a snapshot"):
            start = time.monotonic()
            service = Service(str(self.build / "hindsight"), folder)
            assert service.url, "it did not start"
            taken = time.monotonic() - start
            self.row(f"start with {events:,} events, {ranker}, {name}", taken, "s",
                     f"{events / taken:,.0f} events/s")
            service.stop()

    def scaling(self, temporary):
        rates = []
        for threads in (1, 2):
            folder = pathlib.Path(temporary) / f"data{threads}"
            done = subprocess.run([str(self.build / "bench" / "rank_scaling"), str(folder), str(threads),
                                   str(self.options.seconds)], capture_output=True, text=True, check=True)
            rates.append(float(done.stdout))
        self.row("rankings in one collection, 2 threads, no HTTP", rates[1], "lists/s",
                 f"1 thread {rates[0]:,.0f}", rates[1] / rates[0])

    def memory(self, temporary):
        self.memory_of(pathlib.Path(temporary) / "plain", "noregret-klrank", 0)
        self.memory_of(pathlib.Path(temporary) / "auto", "auto", 0)
        self.memory_of(pathlib.Path(temporary) / "links", "auto", 8)

    def memory_of(self, folder, ranker, links):
        service = Service(str(self.build / "hindsight"), folder)
        count = 1_000_000
        with service.client() as client:
            books = client.collection("books")
            books.put(ranker=ranker, memory_budget=1 << 33)
            before = resident(service.process.pid)
            batch = 10_000 // (1 + links)  # a call has a size
            for first in range(0, count, batch):
                books.add([{"id": f"item-{i:012d}", "links": [f"item-{j:012d}" for j in range(max(0, i - links), i)]}
                           for i in range(first, min(first + batch, count))])
            after = resident(service.process.pid)
            estimate = books.stats()["memory_bytes"]
        self.row(f"memory per item, ids of 17 bytes, {ranker}" + (f", {links} links" if links else ""),
                 (after - before) / count, "bytes", f"own estimate {estimate / count:.0f}")
        service.stop()


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--only", default="rank,clicks,scaling,startup,memory")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--json")
    bench = Bench(parser.parse_args())
    print("| what | measured | beside it | ratio | aim |\n|---|---|---|---|---|")
    for name in bench.options.only.split(","):
        with tempfile.TemporaryDirectory(prefix="hindsight_bench_", dir=os.environ.get("TMPDIR")) as folder:
            getattr(bench, name)(folder)
    if bench.options.json:
        pathlib.Path(bench.options.json).write_text(json.dumps({"benchmarks": bench.rows}, indent=1))


if __name__ == "__main__":
    main()
