// All collections that the key may know of, with the figures that tell whether one needs a look.
import { onReconnect, repeat, run, type Context } from "../context";
import { fill, h } from "../dom";
import { count, figure, share } from "../format";
import { collectionLink, NEW_COLLECTION } from "../router";
import type { Collection, Stats } from "../types";
import { help } from "../widgets/help";
import { empty, failed, loading } from "../widgets/states";

const REFRESH_MS = 5000;
const AT_ONCE = 4;

/** Stats of many collections, a few requests at a time; one that is gone by now is left out. */
async function statsOf(context: Context, collections: Collection[]): Promise<Map<string, Stats>> {
  const found = new Map<string, Stats>();
  const waiting = [...collections];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { name } = next;
      const stats = await context.api.stats(name, false, context.signal).catch(() => null);
      if (stats !== null) {
        found.set(name, stats);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

/** The regret as a part of what its bound allows. */
export function boundUsed(stats: Stats): number | null {
  const regret = stats.kl_cost?.regret ?? null;
  const bound = stats.kl_cost?.measured?.bound ?? null;
  return regret !== null && bound !== null && bound > 0 ? Math.max(0, regret) / bound : null;
}

function row(collection: Collection, stats: Stats | undefined): HTMLElement {
  const cell = (value: string): HTMLElement => h("td", { class: "right" }, value);
  return h("tr", {},
    h("th", { scope: "row" }, h("a", { href: collectionLink(collection.name) }, collection.name),
      collection.building && h("span", { class: "chip warn" }, "building"),
      collection.build_error && h("span", { class: "chip warn", title: collection.build_error }, "not built")),
    h("td", { class: "wide-only" }, collection.ranker),
    h("td", { class: "right wide-only" }, count(collection.items)),
    h("td", { class: "right wide-only" }, stats ? count(stats.decisions) : "…"),
    cell(stats ? count(stats.clicks.learned) : "…"),
    cell(stats ? share(stats.first_rate) : "…"),
    h("td", { class: "right wide-only" }, stats ? figure(stats.ndcg) : "…"),
    cell(stats ? share(boundUsed(stats)) : "…"));
}

function table(collections: Collection[], stats: Map<string, Stats>): HTMLElement {
  const head = (name: string, ...more: Node[]): HTMLElement => h("th", { scope: "col", class: "right" }, name, ...more);
  return h("div", { class: "card flush scroll" }, h("table", { class: "collections" },
    h("caption", { class: "unseen" }, "Collections and their figures"),
    h("thead", {}, h("tr", {},
      h("th", { scope: "col" }, "Collection"), h("th", { scope: "col", class: "wide-only" }, "Ranker"),
      h("th", { scope: "col", class: "right wide-only" }, "Items"),
      h("th", { scope: "col", class: "right wide-only" }, "Lists", help("decisions", "the number of lists")), head("Clicks", help("learned", "the number of clicks")),
      head("Click-first", help("first_rate", "the click-first rate")), h("th", { scope: "col", class: "right wide-only" }, "NDCG", help("ndcg", "NDCG")),
      head("Bound used", help("bound_used", "the share of the bound")))),
    h("tbody", {}, ...collections.map((collection) => row(collection, stats.get(collection.name))))));
}

export function overviewView(context: Context): HTMLElement {
  const body = h("div", {}, loading("collections"));
  const make = (): HTMLElement => h("a", { class: "button primary", href: NEW_COLLECTION }, "New collection");
  let stats = new Map<string, Stats>();
  let drawn = "";
  const draw = (collections: Collection[]): void => {
    // Drawn only where something changed, so that focus and help stay where they are.
    const state = JSON.stringify([collections, [...stats]]);
    if (state !== drawn) {
      drawn = state;
      fill(body, collections.length > 0 ? table(collections, stats)
        : empty("No collections yet", "A collection is a library of items, a ranker, and a log of what was shown and clicked.", make()));
    }
  };
  const load = async (): Promise<void> => {
    const collections = await context.api.collections(context.signal);
    draw(collections);
    stats = await statsOf(context, collections);
    if (!context.signal.aborted) {
      draw(collections);
    }
  };
  const start = (): void => run(context, load, (error) => {
    drawn = "";
    fill(body, failed(error, start));
  });
  start();
  repeat(context, REFRESH_MS, load);
  onReconnect(context, start);
  return h("div", {},
    h("header", { class: "page-head" }, h("h1", {}, "Collections"), make()),
    body);
}
