#!/usr/bin/env python3
"""Holds the documents against the tree: paths exist, folders are named, papers are listed, commands work as printed.

Usage: docs_test.py SOURCE_FOLDER PROGRAM
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(2)).resolve()
SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "service"))
from service import Service  # noqa: E402
PAGES = sorted([*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md")])
TEXT_FILES = ("*.md", "*.h", "*.cc", "*.py")

PATH = re.compile(r"(?:\./)?[\w.-]+(?:/[\w.-]+)*/?")
SUFFIXES = (".md", ".h", ".cc", ".sh", ".py", ".cmake", ".json", ".txt")
# Made by running the program, or sent by the reader.
NOT_OURS = re.compile(r"build/.*|(\./)?hindsight-data.*|[A-Z]+/.*|/.*|report\.(html|json)|papers\.tsv|citations\.tsv")


def named_paths(text):
    """What a page names as a file or folder: links, and code spans that look like paths."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        if "://" not in target:
            yield target
    for span in re.findall(r"`([^`\n]+)`", prose):
        word = span.split()[0]
        looks_like_path = "/" in word or word.endswith(SUFFIXES)
        if looks_like_path and PATH.fullmatch(word) and not NOT_OURS.fullmatch(word):
            yield word


def missing_paths(text, folders):
    return [path for path in named_paths(text) if not any((folder / path).exists() for folder in folders)]


def printed_commands(text):
    """The lines of a page's shell blocks that run the program."""
    for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL):
        for line in block.splitlines():
            if line.startswith("build/hindsight "):
                yield shlex.split(line, comments=True)[1:]


class Checker(unittest.TestCase):
    """The checks below can fail: here they do."""

    def test_missing_link_and_missing_span_are_found(self):
        text = "[gone](no/such.md) and `src/no_such.h`, but `README.md`, `a b`, `hindsight::core` and `build/hindsight`"
        self.assertEqual(missing_paths(text, [SOURCE]), ["no/such.md", "src/no_such.h"])

    def test_commands_are_read_from_shell_blocks_only(self):
        text = "```sh\nbuild/hindsight rankers  # all\n./test\n```\n```\nbuild/hindsight bench\n```"
        self.assertEqual(list(printed_commands(text)), [["rankers"]])


class Documents(unittest.TestCase):
    def test_every_path_that_is_named_exists(self):
        for page in PAGES:
            with self.subTest(page=page.name):
                # A page may name a header as its users include it.
                folders = [SOURCE, page.parent, SOURCE / "include/hindsight"]
                self.assertEqual(missing_paths(page.read_text(), folders), [])

    def test_architecture_names_every_folder(self):
        text = (SOURCE / "ARCHITECTURE.md").read_text()
        tracked = subprocess.run(["git", "-c", "safe.directory=*", "-C", SOURCE, "ls-files"], capture_output=True,
                                 text=True, check=True).stdout.splitlines()
        tops = {path.split("/")[0] for path in tracked if "/" in path} - {"src", "include"}
        folders = {f"{top}/" for top in tops} | {"/".join(path.split("/")[:2]) + "/" for path in tracked
                                                 if path.startswith("src/") and path.count("/") > 1}
        unnamed = [folder for folder in sorted(folders) if f"`{folder}`" not in text]
        self.assertEqual(unnamed, [])

    def test_every_paper_that_is_cited_is_listed(self):
        key = re.compile(r"\[([A-Z][A-Za-z]+\d\d)\]")
        listed = set(key.findall((SOURCE / "docs/references.md").read_text()))
        for folder in ("include", "src", "tests", "docs", "fuzz", "bench", "examples"):
            for pattern in TEXT_FILES:
                for file in (SOURCE / folder).rglob(pattern):
                    unknown = set(key.findall(file.read_text())) - listed
                    self.assertEqual(unknown, set(), f"{file} cites what docs/references.md does not list")

    def test_table_of_rankers_is_current(self):
        printed = subprocess.run([PROGRAM, "rankers", "--markdown"], capture_output=True, text=True, check=True).stdout
        self.assertEqual((SOURCE / "docs/rankers.md").read_text(), printed,
                         "run `build/hindsight rankers --markdown > docs/rankers.md`")

    def test_table_of_settings_is_current(self):
        page = (SOURCE / "docs/operations.md").read_text()
        rows = re.findall(r"^\| `(\w+)` \| ([^|]*)\| ([^|]+) \|$", page.split("## Settings")[1].split("## ")[0],
                          flags=re.MULTILINE)
        text = " ".join(subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True,
                                       check=True).stdout.split())
        flags = set(re.findall(r"(?<!\S)--([a-z-]+)", text.split("Flags come before")[0]))
        flags -= {"help", "config", "check-config", "demo"}
        self.assertEqual({name.replace("_", "-") for name, _, _ in rows}, flags)
        for name, default, meaning in rows:
            shown = f"={default.strip()}" if default.strip() not in ("", "false") else ""
            self.assertRegex(text, re.escape("--" + name.replace("_", "-")) + r"( [A-Z,]+)?" + re.escape(f"{shown} {meaning}"))

    def test_readme_commands_work_as_printed(self):
        commands = list(printed_commands((SOURCE / "README.md").read_text()))
        self.assertGreaterEqual(len(commands), 3)
        with tempfile.TemporaryDirectory() as folder:
            for arguments in commands:
                done = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")

    def test_readme_tour_works_as_printed(self):
        text = (SOURCE / "README.md").read_text()
        blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
        first = next(i for i, block in enumerate(blocks) if block.startswith("call()"))
        tour = "".join(block for block in blocks[first:] if "call" in block)
        with tempfile.TemporaryDirectory() as folder:
            service = Service(str(PROGRAM), pathlib.Path(folder) / "hindsight-data")
            try:
                self.assertIsNotNone(service.url)
                # The port may be in use here; everything else is as printed.
                script = tour.replace("http://127.0.0.1:8080", service.url)
                self.assertNotEqual(script, tour)
                done = subprocess.run(["bash", "-euc", script], cwd=folder, capture_output=True, text=True)
            finally:
                service.stop()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(answers[1]["added"], 3)
        self.assertEqual({round(item["prob_first"], 6) for item in answers[2]["items"]}, {0.333333})
        after = {item["id"]: item["prob_first"] for item in answers[3]["items"]}
        self.assertGreater(after["topology"], 0.9)
        self.assertEqual(answers[4]["clicks"]["learned"], 30)


if __name__ == "__main__":
    unittest.main(verbosity=2)
