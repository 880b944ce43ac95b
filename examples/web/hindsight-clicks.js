// Reports clicks on a ranked list from a web page. No dependencies; load it as a module:
//
//   <ol data-hindsight-decision="d_…"> <li><a href="…" data-hindsight-item="b1">…</a></li> … </ol>
//   <script type="module">
//     import { reportClicks } from "./hindsight-clicks.js";
//     reportClicks({ url: "https://rank.example", collection: "books", key: "a publishable key" });
//   </script>
//
// A click is sent while the browser already loads the next page. One that could not be sent is kept
// and sent again from the next page of the same tab; its event id makes a repeat harmless.

const KEPT = "hindsight-clicks";
const MOST_KEPT = 100;

function kept() {
  try {
    const clicks = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(clicks) ? clicks : [];
  } catch {
    return [];
  }
}

function keep(clicks) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(clicks.slice(-MOST_KEPT)));
  } catch {
    // A browser without storage loses what it cannot send.
  }
}

/** Starts to report the clicks of this page. Returns a function that stops it. */
export function reportClicks({ url, collection, key, onError = console.warn }) {
  const address = `${url}/v1/collections/${encodeURIComponent(collection)}/clicks`;

  async function send(clicks) {
    const answer = await fetch(address, {
      method: "POST",
      keepalive: true, // outlives the page
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ clicks }),
    });
    if (answer.ok) {
      return;
    }
    const { error } = await answer.json().catch(() => ({ error: {} }));
    const problem = new Error(error?.message ?? `status ${answer.status}`);
    problem.final = answer.status < 500 && answer.status !== 429; // the same again would fail again
    throw problem;
  }

  async function flush() {
    const waiting = kept();
    if (waiting.length === 0) {
      return;
    }
    try {
      await send(waiting);
      const sent = new Set(waiting.map((click) => click.event));
      keep(kept().filter((click) => !sent.has(click.event)));
    } catch (problem) {
      if (problem.final) {
        keep([]);
      }
      onError(problem);
    }
  }

  function clicked(event) {
    const item = event.target.closest?.("[data-hindsight-item]");
    const list = item?.closest("[data-hindsight-decision]");
    if (!list) {
      return;
    }
    keep([...kept(), {
      decision: list.dataset.hindsightDecision,
      item: item.dataset.hindsightItem,
      event: Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("-"),
    }]);
    void flush();
  }

  document.addEventListener("click", clicked, true);
  document.addEventListener("auxclick", clicked, true); // a new tab by the middle button
  void flush();
  return () => {
    document.removeEventListener("click", clicked, true);
    document.removeEventListener("auxclick", clicked, true);
  };
}
