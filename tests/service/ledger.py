"""Clients that rank and click, and what they write down: the server is held to it."""
import random
import threading

from hindsight_client import HindsightError  # found by service.py


class Ledger:
    """What the outside world knows: decisions that it was given, clicks that it sent."""

    def __init__(self):
        self.lock = threading.Lock()
        self.decisions = set()
        self.repeated = []       # decision ids that came twice
        self.acknowledged = {}   # event -> (decision, item)
        self.unanswered = {}     # sent, and the connection broke
        self.accepted = 0

    def decision(self, decision):
        with self.lock:
            if decision in self.decisions:
                self.repeated.append(decision)
            self.decisions.add(decision)


class Caller(threading.Thread):
    """Ranks and clicks over a connection of its own until the server goes away."""

    def __init__(self, service, ledger, seed):
        super().__init__(daemon=True)
        self.client = service.client(timeout=20)
        self.ledger = ledger
        self.random = random.Random(seed)
        self.wrong = None
        self.refused = None

    def run(self):
        books = self.client.collection("books")
        try:
            while True:
                self.one_round(books)
        except HindsightError as error:
            if error.status != 503:  # it may be shutting down, or its disk is full
                self.wrong = error
            self.refused = error
        except Exception:  # pylint: disable=broad-except
            pass  # the connection broke: the server was killed
        finally:
            self.client.close()

    def one_round(self, books):
        first = self.random.randrange(200)
        items = [f"item{first + i}" for i in range(8)]
        reply = books.rank(candidates=items, k=5)
        self.ledger.decision(reply["decision"])
        shown = [item["id"] for item in reply["items"]]
        clicks = []
        for item in self.random.sample(shown, self.random.randrange(3)):
            event = f"{self.random.getrandbits(64):x}"
            clicks.append({"decision": reply["decision"], "item": item, "event": event})
        if clicks:
            send(books, clicks, self.ledger)


def send(books, clicks, ledger):
    """Sends clicks and writes down what became of them."""
    with ledger.lock:
        for click in clicks:
            ledger.unanswered[click["event"]] = click
    answer = books.clicks(clicks)
    with ledger.lock:
        for click in clicks:
            del ledger.unanswered[click["event"]]
            ledger.acknowledged[click["event"]] = click
        ledger.accepted += answer["accepted"]
    return answer
