// Why an item stands where it stands: what its score is made of in a request, and how far each expert is listened to.
import { ApiError } from "../api";
import { repeat, run, type Context } from "../context";
import { fill, h } from "../dom";
import { figure, probability, share } from "../format";
import { lastEra, loadHistory, type HistoryPoint } from "../history";
import type { Expert, Explanation, Item, ScorePart } from "../types";
import { help } from "./help";
import { Plot } from "./plot";
import { empty, failed, loading } from "./states";

const REFRESH_MS = 3000;
const NOTHING = 1e-9; // what rounding leaves of a contribution
const POINTS = 300; // of the past
const MOST_CURVES = 8; // as many as there are colours that can be told apart

export function whyItStands(context: Context, collection: string, item: Item): HTMLElement {
  const topic = h("select", { id: "why-topic" },
    h("option", { value: "" }, "Whole library"), ...item.topics.map((name) => h("option", { value: name }, name)));
  const session = h("input", { id: "why-session", maxlength: "256", autocomplete: "off", spellcheck: "false" });
  const group = h("input", { id: "why-group", maxlength: "256", autocomplete: "off", spellcheck: "false" });
  const key = h("input", { id: "why-key", maxlength: "256", autocomplete: "off", spellcheck: "false" });
  const form = h("form", { class: "form", novalidate: true },
    h("div", { class: "field-row" },
      h("div", { class: "field" }, h("label", { for: "why-topic" }, "Among the items of"), topic),
      h("div", { class: "field" }, h("label", { for: "why-session" }, "Session (optional)"), session),
      h("div", { class: "field" }, h("label", { for: "why-group" }, "Group (optional)"), group),
      h("div", { class: "field" }, h("label", { for: "why-key" }, "Context key (optional)"), key)));
  const body = h("div", {}, loading("the explanation"));
  const plot = new Plot("Weights of the experts", null);
  const plotBox = h("div", { hidden: true }, h("h3", {}, "Experts, click by click"), plot.element);
  context.signal.addEventListener("abort", () => plot.end(), { once: true });

  let known = ""; // the weights that the past ends with
  let past: HistoryPoint[] = [];

  const show = (explanation: Explanation): void => {
    fill(body, summary(explanation), parts(explanation.parts), experts(explanation.experts));
    plotBox.hidden = past.length < 2;
    if (past.length > 1) {
      draw(plot, past, explanation.experts);
    }
  };
  const load = async (): Promise<void> => {
    const wish = { topic: topic.value, session: session.value.trim(), group: group.value.trim(), context_key: key.value.trim() };
    const given = Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== ""));
    const explanation = await context.api.explain(collection, item.id, given, context.signal);
    const weights = explanation.experts.map((expert) => expert.weight).join();
    if (weights !== known) {
      const points = weights === "" ? [] : await loadHistory(context.api, collection, POINTS, context.signal);
      past = lastEra(points.filter((point) => point.weights?.length === explanation.experts.length));
      known = weights;
    }
    show(explanation);
  };
  const start = (): void => run(context, load, (error) => {
    plotBox.hidden = true;
    const tooMany = error instanceof ApiError && error.status === 413;
    fill(body, tooMany ? empty("Too many items to compare", "The library has more items than max_scan; choose a topic above.") : failed(error, start));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", start);
  start();
  repeat(context, REFRESH_MS, load);
  return h("section", { class: "card why" }, h("h2", {}, "Why it stands there"), form, body, plotBox);
}

function summary(explanation: Explanation): HTMLElement {
  const first = explanation.prob_first;
  return h("p", {}, `Its score here is ${figure(explanation.score)}`,
    first === null ? "; how likely it is to stand first, this ranker does not tell." : `, and it stands first with probability ${probability(first)}.`);
}

function heads(...names: (Node | string)[]): HTMLElement {
  return h("thead", {}, h("tr", {}, ...names.map((name, i) => h("th", { scope: "col", class: i > 0 && "right" }, name))));
}

/** The largest contributions first. */
function parts(all: ScorePart[]): HTMLElement {
  if (all.length === 0) {
    return h("p", { class: "soft" }, "This ranker's score has no parts that could be shown apart.");
  }
  const size = (part: ScorePart): number => Math.abs(part.contribution ?? 0);
  const sorted = all.filter((part) => size(part) > NOTHING).sort((a, b) => size(b) - size(a));
  const others = all.filter((part) => size(part) <= NOTHING).map((part) => part.name);
  return h("div", { class: "scroll" }, h("h3", {}, "Parts of the score"), h("table", { class: "why-parts" },
    h("caption", { class: "unseen" }, "Parts of the score"),
    heads("Part", "Value", "Weight", h("span", {}, "Contribution", help("contribution", "a contribution"))),
    h("tbody", {}, ...sorted.map((part) => h("tr", {},
      h("th", { scope: "row" }, part.name),
      h("td", { class: "right" }, figure(part.value)),
      h("td", { class: "right" }, figure(part.weight)),
      h("td", { class: "right" }, figure(part.contribution)))))),
  others.length > 0 && h("p", { class: "soft small" }, `Nothing comes from: ${others.join(", ")}.`));
}

function experts(all: Expert[]): HTMLElement | null {
  if (all.length === 0) {
    return null;
  }
  const sorted = [...all].sort((a, b) => b.weight - a.weight);
  return h("div", { class: "scroll" }, h("h3", {}, "Experts"), h("table", { class: "why-experts" },
    h("caption", { class: "unseen" }, "Experts"),
    heads("Expert", h("span", {}, "Weight", help("expert_weight", "an expert's weight")), "Stands first", h("span", {}, "Cost so far", help("expert_cost", "an expert's cost"))),
    h("tbody", {}, ...sorted.map((expert) => h("tr", {},
      h("th", { scope: "row" }, expert.name),
      h("td", { class: "right" }, share(expert.weight)),
      h("td", { class: "right" }, probability(expert.prob_first)),
      h("td", { class: "right" }, figure(expert.cost)))))));
}

/** Those that were listened to most so far. */
function draw(plot: Plot, past: HistoryPoint[], now: Expert[]): void {
  const all = now.map((expert, k) => ({ name: expert.name, values: past.map((point) => point.weights?.[k] ?? 0) }));
  const most = (one: { values: number[] }): number => Math.max(...one.values);
  const shown = new Set([...all].sort((a, b) => most(b) - most(a)).slice(0, MOST_CURVES));
  const best = now.reduce((a, b) => (b.weight > a.weight ? b : a));
  plot.set({
    x: past.map((point) => point.clicks),
    time: false,
    share: true,
    xLabel: "clicks learned",
    curves: all.filter((one) => shown.has(one)).map((one, i) => ({
      id: one.name,
      name: one.name,
      property: `--series-${i + 1}`,
      meaning: "expert_weight" as const,
      values: one.values,
    })),
    summary: `${best.name} is listened to most, with ${share(best.weight)}.`,
  });
}
