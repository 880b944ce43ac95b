// One collection: its head, its tabs, and the tab that is open.
import { type Context } from "../context";
import { fill, h } from "../dom";
import { count } from "../format";
import { collectionLink, type Route, type Tab } from "../router";
import { follow } from "../stream";
import type { Stats } from "../types";
import { failed, loading } from "../widgets/states";
import { itemsTab } from "./items";
import { LiveTab } from "./live";
import { editCollectionTab } from "./settings";
import { TryTab } from "./try_it";
import { whatIfTab } from "./what_if";

const TABS: [Tab, string][] = [["live", "Live"], ["items", "Items"], ["try", "Try it"], ["what-if", "What if"], ["settings", "Settings"]];

export function collectionView(context: Context, route: Extract<Route, { page: "collection" }>): HTMLElement {
  const { name, tab } = route;
  const status = h("span", { class: "chip", id: "stream-state", role: "status" }, "connecting");
  const note = h("p", { class: "soft" });
  const body = h("div", { class: "tab-body" }, loading(`the collection ${name}`));
  const head = h("header", { class: "page-head" },
    h("div", {}, h("h1", {}, name, status), note));
  const tabs = h("nav", { class: "tabs", "aria-label": "Parts of the collection" }, h("ul", {},
    ...TABS.map(([id, text]) => h("li", {},
      h("a", { href: collectionLink(name, id), "aria-current": id === tab && "page" }, text)))));

  let onStats: (stats: Stats) => void = () => {};
  let opened = false;
  const open = (): void => {
    opened = true;
    switch (tab) {
      case "live": {
        const live = new LiveTab(context, name);
        onStats = (stats) => live.set(stats);
        fill(body, live.element);
        break;
      }
      case "items":
        fill(body, itemsTab(context, name, route.item));
        break;
      case "try": {
        const trial = new TryTab(context, name);
        onStats = (stats) => trial.set(stats);
        fill(body, trial.element);
        break;
      }
      case "what-if":
        fill(body, whatIfTab(context, name));
        break;
      case "settings":
        fill(body, editCollectionTab(context, name));
        break;
    }
  };
  follow(context, name, {
    onStats: (stats) => {
      if (!opened) {
        open();
      }
      note.textContent = [`${count(stats.items)} items`, `era ${stats.era}`,
        ...(stats.building ? ["a new ranker is learning the history; the old one serves"] : []),
        ...(stats.build_error ? [`the chosen ranker could not learn the history (${stats.build_error}); the one before it serves`] : []),
      ].join(" · ");
      onStats(stats);
    },
    onState: (state) => {
      status.textContent = state;
      status.className = `chip ${state === "live" ? "good" : "warn"}`;
    },
    onGone: (error) => fill(body, failed(error)),
  });
  return h("div", {}, head, tabs, body);
}
