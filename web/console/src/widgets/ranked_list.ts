// A ranked list: places, probabilities, what was clicked; and, where the reader may, buttons to click.
import { h, type Child } from "../dom";
import { figure, probability } from "../format";
import { collectionLink } from "../router";
import type { RankedItem } from "../types";
import { help } from "./help";

export interface RankedListOptions {
  collection: string;
  caption: string;
  items: RankedItem[];
  clicked: string[];
  action?: (item: RankedItem) => Child;
}

export function rankedList(options: RankedListOptions): HTMLElement {
  const bar = (value: number | null): HTMLElement => {
    const inner = h("span", {});
    inner.style.width = `${Math.round((value ?? 0) * 100)}%`;
    return h("span", { class: "probability-bar", "aria-hidden": "true" }, inner);
  };
  return h("div", { class: "scroll" }, h("table", { class: "ranked" },
    h("caption", { class: "unseen" }, options.caption),
    h("thead", {}, h("tr", {},
      h("th", { scope: "col", class: "right narrow" }, "#"),
      h("th", { scope: "col" }, "Item"),
      h("th", { scope: "col", class: "right wide-only" }, "Score", help("score", "a score")),
      h("th", { scope: "col" }, "First with", help("prob_first", "this probability")),
      options.action && h("th", { scope: "col" }, h("span", { class: "unseen" }, "Action")))),
    h("tbody", {}, ...options.items.map((item, i) => {
      const clicked = options.clicked.includes(item.id);
      return h("tr", { class: clicked && "clicked" },
        h("td", { class: "right soft" }, i + 1),
        h("th", { scope: "row" }, h("a", { href: collectionLink(options.collection, "items", item.id) }, item.id),
          clicked && h("span", { class: "chip good" }, "clicked"), item.unknown && h("span", { class: "chip" }, "unknown")),
        h("td", { class: "right wide-only" }, figure(item.score)),
        h("td", { class: "probability" }, bar(item.prob_first), probability(item.prob_first)),
        options.action && h("td", { class: "right" }, options.action(item)));
    }))));
}
