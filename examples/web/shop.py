#!/usr/bin/env python3
"""A book shop of one file, in plain Python: its own search finds and scores, Hindsight orders, the browser reports clicks.

    hindsight serve                                            # in one terminal
    python3 examples/web/shop.py --data hindsight-data         # in another; then open http://127.0.0.1:8000/

The shop's back end holds a key that may rank; the page holds a publishable one, which can only report clicks, only from
this shop's address. With --data the shop makes both keys itself; a real one is given its keys.
"""
import argparse
import html
import http.server
import json
import pathlib
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COLLECTION = "shop"
SHOWN = 10

SUBJECTS = ["gardens", "stars", "bread", "islands", "numbers", "rivers"]
KINDS = ["A History of {}", "The Art of {}", "{} for Beginners", "{} and Silence", "The Book of {}", "Lost {}", "A Year of {}",
         "{} at Night"]
BOOKS = {f"{subject}-{i}": kind.format(subject.capitalize()) for subject in SUBJECTS for i, kind in enumerate(KINDS)}

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A small book shop</title>
<link rel="stylesheet" href="/shop.css">
</head>
<body>
<h1>A small book shop</h1>
<form action="/" role="search"><label>Find books <input name="q" value="{query}"></label> <button>Search</button></form>
<ol data-hindsight-decision="{decision}">
{rows}
</ol>
<p>{note}</p>
<script type="module" src="/page.js" data-url="{url}" data-key="{key}" data-collection="{collection}"></script>
</body>
</html>
"""


def search(query):
    """The shop's own engine: books whose title has a word of the query, with a score. All of them for an empty query."""
    words = query.lower().split()
    found = [(book, sum(word in title.lower() for word in words)) for book, title in BOOKS.items()]
    return [(book, float(hits)) for book, hits in found if hits > 0 or not words]


class Ranker:
    """Asks Hindsight for an order. Where it cannot answer, the shop goes on with its own."""

    def __init__(self, url, key):
        self.url = url
        self.key = key

    def call(self, method, path, body):
        request = urllib.request.Request(f"{self.url}/v1/collections/{COLLECTION}{path}", method=method,
                                         data=json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=1) as answer:
            return json.load(answer)

    def order(self, query, found):
        candidates = [{"id": book, "prior": score} for book, score in found]
        try:
            answer = self.call("POST", "/rank", {"query": query, "candidates": candidates, "k": min(SHOWN, len(found))})
            return answer["decision"], [item["id"] for item in answer["items"]]
        except (OSError, ValueError, KeyError) as problem:
            print(f"shop: the own order is shown, for Hindsight did not answer: {problem}", file=sys.stderr)
            return "", [book for book, _ in sorted(found, key=lambda pair: -pair[1])[:SHOWN]]


class Shop(http.server.BaseHTTPRequestHandler):
    ranker = None
    clicks_key = ""

    def do_GET(self):  # pylint: disable=invalid-name
        path, _, query = self.path.partition("?")
        if path == "/":
            text = urllib.parse.parse_qs(query).get("q", [""])[0]
            self.reply("text/html; charset=utf-8", self.page(text))
        elif path in ("/page.js", "/hindsight-clicks.js"):
            self.reply("text/javascript; charset=utf-8", (HERE / path[1:]).read_text())
        elif path == "/shop.css":
            self.reply("text/css; charset=utf-8", (HERE / "shop.css").read_text())
        elif path.startswith("/books/") and path[len("/books/"):] in BOOKS:
            title = html.escape(BOOKS[path[len("/books/"):]])
            self.reply("text/html; charset=utf-8", f"<!doctype html><title>{title}</title><h1>{title}</h1><p><a href='/'>Back</a></p>")
        else:
            self.send_error(404)

    def page(self, query):
        found = search(query)
        decision, order = self.ranker.order(query, found) if len(found) > 1 else ("", [book for book, _ in found])
        rows = "\n".join(f'<li><a href="/books/{book}" data-hindsight-item="{book}">{html.escape(BOOKS[book])}</a></li>' for book in order)
        note = f"{len(found)} books found." if found else "Nothing found. Try gardens, stars, bread, islands, numbers or rivers."
        return PAGE.format(query=html.escape(query), decision=decision, rows=rows, note=note, url=html.escape(self.ranker.url),
                           key=html.escape(self.clicks_key), collection=COLLECTION)

    def reply(self, kind, text):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def make_key(program, data, *options):
    made = subprocess.run([program, "key", "add", "--data", data, "--collections", COLLECTION, *options], check=True,
                          capture_output=True, text=True)
    return made.stdout.split()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hindsight", default="http://127.0.0.1:8080", metavar="URL", help="where the server is")
    parser.add_argument("--port", type=int, default=8000, help="the shop's own")
    parser.add_argument("--data", metavar="DIR", help="the server's data folder: make the keys and the collection")
    parser.add_argument("--program", default=str(ROOT / "build" / "hindsight"), help="the hindsight program, to make keys")
    parser.add_argument("--rank-key", default="", help="instead of --data: a key of role rank")
    parser.add_argument("--clicks-key", default="", help="instead of --data: a publishable key for this shop's address")
    options = parser.parse_args()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Shop)
    address = f"http://127.0.0.1:{server.server_port}"
    if options.data:
        admin = Ranker(options.hindsight, (pathlib.Path(options.data) / "admin.key").read_text().strip())
        admin.call("PUT", "", {})
        options.rank_key = make_key(options.program, options.data, "--role", "rank")
        options.clicks_key = make_key(options.program, options.data, "--role", "publishable", "--origins", address)
    if not options.rank_key or not options.clicks_key:
        parser.error("give --data, or --rank-key and --clicks-key")
    Shop.ranker = Ranker(options.hindsight, options.rank_key)
    Shop.clicks_key = options.clicks_key
    print(f"the shop is open at {address}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
