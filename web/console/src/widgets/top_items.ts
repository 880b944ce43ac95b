// The items with the highest scores, and how the scores moved while the page was open.
import { ApiError } from "../api";
import { onReconnect, repeat, run, type Context } from "../context";
import { fill, h } from "../dom";
import { count, figure } from "../format";
import { collectionLink } from "../router";
import { noteScores, scoresOf } from "../score_history";
import type { Item } from "../types";
import { help } from "./help";
import { sparkline } from "./sparkline";
import { empty, failed, loading } from "./states";

const REFRESH_MS = 3000;

export function trend(collection: string, id: string): Node {
  const scores = scoresOf(collection, id).map((sample) => sample.score);
  if (scores.length < 2) {
    return h("span", { class: "soft small" }, "just begun");
  }
  const change = (scores[scores.length - 1] ?? 0) - (scores[0] ?? 0);
  const words = change === 0 ? "unchanged" : `${change > 0 ? "up" : "down"} ${figure(Math.abs(change))}`;
  return sparkline(scores, `Score ${words} since the page was opened`);
}

/** `last`: what the last column shows. */
export function itemTable(collection: string, caption: string, items: Item[], last: "history" | "topics"): HTMLElement {
  const history = last === "history";
  return h("div", { class: "scroll" }, h("table", { class: "items" },
    h("caption", { class: "unseen" }, caption),
    h("thead", {}, h("tr", {},
      h("th", { scope: "col" }, "Item"),
      h("th", { scope: "col", class: "right" }, "Score", help("score", "a score")),
      h("th", { scope: "col", class: "right" }, "Picks", help("picks", "the number of picks")),
      history ? h("th", { scope: "col" }, "History", help("score_history", "the score's history")) : h("th", { scope: "col" }, "Topics"))),
    h("tbody", {}, ...items.map((item) => h("tr", {},
      h("th", { scope: "row" }, h("a", { href: collectionLink(collection, "items", item.id) }, item.id)),
      h("td", { class: "right" }, figure(item.score)),
      h("td", { class: "right" }, count(item.picks)),
      history ? h("td", {}, trend(collection, item.id)) : h("td", { class: "wrap soft" }, item.topics.join(", ")))))));
}

export function topItems(context: Context, collection: string, limit: number): HTMLElement {
  const body = h("div", {}, loading("the top items"));
  const load = async (): Promise<void> => {
    const page = await context.api.items(collection, { sort: "score", limit }, context.signal);
    noteScores(collection, page.items, Date.now());
    if (body.contains(document.activeElement)) {
      return; // the reader is in the table: it is drawn again when they have left it
    }
    fill(body, page.items.length === 0
      ? empty("No items yet", "Items are added by the API, by being candidates of a list, or under Items.")
      : itemTable(collection, "Items with the highest scores", page.items, "history"));
  };
  const start = (): void => run(context, load, (error) => {
    const tooMany = error instanceof ApiError && error.status === 413;
    fill(body, tooMany
      ? empty("Too many items to sort", "The library has more items than max_scan; look up single items under Items.")
      : failed(error, start));
  });
  start();
  repeat(context, REFRESH_MS, load);
  onReconnect(context, start);
  return body;
}
