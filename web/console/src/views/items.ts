// The library: its best items, a look-up, a page at a time, and what one item's score is made of.
import { onReconnect, repeat, run, within, type Context } from "../context";
import { fill, h } from "../dom";
import { count, duration, figure, moment } from "../format";
import { collectionLink, go } from "../router";
import { noteScores, scoresOf } from "../score_history";
import type { Item } from "../types";
import { openDialog } from "../widgets/dialog";
import { Plot } from "../widgets/plot";
import { describeError, empty, failed, FormMessage, loading } from "../widgets/states";
import { Facts } from "../widgets/tile";
import { itemTable, topItems } from "../widgets/top_items";
import { whyItStands } from "../widgets/why";

const PAGE = 50;
const REFRESH_MS = 3000;

export function itemsTab(context: Context, collection: string, item: string | null): HTMLElement {
  return item === null ? library(context, collection) : explanation(context, collection, item);
}

function library(context: Context, collection: string): HTMLElement {
  const id = h("input", { id: "item-id", maxlength: "256", autocomplete: "off", spellcheck: "false" });
  const find = h("form", { class: "form inline", role: "search" },
    h("div", { class: "field" }, h("label", { for: "item-id" }, "Item's id"), id),
    h("button", { type: "submit", class: "button" }, "Look up"));
  find.addEventListener("submit", (event) => {
    event.preventDefault();
    if (id.value.trim() !== "") {
      go(collectionLink(collection, "items", id.value.trim()));
    }
  });
  return h("div", { class: "columns wide-left" },
    h("div", {},
      h("section", { class: "card" }, h("h2", {}, "Top items"), topItems(context, collection, 20)),
      h("section", { class: "card" }, h("h2", {}, "All items"), allItems(context, collection))),
    h("div", {},
      h("section", { class: "card" }, h("h2", {}, "Find an item"), find),
      h("section", { class: "card" }, h("h2", {}, "Add items"), addForm(context, collection))));
}

/** In the order in which they were added, page after page. */
function allItems(context: Context, collection: string): HTMLElement {
  const body = h("div", {}, loading("the library"));
  const items: Item[] = [];
  const load = (cursor: string): void => run(context, async () => {
    const page = await context.api.items(collection, { limit: PAGE, ...(cursor ? { cursor } : {}) }, context.signal);
    items.push(...page.items);
    const next = page.next_cursor;
    fill(body, items.length === 0 ? empty("The library is empty", "Add items here, or rank candidates: they join by being used.")
      : itemTable(collection, "Items in the order of their adding", items, "topics"),
    next !== undefined && h("div", { class: "row centre" },
      h("button", { type: "button", class: "button", on: { click: () => load(next) } }, "Show more")));
  }, (error) => fill(body, failed(error, () => load(cursor))));
  load("");
  return body;
}

function parseItems(text: string): { id: string; topics: string[] }[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "").map((line) => {
    const [id = "", ...topics] = line.split(",").map((part) => part.trim());
    return { id, topics: topics.filter((topic) => topic !== "") };
  });
}

function addForm(context: Context, collection: string): HTMLElement {
  const text = h("textarea", { id: "add-items", rows: "6", spellcheck: "false", placeholder: "calculus, mathematics\nalgebra, mathematics" });
  const message = new FormMessage();
  const form = h("form", { class: "form", novalidate: true },
    h("div", { class: "field" }, h("label", { for: "add-items" }, "One per line: id, topic, topic…"), text,
      h("p", { class: "hint" }, "An item that is there gets these topics, and loses its features and links. The API takes those, too.")),
    message.element, h("button", { type: "submit", class: "button primary" }, "Add"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const items = parseItems(text.value);
    if (items.length === 0) {
      message.say("Enter at least one id.", "bad");
      return;
    }
    run(context, async () => {
      const reply = await context.api.addItems(collection, items);
      message.say(`${count(reply.added)} added, ${count(reply.updated)} updated.`, "good");
      text.value = "";
    }, (error) => message.fail(error));
  });
  return form;
}

