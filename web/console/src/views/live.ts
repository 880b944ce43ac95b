// The collection as it lives: the regret beside its bounds, what users clicked, and the log's health.
import { onReconnect, repeat, run, type Context } from "../context";
import { fill, h } from "../dom";
import { count, figure, moment, plural, share } from "../format";
import { appendPoint, insertMeasured, loadHistory, pointOf, type HistoryPoint } from "../history";
import type { Arm, KlCost, Stats } from "../types";
import { Accounting } from "../widgets/accounting";
import { DecisionPanel } from "../widgets/decision_panel";
import { Health } from "../widgets/health";
import { help } from "../widgets/help";
import { QualityPlot } from "../widgets/quality_plot";
import { RegretPlot } from "../widgets/regret_plot";
import { Tile } from "../widgets/tile";
import { topItems } from "../widgets/top_items";
import { boundUsed } from "./overview";

const HISTORY_POINTS = 2000;
const RELOAD_MS = 20_000;

/** Why there may be no regret to show. */
const REFRESH: Record<KlCost["refresh"], string> = {
  on: "not measured yet",
  off: "switched off: insight_share is 0",
  dropped: "events of this era were dropped",
  unsupported: "this ranker has no bound",
};

export class LiveTab {
  private readonly tiles = {
    decisions: new Tile("Lists", "decisions", "decisions"),
    learned: new Tile("Clicks learned", "learned", "learned"),
    first: new Tile("Click-first rate", "first_rate", "first-rate"),
    ndcg: new Tile("NDCG", "ndcg", "ndcg"),
    regret: new Tile("Regret per click", "regret_per_click", "regret"),
    bound: new Tile("Bound used", "bound_used", "bound"),
  };
  private readonly panel: DecisionPanel;
  private readonly regret: RegretPlot;
  private readonly quality: QualityPlot;
  private readonly accounting = new Accounting();
  private readonly health: Health;
  private readonly arms = h("section", { class: "card", hidden: true });
  private readonly model = h("dl", { class: "facts" });
  private points: HistoryPoint[] = [];
  private modelShown = "";
  readonly element: HTMLElement;

  constructor(private readonly context: Context, private readonly collection: string) {
    this.panel = new DecisionPanel(context, collection);
    const select = (point: HistoryPoint): void => this.panel.show(point.position, `at ${moment(point.time_ms)}`);
    this.regret = new RegretPlot(select);
    this.quality = new QualityPlot(select);
    this.health = new Health(context, collection);
    context.signal.addEventListener("abort", () => { this.regret.end(); this.quality.end(); }, { once: true });
    this.element = h("div", {},
      h("dl", { class: "tiles" }, ...Object.values(this.tiles).map((tile) => tile.element)),
      this.regret.element, this.panel.element, this.quality.element,
      h("div", { class: "columns" },
        h("section", { class: "card" }, h("h2", {}, "Top items"), topItems(context, collection, 8)),
        h("section", { class: "card" }, h("h2", {}, "Where the clicks went"), this.accounting.element)),
      h("div", { class: "columns" },
        h("section", { class: "card" }, h("h2", {}, "Log and snapshot"), this.health.element),
        h("section", { class: "card" }, h("h2", {}, "The ranker's state"), this.model)),
      this.arms);
    this.reload();
    repeat(context, RELOAD_MS, () => this.load());
    onReconnect(context, () => { this.reload(); this.health.askReady(); });
  }

  set(stats: Stats): void {
    const cost = stats.kl_cost;
    const measured = cost?.measured ?? null;
    this.tiles.decisions.set(count(stats.decisions), plural(stats.open_decisions, "open list"));
    this.tiles.learned.set(count(stats.clicks.learned), `of ${count(stats.clicks.received)} received`);
    this.tiles.first.set(share(stats.first_rate));
    this.tiles.ndcg.set(figure(stats.ndcg));
    this.tiles.regret.set(measured && measured.clicks > 0 ? figure(Number(((cost?.regret ?? 0) / measured.clicks).toPrecision(3))) : "–",
      cost === null ? REFRESH.unsupported : measured ? `nats, at ${plural(measured.clicks, "click")}` : REFRESH[cost.refresh]);
    this.tiles.bound.set(share(boundUsed(stats)), measured?.bound ? `of ${figure(Math.round(measured.bound))} nats` : "");
    this.accounting.set(stats);
    this.health.set(stats);
    this.setModel(stats);
    this.setArms(stats);
    const measuredAnew = insertMeasured(this.points, stats);
    if (appendPoint(this.points, pointOf(stats, Date.now())) || measuredAnew) {
      this.draw();
    }
  }

  private reload(): void {
    run(this.context, () => this.load(), (error) => this.regret.fail(error, () => this.reload()));
  }

  private async load(): Promise<void> {
    const points = await loadHistory(this.context.api, this.collection, HISTORY_POINTS, this.context.signal);
    // The stream may have told more meanwhile.
    for (const point of this.points) {
      appendPoint(points, point);
    }
    this.points = points;
    this.draw();
  }

  private draw(): void {
    this.regret.set(this.points);
    this.quality.set(this.points);
  }

  private setModel(stats: Stats): void {
    const state = JSON.stringify(stats.model);
    if (state !== this.modelShown) {
      this.modelShown = state;
      fill(this.model, ...Object.entries(stats.model).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    }
  }

  private setArms(stats: Stats): void {
    this.arms.hidden = stats.arms === undefined;
    if (stats.arms === undefined) {
      return;
    }
    const cell = (value: string, interval?: string): HTMLElement => h("td", { class: "right" }, value,
      interval && h("span", { class: "interval" }, interval));
    const between = (range: Arm["ndcg_95"], write: (value: number) => string): string =>
      (range === null ? "" : `${write(range[0])} to ${write(range[1])}`);
    const row = (name: string, arm: Arm): HTMLElement => h("tr", {}, h("th", { scope: "row" }, name),
      cell(count(arm.decisions)), cell(count(arm.clicks)),
      cell(share(arm.click_rate), between(arm.click_rate_95, share)), cell(share(arm.first_rate), between(arm.first_rate_95, share)),
      cell(figure(arm.ndcg), between(arm.ndcg_95, (value) => value.toFixed(3))));
    fill(this.arms, h("h2", {}, "Beside the caller's own order", help("arms", "this comparison")), h("div", { class: "scroll" },
      h("table", {}, h("caption", { class: "unseen" }, "The ranker and the caller's order, with 95% confidence intervals"),
        h("thead", {}, h("tr", {}, ...["Order", "Lists", "Clicks", "Lists clicked", "Click-first", "NDCG"].map((name, i) =>
          h("th", { scope: "col", class: i > 0 && "right" }, name)))),
        h("tbody", {}, row("Ranker", stats.arms.ranker), row("Caller's order", stats.arms.control)))),
    h("p", { class: "hint" }, "The ranges are 95% confidence intervals."));
  }
}
