// How often users click first, and how high up they click: since the beginning, and of late.
import { fill, h } from "../dom";
import { figure, share } from "../format";
import type { HistoryPoint } from "../history";
import { Plot } from "./plot";
import { segmented } from "./segmented";
import { empty, loading } from "./states";

type Span = "all" | "recent";
type Rate = "first" | "ndcg_sum";
const PARTS = 25; // of late: the last 1/25 of the curve

/** The mean over the clicks between two points, of which each has the sum since the beginning. */
export function meanBetween(from: HistoryPoint | undefined, to: HistoryPoint, rate: Rate): number | null {
  const clicks = to.rated - (from?.rated ?? 0);
  const mean = (to[rate] - (from?.[rate] ?? 0)) / clicks;
  return clicks > 0 ? Math.min(1, Math.max(0, mean)) : null;
}

export class QualityPlot {
  private span: Span = "all";
  private shown: HistoryPoint[] = [];
  private points: HistoryPoint[] = [];
  private readonly plot: Plot;
  private readonly body = h("div", { class: "plot-body" }, loading("the history"));
  readonly element: HTMLElement;

  constructor(onSelect: (point: HistoryPoint) => void) {
    this.plot = new Plot("Click-first rate and NDCG over time", (index) => {
      const point = this.shown[index];
      if (point) {
        onSelect(point);
      }
    });
    this.element = h("section", { class: "card no-plot", id: "quality" },
      h("header", { class: "card-head" }, h("h2", {}, "What users click"),
        segmented<Span>("Over which time", [{ value: "all", name: "Since the start" }, { value: "recent", name: "Of late" }], this.span,
          (value) => { this.span = value; this.draw(); })),
      this.body);
  }

  set(points: HistoryPoint[]): void {
    this.points = points;
    this.draw();
  }

  end(): void {
    this.plot.end();
  }

  private draw(): void {
    this.shown = this.points.filter((point) => point.rated > 0);
    const last = this.shown[this.shown.length - 1];
    if (last === undefined) {
      this.element.classList.add("no-plot");
      fill(this.body, empty("No clicks yet", "The rates appear with the first clicks."));
      return;
    }
    this.element.classList.remove("no-plot");
    if (this.plot.element.parentNode !== this.body) {
      fill(this.body, this.plot.element);
    }
    this.plot.set({
      x: this.shown.map((point) => point.time_ms),
      time: true,
      xLabel: "time",
      share: true,
      curves: [
        { id: "first", name: "Click-first rate", property: "--series-1", meaning: "first_rate", thick: true, values: this.values("first") },
        { id: "ndcg", name: "NDCG", property: "--series-3", meaning: "ndcg", thick: true, values: this.values("ndcg_sum") },
      ],
      summary: `Of all clicks ${share(last.first / last.rated)} went to the first item of their list; NDCG is ${figure(Number((last.ndcg_sum / last.rated).toPrecision(4)))}.`,
    });
  }

  private values(rate: Rate): (number | null)[] {
    const back = this.span === "all" ? this.shown.length : Math.max(1, Math.round(this.shown.length / PARTS));
    return this.shown.map((point, i) => meanBetween(this.shown[i - back], point, rate));
  }
}
