#!/usr/bin/env python3
"""Opens the sample report in a headless browser and checks what became of it.

usage: report_in_browser.py WRITE_SAMPLE_REPORT
The argument is the program that writes the sample; it has four charts and hostile names in it.
"""

import html.parser
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WRITER = sys.argv.pop(1)
CHARTS = 4

# Runs in the page, where the policy has been taken out: a legend switches its series, a tooltip appears.
PLAY = """
const over = document.querySelectorAll(".u-over")[2];
const button = document.querySelectorAll("#plot-2")[0].parentNode.querySelector(".legend button");
const before = document.querySelectorAll("#plot-2 canvas")[0].toDataURL();
button.click();
setTimeout(() => {
  const result = document.documentElement.dataset;
  result.pressed = button.getAttribute("aria-pressed");
  result.redrawn = String(document.querySelectorAll("#plot-2 canvas")[0].toDataURL() !== before);
  const box = over.getBoundingClientRect();
  over.dispatchEvent(new MouseEvent("mousemove",
    { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true }));
  setTimeout(() => { result.tip = over.querySelector(".tip").textContent; }, 300);
}, 300);
"""


class Dom(html.parser.HTMLParser):
    """What the page became: its elements, and the texts of titles and of the error notice."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.root = {}
        self.problem_shown = None
        self.title = ""
        self._in_title = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if tag == "html":
            self.root = attrs
        if attrs.get("id") == "problem":
            self.problem_shown = "hidden" not in attrs
        self._in_title = tag == "title"

    def handle_endtag(self, tag):
        self._in_title = False

    def handle_data(self, data):
        if self._in_title:
            self.title += data


def browser():
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        sys.exit("chromium is not installed; scripts/install_deps.sh installs it")
    return found


class ReportInBrowser(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self._folder.name)
        page = self.folder / "sample.html"
        subprocess.run([WRITER, str(page)], check=True)
        self.page = page.read_text(encoding="utf-8")

    def tearDown(self):
        self._folder.cleanup()

    def open(self, page, width=1200):
        path = self.folder / "page.html"
        path.write_text(page, encoding="utf-8")
        out = subprocess.run(
            [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             f"--user-data-dir={self.folder / 'profile'}", f"--window-size={width},2400",
             "--virtual-time-budget=4000", "--dump-dom", path.as_uri()],
            check=True, capture_output=True, timeout=120)
        return Dom(out.stdout.decode("utf-8"))

    def change(self, old, new):
        self.assertEqual(self.page.count(old), 1, old)
        return self.page.replace(old, new)

    def without_policy(self, script):
        start = self.page.index("<meta http-equiv")
        page = self.page[:start] + self.page[self.page.index("\n", start):]
        return page.replace("</body>", f"<script>{script}</script></body>")

    def test_charts_are_drawn_without_errors_on_a_screen_and_on_a_phone(self):
        for width in (1200, 390):
            dom = self.open(self.page, width)
            self.assertEqual(dom.root.get("data-charts-drawn"), str(CHARTS))
            self.assertEqual(dom.tags.count("canvas"), CHARTS)
            self.assertIs(dom.problem_shown, False)

    def test_hostile_names_stay_text(self):
        dom = self.open(self.page)
        self.assertNotIn("b", dom.tags)
        self.assertEqual(dom.tags.count("script"), 2)

    def test_a_foreign_script_is_not_run(self):
        dom = self.open(self.change("</main>", "<script>document.title = 'broken';</script></main>"))
        self.assertNotEqual(dom.title, "broken")

    def test_a_changed_script_is_not_run(self):
        end = self.page.rindex("</script>")
        dom = self.open(self.page[:end] + " " + self.page[end:])
        self.assertEqual(dom.tags.count("canvas"), 0)

    def test_broken_data_show_the_notice(self):
        dom = self.open(self.change('{"charts":[', '{"charts":[{},'))
        self.assertIs(dom.problem_shown, True)

    def test_a_legend_switches_its_series_and_a_tooltip_tells_the_values(self):
        dom = self.open(self.without_policy(PLAY))
        self.assertEqual(dom.root.get("data-pressed"), "false")
        self.assertEqual(dom.root.get("data-redrawn"), "true")
        self.assertIn("queries", dom.root.get("data-tip"))
        self.assertIn("random", dom.root.get("data-tip"))
        self.assertNotIn("noregret-klrank", dom.root.get("data-tip"))


if __name__ == "__main__":
    unittest.main()
