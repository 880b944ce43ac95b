// What another ranker would have done on this collection's log: asks, waits, and says how far the answer can be trusted.
import { ApiError } from "../api";
import { onReconnect, repeat, run, type Context } from "../context";
import { fill, h } from "../dom";
import { count, figure, plural, share } from "../format";
import type { Collection, Estimate, Evaluation, EvaluationResult, PolicyEstimate, Ranker } from "../types";
import { help } from "../widgets/help";
import { RankerFields } from "../widgets/ranker_fields";
import { empty, failed, FormMessage, loading } from "../widgets/states";

const POLL_MS = 1000;

const SUPPORT: Record<PolicyEstimate["status"], { name: string; kind: string }> = {
  ok: { name: "well supported", kind: "good" },
  weak_support: { name: "weakly supported", kind: "warn" },
  no_support: { name: "not supported", kind: "warn" },
};

export function whatIfTab(context: Context, collection: string): HTMLElement {
  const form = h("div", {}, loading("the rankers"));
  const outcome = h("div", {}, loading("the last evaluation"));
  let state: Evaluation["state"] | null = null;

  const show = (evaluation: Evaluation): void => {
    state = evaluation.state;
    fill(outcome, report(evaluation, () => run(context, async () => {
      show(await context.api.cancelEvaluation(collection));
    }, (error) => fill(outcome, failed(error)))));
  };
  const look = (): void => run(context, async () => {
    show(await context.api.of<Evaluation>(collection, "evaluate", {}, context.signal));
  }, (error) => {
    state = null;
    fill(outcome, error instanceof ApiError && error.status === 404
      ? empty("Nothing was evaluated yet", "Choose a ranker: the log is folded again with it, in the background. Nothing of the collection changes.")
      : failed(error, look));
  });
  const start = (): void => run(context, async () => {
    const [rankers, now] = await Promise.all([context.api.rankers(context.signal), context.api.collection(collection, context.signal)]);
    fill(form, wishForm(context, rankers, now, show));
  }, (error) => fill(form, failed(error, start)));
  start();
  look();
  repeat(context, POLL_MS, async () => {
    if (state === "running") {
      show(await context.api.of<Evaluation>(collection, "evaluate", {}, context.signal));
    }
  });
  onReconnect(context, look);
  return h("div", { class: "columns" },
    h("section", { class: "card" }, h("h2", {}, "What if another ranker had served?"), form),
    h("section", { class: "card", "aria-live": "polite" }, h("h2", {}, "What came out"), outcome));
}

function wishForm(context: Context, rankers: Ranker[], now: Collection, onStarted: (evaluation: Evaluation) => void): HTMLElement {
  const ranker = new RankerFields(rankers, now);
  const message = new FormMessage();
  const form = h("form", { class: "form", novalidate: true }, ranker.element, message.element,
    h("div", { class: "row end" }, h("button", { type: "submit", class: "button primary" }, "Evaluate")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    message.clear();
    run(context, async () => onStarted(await context.api.evaluate(now.name, ranker.choice())), (error) => message.fail(error));
  });
  return form;
}

function report(evaluation: Evaluation, onCancel: () => void): HTMLElement {
  const head = h("p", {}, h("strong", {}, evaluation.ranker), h("span", { class: "chip" }, evaluation.state));
  if (evaluation.state === "running") {
    return h("div", {}, head,
      h("progress", { max: Math.max(1, evaluation.head), value: evaluation.position, "aria-label": "Events read" }),
      h("p", { class: "soft" }, `${count(evaluation.position)} of ${plural(evaluation.head, "event")} read`),
      h("button", { type: "button", class: "button", on: { click: onCancel } }, "Cancel"));
  }
  if (evaluation.result === undefined) {
    return h("div", {}, head, h("p", {}, evaluation.error ?? "It was ended before it was done."));
  }
  return h("div", {}, head, resultTable(evaluation.result));
}

function resultTable(result: EvaluationResult): HTMLElement {
  const cell = (estimate: Estimate | null, write: (value: number) => string): HTMLElement => h("td", { class: "right" },
    estimate === null ? "–" : write(estimate.value),
    estimate !== null && estimate.low !== null && estimate.high !== null &&
      h("span", { class: "interval" }, `${write(Math.max(0, estimate.low))} to ${write(estimate.high)}`));
  const row = (name: string, policy: PolicyEstimate, write: (value: number) => string): HTMLElement => h("tr", {},
    h("th", { scope: "row" }, name, h("span", { class: `chip ${SUPPORT[policy.status].kind}` }, SUPPORT[policy.status].name)),
    cell(policy.logged, write), cell(policy.snips, write));
  const reasons = [result.first_click.reason, result.ndcg.reason].filter((reason) => reason !== undefined);
  const cost = result.replay_cost;
  return h("div", {},
    h("div", { class: "scroll" }, h("table", {},
      h("caption", {}, `Per list, over ${plural(result.first_click.decisions, "list")} of ${count(result.decisions)}, with 95% intervals`),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Figure"),
        h("th", { scope: "col", class: "right" }, "As served", help("logged", "as served")),
        h("th", { scope: "col", class: "right" }, "With this ranker", help("snips", "this estimate")))),
      h("tbody", {}, row("First item clicked", result.first_click, share), row("NDCG", result.ndcg, figure)))),
    ...[...new Set(reasons)].map((reason) => h("p", { class: "soft" }, reason)),
    h("p", {}, "Cost of a click, learned along the log: ", h("strong", {}, cost.mean === null ? (cost.total === null ? "infinite" : "–") : `${figure(cost.mean)} nats`),
      help("replay_cost", "this cost"), ` over ${plural(cost.clicks, "click")}`,
      cost.impossible > 0 && `; ${plural(cost.impossible, "click")} on items that it would never put first`));
}
