#!/usr/bin/env python3
"""Runs clang-tidy over the sources of src/, warnings as errors, and remembers what was clean.

A file is skipped when nothing that its result depends on has changed since it was last clean: its text, the
project's headers that it includes (as the build recorded them), its compile command, .clang-tidy and the
version of clang-tidy. Usage: scripts/check_tidy.py [build folder]
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-14"


def recorded_headers(build):
    """Object file -> the project's files that it was made from, from ninja's record of the last build."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    headers, current = {}, None
    for line in text.splitlines():
        if line.startswith("    "):
            path = pathlib.Path(os.path.normpath(build / line.strip()))
            if path.is_relative_to(ROOT):
                headers[current].append(path)
        elif ": #deps" in line:
            current = line.split(": #deps")[0]
            headers[current] = []
    return headers


def fingerprint(command, headers, common):
    digest = hashlib.sha256(common)
    digest.update(command["command"].replace(str(ROOT), "").encode())
    for path in sorted({pathlib.Path(command["file"]), *headers}):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def object_file(command):
    words = shlex.split(command["command"])
    return words[words.index("-o") + 1]


def tidy_arguments(command):
    """The compile command for clang-tidy, without ccache before it."""
    words = shlex.split(command["command"])
    words = words[1:] if words[0].endswith("ccache") else words
    return [TIDY, "--quiet", "--warnings-as-errors=*", command["file"], "--", *words[1:]]


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
    # Beside ccache's, so that a fresh clone of the same text is quick.
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hindsight-tidy"
    cache.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes()

    headers = recorded_headers(build)
    commands = [c for c in json.loads((build / "compile_commands.json").read_text())
                if pathlib.Path(c["file"]).is_relative_to(ROOT / "src")]
    if not commands:
        sys.exit(f"check_tidy: no source of src/ in {build}/compile_commands.json; build first")
    pending = []
    for command in commands:
        mark = cache / fingerprint(command, headers.get(object_file(command), []), common)
        if not mark.exists():
            pending.append((command, mark))
    print(f"check_tidy: {len(commands)} files, {len(commands) - len(pending)} known to be clean", flush=True)

    def run(job):
        command, mark = job
        start = time.monotonic()
        done = subprocess.run(tidy_arguments(command), cwd=command["directory"], capture_output=True, text=True)
        if done.returncode == 0:
            mark.touch()
        return command["file"], done, time.monotonic() - start

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, done, seconds in pool.map(run, pending):
            print(f"  {seconds:5.1f} s  {pathlib.Path(file).relative_to(ROOT)}", flush=True)
            if done.returncode != 0:
                failed += 1
                # stderr counts what was found in headers of others, and says nothing else unless clang-tidy itself failed.
                print(done.stdout or done.stderr, flush=True)
    if failed:
        sys.exit(f"check_tidy: {failed} files have findings")
    print("check_tidy: clean")


if __name__ == "__main__":
    main()
