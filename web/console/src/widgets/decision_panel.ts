// What was ranked then: the lists around a point of the curve.
import { run, type Context } from "../context";
import { fill, h } from "../dom";
import { count, figure, moment } from "../format";
import type { Decision } from "../types";
import { help } from "./help";
import { rankedList } from "./ranked_list";
import { empty, failed, loading } from "./states";

const LISTS = 5;

export class DecisionPanel {
  readonly element = h("section", { class: "card decision-panel", "aria-label": "What was ranked then", hidden: true, tabindex: "-1" });

  constructor(private readonly context: Context, private readonly collection: string) {}

  /** Shows the lists that were made up to a position of the log. */
  show(position: number, when: string): void {
    const body = h("div", {}, loading("what was ranked then"));
    this.element.hidden = false;
    fill(this.element,
      h("header", { class: "card-head" }, h("h2", {}, "What was ranked then"),
        h("button", { type: "button", class: "icon-button", "aria-label": "Close what was ranked then", on: { click: () => { this.element.hidden = true; } } }, "×")),
      h("p", { class: "soft" }, `The last lists before position ${count(position)}, ${when}.`),
      body);
    this.element.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
    run(this.context, async () => {
      const reply = await this.context.api.of<{ decisions: Decision[] }>(
        this.collection, "decisions", { before: position + 1, limit: LISTS }, this.context.signal);
      fill(body, ...(reply.decisions.length === 0
        ? [empty("No lists there", "The log holds no lists before that point any more: they were dropped by retain_days.")]
        : reply.decisions.map((decision) => this.list(decision))));
    }, (error) => fill(body, failed(error)));
  }

  private list(decision: Decision): HTMLElement {
    return h("article", { class: "decision" },
      h("p", { class: "row wrap" },
        h("strong", {}, moment(decision.time_ms)),
        decision.query && h("span", {}, `“${decision.query}”`),
        h("span", { class: "chip" }, decision.control ? "caller's order" : decision.ranker),
        h("span", { class: "soft small" }, `model ${count(decision.model_version)}`, help("model_version", "the model's version")),
        h("span", { class: "soft small" }, `log-propensity ${figure(decision.log_propensity)}`, help("log_propensity", "the log-propensity"))),
      rankedList({
        collection: this.collection,
        caption: `List of ${moment(decision.time_ms)}`,
        items: decision.items,
        clicked: decision.clicked,
      }));
  }
}
