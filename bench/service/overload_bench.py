#!/usr/bin/env python3
"""What the server does with more than it can do: capacity, then load that does not wait for answers.

    bench/service/overload_bench.py [--seconds 15] [--items 5000] [--only overload,noise] [--build build/release] [--json FILE]

capacity    rank calls of one collection as fast as answers come: what "1x" is below
overload    0.8x, 2x, 5x and 10x of it, at a fixed rate: latency of what was served, share refused, time to refuse
recovery    half of the capacity, right after 10x
noise       ten collections at a quarter of the capacity together, beside one that sends in pulses of 1 s, with pauses as long:
            2.5 times the capacity, without a rate limit; its limit and ten times that, with limits of 0.03x and 0.1x for each
            collection. Medians, over pauses and over pulses, of the percentiles of the ten; the ratio is the median of those
            of each pulse to the pause before it, so that a machine whose speed drifts does so for both, with its interval

Where the machine took the load's core away for more than 3 ms, what was due or on its way then says nothing of the
server: that share is "disturbed", and its latencies are left out.
The server gets one core and the load another. Figures are of this machine; the ratios are what counts.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import urllib.parse

QUIET = tuple(f"quiet{i}" for i in range(1, 11))
PULSE_SECONDS = 1
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "service"))
from service import Service  # noqa: E402


def write_requests(path, collections, key, items):
    """A file for open_load: rank calls over a topic, so that a small request costs the server something."""
    with open(path, "wb") as out:
        for i in range(64 * len(collections)):
            collection = collections[i % len(collections)]
            body = json.dumps({"topic": "all", "k": 10, "session": f"s{i % items}"}).encode()
            head = (f"POST /v1/collections/{collection}/rank HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n"
                    f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode()
            out.write(f"{len(head) + len(body)}\n".encode() + head + body)


def paired_ratios(pauses, pulses):
    """Of each pulse's p99 to that of the pause before it. No pause counts twice, so that the ratios are independent, and pulses
    that do no harm have a median near 1, whatever the scatter."""
    return [pulse["p99"] / pause["p99"] for pause, pulse in zip(pauses, pulses) if pause and pulse]


def median_ratio(ratios):
    """The median, and an interval of order statistics that misses the true one in less than one of 20 series."""
    ratios = sorted(ratios)
    if len(ratios) < 6:
        return {"p99_ratio": statistics.median(ratios) if ratios else None, "p99_ratio_low": None, "p99_ratio_high": None}
    outside = max(0, int((len(ratios) - 1.96 * len(ratios) ** 0.5) / 2) - 1)
    return {"p99_ratio": statistics.median(ratios), "p99_ratio_low": ratios[outside], "p99_ratio_high": ratios[-1 - outside]}


def show(value, form):
    return "" if value is None else form.format(value)


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = pathlib.Path(options.build).resolve()
        self.rows = []

    def start(self, folder, *settings):
        folder.mkdir(exist_ok=True)
        script = folder / "pinned"
        script.write_text(f'#!/bin/sh\nexec taskset -c 0 {self.build}/hindsight "$@"\n')
        script.chmod(0o755)
        self.service = Service(str(script), folder / "data", "--threads", "1", *settings)
        self.port = urllib.parse.urlsplit(self.service.url).port
        key = (self.service.folder / "admin.key").read_text().strip()
        self.files = {}
        with self.service.client(timeout=120) as client:
            for name in ("main", "noisy", *QUIET):
                books = client.collection(name)
                books.put(ranker="klrank", seed=7, max_open=100_000)
                books.add([{"id": f"item{i}", "topics": ["all"]} for i in range(self.options.items)])
        for name, collections in {"main": ("main",), "noisy": ("noisy",), "quiet": QUIET}.items():
            self.files[name] = folder / f"{name}.requests"
            write_requests(self.files[name], collections, key, self.options.items)

    def load(self, connections, rates, seconds=None, *pulse):
        """Sends at the rate that each collection has in `rates`, and returns what came back for each."""
        command = ["taskset", "-c", "1", str(self.build / "bench" / "open_load"), str(self.port),
                   str(seconds or self.options.seconds), str(connections)]
        for name, rate in rates.items():
            command += [str(rate), str(self.files[name])]
        command += pulse
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return dict(zip(rates, (json.loads(line) for line in done.stdout.splitlines())))

    def main(self, rate, connections=4000, seconds=None):
        return self.load(connections, {"main": rate}, seconds)["main"]

    def row(self, name, result, base_p99=None, capacity=None, seconds=None):
        served = result["statuses"].get("200", 0)
        answered = max(1, sum(result["statuses"].values()))
        row = {"name": name, "served_per_s": served / (seconds or self.options.seconds),
               "share_refused": 1 - served / answered, "late": result["late"], "disturbed": result["disturbed"] / answered,
               "p50_ms": result["served"]["p50"] if result["served"] else None,
               "p99_ms": result["served"]["p99"] if result["served"] else None,
               "refusal_p99_ms": result["refused"]["p99"] if result["refused"] else None,
               "others": {s: n for s, n in result["statuses"].items() if s not in ("200", "429", "503")}}
        row["p99_ratio"] = row["p99_ms"] / base_p99 if base_p99 and row["p99_ms"] else None
        row["goodput"] = row["served_per_s"] / capacity if capacity else None
        self.rows.append(row)

        print(f"| {name} | {row['served_per_s']:,.0f} | {show(row['goodput'], '{:.2f}')} | {show(row['p50_ms'], '{:.2f}')} | "
              f"{show(row['p99_ms'], '{:.2f}')} | {show(row['p99_ratio'], '{:.1f}')} | {row['share_refused']:.2f} | "
              f"{show(row['refusal_p99_ms'], '{:.2f}')} | {row['late'] + sum(row['others'].values())} | {row['disturbed']:.4f} |", flush=True)
        return row

    def noise(self, capacity, name, rate):
        """Ten collections at a quarter of the capacity together, beside a noisy one that comes and goes."""
        results = self.load(4000, {"quiet": 0.25 * capacity, "noisy": rate}, 8 * self.options.seconds, "pulse", str(PULSE_SECONDS))
        quiet, noisy = results["quiet"], results["noisy"]
        refused = 1 - noisy["statuses"].get("200", 0) / sum(noisy["statuses"].values())

        def over_pulses(part, quantile):
            """None where all of it was disturbed."""
            values = [pulse[quantile] for pulse in quiet[part] if pulse]
            return statistics.median(values) if values else None
        row = {"name": name, "pulses": len(quiet["beside"]), "noisy_p99_ms": noisy["served"]["p99"] if noisy["served"] else None,
               "noisy_refused": refused, "quiet_sent": quiet["sent"],
               "quiet_refused": sum(n for s, n in quiet["statuses"].items() if s != "200")}
        for quantile in ("p50", "p99"):
            row |= {f"{part}_{quantile}_ms": over_pulses(part, quantile) for part in ("alone", "beside")}
        row["p99_ratios"] = paired_ratios(quiet["alone"], quiet["beside"])
        row |= median_ratio(row["p99_ratios"])
        self.rows.append(row)
        figures = ("alone_p50_ms", "beside_p50_ms", "alone_p99_ms", "beside_p99_ms", "p99_ratio", "p99_ratio_low", "p99_ratio_high", "noisy_p99_ms")
        print(f"| {name} | " + " | ".join(show(row[figure], "{:.2f}") for figure in figures) +
              f" | {refused:.2f} | {row['quiet_refused']} |", flush=True)

    def overload(self, capacity):
        base = self.row("0.8x", self.main(0.8 * capacity), capacity=capacity)["p99_ms"]
        for factor in (2, 5, 10):
            self.row(f"{factor}x", self.main(factor * capacity), base, capacity)
        self.row("0.5x in the second after 10x", self.main(0.5 * capacity, seconds=1), base, capacity, 1)

    def run(self, folder):
        parts = self.options.only.split(",")
        self.start(folder)
        print("| load | served/s | of capacity | p50 ms | p99 ms | p99 against 0.8x | refused | p99 of a refusal, ms | not sent or lost | disturbed |\n"
              "|---|---|---|---|---|---|---|---|---|---|")
        self.main(0, 16)  # warm
        capacity = self.row("capacity (16 clients, closed loop)", self.main(0, 16))["served_per_s"]
        if "overload" in parts:
            self.overload(capacity)
        if "noise" in parts:
            print("\n| ten quiet collections, beside one at | p50 alone, ms | beside | p99 alone | beside | ratio | from | to | p99 of the noisy one | its refused | of the quiet ones |\n"
                  "|---|---|---|---|---|---|---|---|---|---|---|")
            self.noise(capacity, "2.5x, no limit", 2.5 * capacity)
        assert self.service.stop() == 0
        for share in (0.03, 0.1) if "noise" in parts else ():
            self.start(folder / f"limited{share}", "--collection-rate", f"{share * capacity:.0f}", "--collection-burst", "30")
            self.load(4000, {"quiet": 0.25 * capacity}, 2)  # warm
            for times in (1, 10):
                self.noise(capacity, f"{times}x its limit of {share}x", times * share * capacity)
            assert self.service.stop() == 0
        if self.options.json:
            pathlib.Path(self.options.json).write_text(json.dumps({"benchmarks": self.rows}, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--only", default="overload,noise")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--json")
    with tempfile.TemporaryDirectory(prefix="hindsight_bench_", dir=os.environ.get("TMPDIR")) as folder:
        Bench(parser.parse_args()).run(pathlib.Path(folder))


if __name__ == "__main__":
    main()
