#!/usr/bin/env python3
"""Installs the library into an empty prefix, builds examples/embed against it, and runs the example.

Usage: package_test.py SOURCE_FOLDER BUILD_FOLDER
"""
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(condition, what):
    if not condition:
        sys.exit(f"package_test: {what}")


with tempfile.TemporaryDirectory() as folder:
    prefix, example = pathlib.Path(folder, "prefix"), pathlib.Path(folder, "example")
    run("cmake", "--install", BUILD, "--prefix", prefix)

    installed = {path.name for path in (prefix / "include/hindsight").iterdir()}
    public = {path.name for path in (SOURCE / "include/hindsight").iterdir()}
    expect(installed == public, f"headers installed {sorted(installed)}, public {sorted(public)}")
    expect(not list(prefix.rglob("*hindsight_flags*")), "our warning flags must not reach a user")
    exported = "".join(path.read_text() for path in prefix.rglob("*.cmake"))
    for leak in (str(SOURCE), "-Werror"):
        expect(leak not in exported, f"the package mentions {leak}")
    version = run(prefix / "bin/hindsight", "--version")
    expect(re.fullmatch(r"hindsight \d+\.\d+\.\d+\n", version), f"odd version {version!r}")

    run("cmake", "-S", SOURCE / "examples/embed", "-B", example, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", example)
    lines = run(example / "embed").splitlines()
    orders = dict(line.split(": ") for line in lines[:3])
    expect(orders["after 60 clicks"].startswith("Drawing Calculus "), f"the clicks did not lead: {orders}")
    expect(orders["loaded again"] == orders["after 60 clicks"], f"loading changed the order: {orders}")
    expect(lines[3].endswith("the loaded model is the same"), lines[3])
    print("\n".join(lines))
