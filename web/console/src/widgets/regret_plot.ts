// The heart of the console: what was paid, what the best fixed policy would have paid, and how far apart the theory
// allows them to be.
import { h, fill } from "../dom";
import { count, figure } from "../format";
import { lastEra, type HistoryPoint } from "../history";
import type { Comparison, Paid } from "../types";
import { Plot, type Curve } from "./plot";
import { segmented } from "./segmented";
import { empty, failed, loading } from "./states";

type Measure = "cost" | "regret";
type Scale = "sum" | "mean";
type Axis = "log" | "linear";

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

export class RegretPlot {
  private measure: Measure = "cost";
  private scale: Scale = "mean";
  private axis: Axis = "log";
  private points: HistoryPoint[] = [];
  private shown: HistoryPoint[] = [];
  private readonly plot: Plot;
  private readonly body = h("div", { class: "plot-body" }, loading("the history"));
  readonly element: HTMLElement;

  constructor(onSelect: (point: HistoryPoint) => void) {
    this.plot = new Plot("Cost, best policy in hindsight and bounds", (index) => {
      const point = this.shown[index];
      if (point) {
        onSelect(point);
      }
    });
    this.element = h("section", { class: "card no-plot", id: "regret" },
      h("header", { class: "card-head" }, h("h2", {}, "Regret"),
        h("div", { class: "row wrap" },
          segmented<Measure>("What to show", [{ value: "cost", name: "Cost" }, { value: "regret", name: "Regret" }], this.measure,
            (value) => { this.measure = value; this.draw(); }),
          segmented<Scale>("Sum or mean", [{ value: "mean", name: "Per click" }, { value: "sum", name: "Cumulated" }], this.scale,
            (value) => { this.scale = value; this.draw(); }),
          segmented<Axis>("Axis", [{ value: "log", name: "Log" }, { value: "linear", name: "Linear" }], this.axis,
            (value) => { this.axis = value; this.draw(); }))),
      this.body,
      h("p", { class: "hint" }, "Click a point, or walk with the arrow keys and press Enter, to see what was ranked then. Drag to look closer, double-click to see all."));
  }

  set(points: HistoryPoint[]): void {
    this.points = points;
    this.draw();
  }

  fail(error: unknown, again: () => void): void {
    if (this.shown.length === 0) {
      fill(this.body, failed(error, again));
    }
  }

  end(): void {
    this.plot.end();
  }

  private draw(): void {
    // Sums begin anew with an era, and so does the curve.
    this.shown = lastEra(this.points);
    this.element.dataset["points"] = String(this.shown.length);
    const last = this.shown[this.shown.length - 1];
    if (last === undefined) {
      this.element.classList.add("no-plot");
      fill(this.body, empty("No clicks yet", "As soon as clicks are learned, their cost is drawn here beside the best policy in hindsight."));
      return;
    }
    if (last.cost === null) {
      this.element.classList.add("no-plot");
      fill(this.body, empty("No regret to show", "This ranker's theory gives no bound on the K-L cost. The KLRank rankers do."));
      return;
    }
    this.element.classList.remove("no-plot");
    if (this.plot.element.parentNode !== this.body) {
      fill(this.body, this.plot.element);
    }
    this.plot.set({
      x: this.shown.map((point) => point.clicks),
      time: false,
      xLabel: "clicks learned",
      log: this.axis === "log",
      curves: this.measure === "cost" ? this.costs() : this.regrets(),
      summary: this.summary(last),
    });
  }

  private values(read: (cost: Paid & Comparison) => number | null): (number | null)[] {
    return this.shown.map((point) => {
      const value = point.cost === null ? null : read(point.cost);
      return value === null || this.scale === "sum" ? value : value / point.clicks;
    });
  }

  private costs(): Curve[] {
    return [
      { id: "served", name: "Served", property: "--series-1", meaning: "served", thick: true, values: this.values((cost) => cost.served) },
      { id: "learned", name: "Learned", property: "--series-6", meaning: "learned_cost", hidden: true, values: this.values((cost) => cost.learned) },
      { id: "hindsight", name: "Best in hindsight", property: "--series-3", meaning: "hindsight", thick: true, values: this.values((cost) => cost.hindsight) },
      { id: "data", name: "Hindsight + data-dependent bound", property: "--series-5", meaning: "data_bound", dashed: true,
        values: this.values((cost) => plus(cost.hindsight, cost.data_bound)) },
      { id: "theorem", name: "Hindsight + theorem's bound", property: "--series-2", meaning: "bound", dotted: true,
        values: this.values((cost) => plus(cost.hindsight, cost.bound)) },
    ];
  }

  private regrets(): Curve[] {
    return [
      { id: "regret", name: "Regret", property: "--series-1", meaning: "regret", thick: true, values: this.values((cost) => cost.regret) },
      { id: "regret-upper", name: "Regret, upper end", property: "--series-6", meaning: "regret_upper", hidden: true, values: this.values((cost) => cost.regret_upper) },
      { id: "data-bound", name: "Data-dependent bound", property: "--series-5", meaning: "data_bound", dashed: true, values: this.values((cost) => cost.data_bound) },
      { id: "theorem-bound", name: "Theorem's bound", property: "--series-2", meaning: "bound", dotted: true, values: this.values((cost) => cost.bound) },
    ];
  }

  private summary(last: HistoryPoint): string {
    const mean = (value: number | null | undefined, clicks: number): string =>
      figure(value === null || value === undefined ? null : Number((value / clicks).toPrecision(3)));
    const measured = [...this.shown].reverse().find((point) => (point.cost?.hindsight ?? null) !== null);
    const paid = `After ${count(last.clicks)} clicks of this era, a click cost ${mean(last.cost?.served, last.clicks)} nats on average.`;
    const best = measured
      ? ` Over the first ${count(measured.clicks)} of them the best fixed policy in hindsight costs ${mean(measured.cost?.hindsight, measured.clicks)}, and the regret is ${mean(measured.cost?.regret, measured.clicks)} a click.`
      : " The best fixed policy in hindsight has not been measured yet.";
    return `${paid}${best} The theorem allows a regret of ${mean(last.cost?.bound, last.clicks)}, the data-dependent bound one of ${mean(last.cost?.data_bound, last.clicks)}.`;
  }
}