/** What one item's score is made of. */
function explanation(context: Context, collection: string, id: string): HTMLElement {
  const body = h("div", {}, loading(`the item ${id}`));
  const facts = new Facts()
    .add("score", "Score", "score").add("odds", "Odds against a new item", "odds").add("picks", "Picks", "picks")
    .add("fast", "Recent picks", "decayed_picks").add("slow", "Picks of late", "decayed_picks")
    .add("age", "In the library for", "age").add("added", "Added");
  const plot = new Plot(`Score of ${id}`, null);
  context.signal.addEventListener("abort", () => plot.end(), { once: true });
  let shown = "";
  let inner = new AbortController(); // of what is on the page now

  const set = (item: Item): void => {
    noteScores(collection, [item], Date.now());
    facts.set("score", figure(item.score));
    facts.set("odds", item.score === null ? "–" : `${figure(Number(Math.exp(item.score).toPrecision(3)))} ×`);
    facts.set("picks", count(item.picks));
    facts.set("fast", figure(item.decayed_picks[0]));
    facts.set("slow", figure(item.decayed_picks[1]));
    facts.set("age", duration(item.age_ms));
    facts.set("added", moment(item.added_ms));
    const parts = JSON.stringify([item.topics, item.features, item.links]);
    if (shown !== parts) {
      shown = parts;
      inner.abort();
      inner = new AbortController();
      fill(body, card(within(context, inner), collection, item, facts, plot));
    }
    const samples = scoresOf(collection, id);
    plot.set({
      x: samples.map((sample) => sample.time_ms),
      time: true,
      xLabel: "time",
      curves: [{ id: "score", name: "Score", property: "--series-1", meaning: "score_history", thick: true, values: samples.map((sample) => sample.score) }],
      summary: `The score is ${figure(item.score)} after ${count(item.picks)} picks. The curve begins when this page was opened.`,
    });
  };
  const load = async (): Promise<void> => set(await context.api.item(collection, id, context.signal));
  const start = (): void => run(context, load, (error) => fill(body, failed(error, start)));
  start();
  repeat(context, REFRESH_MS, load);
  onReconnect(context, start);
  return body;
}

function card(context: Context, collection: string, item: Item, facts: Facts, plot: Plot): HTMLElement {
  const features = Object.entries(item.features);
  const list = (title: string, none: string, values: Node[]): HTMLElement =>
    h("div", {}, h("h3", {}, title), values.length === 0 ? h("p", { class: "soft" }, none) : h("ul", { class: "chips" }, ...values.map((value) => h("li", {}, value))));
  return h("div", { class: "columns wide-left" },
    h("div", {},
      h("section", { class: "card" }, h("h2", {}, "Score over time"), plot.element),
      whyItStands(context, collection, item)),
    h("div", {},
      h("section", { class: "card" }, h("h2", {}, "What the score is made of"), facts.element,
        features.length > 0 && h("table", { class: "plain" }, h("caption", {}, "Features"), h("tbody", {},
          ...features.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "right" }, figure(value))))))),
      h("section", { class: "card" },
        list("Topics", "None", item.topics.map((topic) => h("span", { class: "chip" }, topic))),
        list("Links to", "Nothing", item.links.map((link) => h("a", { href: collectionLink(collection, "items", link) }, link))),
        h("div", { class: "row" },
          h("a", { class: "button", href: collectionLink(collection, "items") }, "All items"),
          h("button", { type: "button", class: "button danger", on: { click: () => confirmRemoval(context, collection, item.id) } }, "Remove…")))));
}

function confirmRemoval(context: Context, collection: string, id: string): void {
  const dialog = openDialog(`Remove ${id}?`, [
    h("p", {}, "It will not appear in lists any more. Lists that show it still learn; added again, it is a new item."),
    h("div", { class: "row end" },
      h("button", { type: "button", class: "button", on: { click: () => dialog.close() } }, "Keep it"),
      h("button", { type: "button", class: "button danger", on: { click: () => {
        run(context, async () => {
          await context.api.removeItem(collection, id);
          dialog.close();
          context.notify(`${id} is removed.`);
          go(collectionLink(collection, "items"));
        }, (error) => {
          dialog.close();
          context.notify(describeError(error), "bad");
        });
      } } }, "Remove")),
  ]);
}
