#!/usr/bin/env python3
"""A client of the Hindsight server that needs nothing beyond Python's standard library.

    from hindsight_client import Client
    books = Client("http://127.0.0.1:8080", key).collection("books")
    books.put()
    reply = books.rank(candidates=["b1", "b2", "b3"], k=3)
    books.click(reply["decision"], "b2", event="click-17")

Run as a program it shows an order being learned:

    python3 hindsight_client.py http://127.0.0.1:8080 "$(cat hindsight-data/admin.key)"

A Client holds one connection and belongs to one thread at a time.
"""
import collections
import http.client
import json
import random
import sys
import urllib.parse
import uuid


class HindsightError(Exception):
    """An answer that says no. `code` is stable; `field` names the part of the request."""

    def __init__(self, status, error):
        self.status = status
        self.code = error.get("code", "")
        self.field = error.get("field", "")
        place = f"{self.field}: " if self.field else ""
        super().__init__(f"{status} {self.code}: {place}{error.get('message', '')}")


class Client:
    def __init__(self, url, key, timeout=30):
        parts = urllib.parse.urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.netloc, timeout=timeout)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def call(self, method, path, body=None):
        """RETURNS: the answer's JSON, or None where there is no body. RAISES: HindsightError, OSError"""
        data = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, data, self._headers)
            response = self._connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()  # the next call connects anew
            raise
        answer = json.loads(text) if text else None
        if response.status >= 400:
            raise HindsightError(response.status, (answer or {}).get("error", {}))
        return answer

    def collections(self):
        return self.call("GET", "/v1/collections")["collections"]

    def collection(self, name):
        return Collection(self, name)

    def close(self):
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Collection:
    def __init__(self, client, name):
        self._client = client
        self._path = "/v1/collections/" + urllib.parse.quote(name, safe="")

    def put(self, **settings):
        return self._client.call("PUT", self._path, settings)

    def delete(self):
        self._client.call("DELETE", self._path)

    def add(self, items):
        """`items`: ids, or dicts with id, topics, features, links."""
        items = [{"id": item} if isinstance(item, str) else item for item in items]
        return self._client.call("POST", self._path + "/items", {"items": items})

    def item(self, item):
        return self._client.call("GET", self._item_path(item))

    def items(self):
        """Goes through all items, page by page."""
        cursor = ""
        while True:
            query = urllib.parse.urlencode({"cursor": cursor} if cursor else {})
            page = self._client.call("GET", f"{self._path}/items?{query}")
            yield from page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def remove(self, item):
        self._client.call("DELETE", self._item_path(item))

    def rank(self, **request):
        """candidates=[...] or topic=...; k, query, user, session, group, context_key, prior, ..."""
        return self._client.call("POST", self._path + "/rank", request)

    def click(self, decision, item=None, event=None, position=None, ranking=None):
        """One of item, its position in the list from 1, and a ranking of the whole list, best first. Safe to repeat:
        the same event counts once. Without one, (decision, item) does."""
        said = {"item": item, "event": event, "position": position, "ranking": ranking}
        return self.clicks([{"decision": decision, **{key: what for key, what in said.items() if what is not None}}])

    def clicks(self, clicks):
        return self._client.call("POST", self._path + "/clicks", {"clicks": clicks})

    def stats(self):
        return self._client.call("GET", self._path + "/stats")

    def history(self, points=500):
        """RETURNS: up to so many moments, oldest first: costs, regret, rates."""
        return self._client.call("GET", f"{self._path}/history?points={points}")["points"]

    def decision(self, decision):
        return self._client.call("GET", f"{self._path}/decisions/{decision}")

    def _item_path(self, item):
        return f"{self._path}/items/{urllib.parse.quote(item, safe='')}"


def show(books, wishes):
    """RETURNS: how often each book was shown first in 100 lists."""
    first = collections.Counter()
    for _ in range(100):
        first[books.rank(candidates=list(wishes), k=3)["items"][0]["id"]] += 1
    return "  ".join(f"{book} {first[book]:3d}" for book in wishes)


def tour(client):
    name = "client-tour-" + uuid.uuid4().hex[:8]
    books = client.collection(name)
    books.put()
    wishes = {"algebra": 1, "calculus": 6, "topology": 3}  # how much readers like each book
    print("first of 100 lists, before:", show(books, wishes))
    readers = random.Random(7)  # the same readers every time
    for _ in range(500):
        decision = books.rank(candidates=list(wishes), k=3)["decision"]
        book = readers.choices(list(wishes), weights=wishes.values())[0]
        books.click(decision, book, event=uuid.uuid4().hex)
    print("first of 100 lists, after: ", show(books, wishes))
    stats = books.stats()
    print(f"clicks learned: {stats['clicks']['learned']}, model {stats['model_hash'][:8]}")
    books.delete()


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} URL KEY")
    with Client(sys.argv[1], sys.argv[2]) as client:
        tour(client)


if __name__ == "__main__":
    main()
