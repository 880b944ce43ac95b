// Curves over a common axis: redrawn as points come, switched by a legend, walked by mouse, finger or arrow keys, and
// told in words and as a table for those who do not see them.
import uPlot from "uplot";
import { axisStyle, fittedSize, formatTick, formatTicks, formatValue, themeColour } from "../../../shared/chart_style";
import { makeLegend, tooltipPlugin, type Entry, type Said } from "../../../shared/chart_parts";
import { fill, h, setText } from "../dom";
import { moment } from "../format";
import type { Meaning } from "../texts";
import { onThemeChange } from "../theme";
import { help } from "./help";

export interface Curve {
  id: string;
  name: string;
  property: string;
  meaning: Meaning;
  values: (number | null)[];
  dashed?: boolean;
  dotted?: boolean;
  thick?: boolean;
  hidden?: boolean; // until the reader switches it on
}

export interface PlotData {
  x: number[]; // rising; milliseconds where `time`
  time: boolean;
  xLabel: string;
  share?: boolean; // the y axis goes from 0 to 1
  log?: boolean;   // the y axis is logarithmic; what is not above 0 is left out
  curves: Curve[];
  summary: string; // what the plot shows, in a sentence
}

const TABLE_ROWS = 12;
const FEW_POINTS = 40; // that are drawn as dots, too

const shareTicks: uPlot.Axis.DynamicValues = (_, splits) => splits.map((value) => `${Math.round(value * 100)}%`);

/** As many digits as tell neighbours apart. */
const steppedTicks: uPlot.Axis.DynamicValues = (_u, splits, _axis, _space, step) => {
  const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  return splits.map((value) => (digits > 0 && Math.abs(value) < 10_000 ? value.toFixed(digits) : formatTick(value)));
};

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const second = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const clockTicks: uPlot.Axis.DynamicValues = (_u, splits, _axis, _space, step) => {
  const format = step >= 86_400 ? day : step >= 60 ? minute : second;
  return splits.map((value) => format.format(new Date(value * 1000)));
};

const LEAST_SECONDS = 60;

/** A minute at least, so that a curve that has just begun grows into its place. */
const timeRange: uPlot.Range.Function = (u, low, high) => {
  if (low === null || high === null) {
    return [0, LEAST_SECONDS];
  }
  const last = u.data[0].length === 1 ? low : high; // uPlot adds years to a single moment
  return [Math.min(low, last - LEAST_SECONDS), last];
};

function yScale(data: PlotData): uPlot.Scale {
  if (data.share) {
    return { range: [0, 1] };
  }
  if (data.log) {
    return { distr: 3, range: (_, low, high) => (low === null || high === null ? [1, 10] : uPlot.rangeLog(low, high, 10, false)) };
  }
  return { range: { min: { pad: 0.1, soft: 0, mode: 3 }, max: { pad: 0.1, mode: 0 } } };
}

export class Plot {
  readonly element: HTMLElement;
  private readonly box = h("div", { class: "plot", tabindex: "0", role: "group" });
  private readonly summary = h("p", { class: "plot-summary" });
  private readonly spoken = h("p", { class: "unseen", "aria-live": "polite" });
  private readonly table = h("details", { class: "plot-table" }, h("summary", {}, "Show as a table"));
  private legend: HTMLElement | null = null;
  private plot: uPlot | null = null;
  private data: PlotData | null = null;
  private entries: Entry[] = [];
  private readonly switched = new Map<string, boolean>(); // by curve: what the reader chose to hide
  private at: number | null = null;
  private pending = false;
  private readonly ends: (() => void)[] = [];

  /** `onSelect`: a point was clicked, by its index. */
  constructor(private readonly label: string, private readonly onSelect: ((index: number) => void) | null) {
    this.box.setAttribute("aria-label", label);
    this.element = h("div", { class: "plot-frame" }, this.box, this.spoken, this.summary, this.table);
    this.box.addEventListener("keydown", (event) => this.walk(event));
    this.box.addEventListener("click", (event) => this.clicked(event));
    this.table.addEventListener("toggle", () => this.fillTable());
    const observer = new ResizeObserver(() => this.fit());
    observer.observe(this.box);
    this.ends.push(() => observer.disconnect(), onThemeChange(() => this.rebuild()));
  }

  set(data: PlotData): void {
    const before = this.data;
    this.data = data;
    setText(this.summary, data.summary);
    this.box.setAttribute("aria-label", `${this.label}. ${data.summary}`);
    const same = before !== null && this.plot !== null && before.time === data.time && before.xLabel === data.xLabel && before.log === data.log &&
      before.curves.map((curve) => curve.id).join() === data.curves.map((curve) => curve.id).join();
    if (!same) {
      this.at = null;
      this.rebuild();
    } else if (!this.pending) {
      this.pending = true;
      requestAnimationFrame(() => {
        this.pending = false;
        this.plot?.setData(this.columns());
        this.fillTable();
      });
    }
  }

  end(): void {
    this.plot?.destroy();
    this.plot = null;
    this.ends.forEach((end) => end());
  }

  private columns(): uPlot.AlignedData {
    const data = this.data;
    if (data === null) {
      return [[]];
    }
    const x = data.time ? data.x.map((value) => value / 1000) : data.x;
    return [x, ...data.curves.map((curve) => (data.log ? curve.values.map((value) => (value !== null && value > 0 ? value : null)) : curve.values))];
  }

  private height(): number {
    return Math.round(Math.min(Math.max(this.box.clientWidth * 0.42, 220), 360));
  }

  private fit(): void {
    if (this.plot !== null && this.box.clientWidth > 0 && this.plot.width !== this.box.clientWidth) {
      this.plot.setSize({ width: this.box.clientWidth, height: this.height() });
    } else if (this.plot === null) {
      this.rebuild();
    }
  }

  private rebuild(): void {
    const data = this.data;
    if (data === null || this.box.clientWidth === 0) {
      return; // drawn as soon as the page shows it
    }
    this.entries = data.curves.map((curve) => ({
      name: curve.name,
      property: curve.property,
      colour: themeColour(curve.property),
      dashed: curve.dashed === true,
      dotted: curve.dotted === true,
      thick: curve.thick === true,
      hidden: this.switched.get(curve.id) ?? curve.hidden === true,
    }));
    this.plot?.destroy();
    this.plot = new uPlot(this.options(data), this.columns(), this.box);
    this.drawLegend(data);
    this.fillTable();
  }

  private options(data: PlotData): uPlot.Options {
    return {
      width: this.box.clientWidth,
      height: this.height(),
      padding: [10, 12, 0, 0],
      series: [{}, ...this.entries.map((entry): uPlot.Series => ({
        label: entry.name,
        show: !entry.hidden,
        stroke: entry.colour,
        width: entry.thick ? 2.5 : 1.6,
        spanGaps: true,
        points: { show: (_u, _series, from, to) => !entry.dashed && !entry.dotted && to - from <= FEW_POINTS, size: 5, fill: entry.colour },
        ...(entry.dashed ? { dash: [7, 5] } : entry.dotted ? { dash: [2, 4] } : {}),
      }))],
      scales: { x: data.time ? { time: true, range: timeRange } : { time: false }, y: yScale(data) },
      axes: [
        axisStyle({ label: data.xLabel, values: data.time ? clockTicks : formatTicks, space: data.time ? 84 : 56 }),
        axisStyle({ size: fittedSize, values: data.share ? shareTicks : data.log ? formatTicks : steppedTicks }),
      ],
      legend: { show: false },
      focus: { alpha: 0.25 },
      cursor: { y: false, points: { size: 8 }, drag: { x: true, y: false }, dataIdx: (_u, _s, index) => index },
      hooks: { setCursor: [(u) => { this.at = u.cursor.idx ?? this.at; }] },
      plugins: [tooltipPlugin((u) => (u.cursor.idx === null || u.cursor.idx === undefined ? null : this.describe(u.cursor.idx)))],
    };
  }

  private describe(index: number): Said | null {
    const data = this.data;
    const x = data?.x[index];
    if (!data || x === undefined) {
      return null;
    }
    const rows: Said["rows"] = [];
    data.curves.forEach((curve, i) => {
      const entry = this.entries[i];
      const value = curve.values[index];
      if (entry && !entry.hidden && value !== null && value !== undefined) {
        rows.push({ entry, text: this.text(value) });
      }
    });
    return { head: this.place(x), rows };
  }

  private place(x: number): string {
    return this.data?.time ? moment(x) : `${formatValue(x)} ${this.data?.xLabel ?? ""}`;
  }

  private text(value: number): string {
    return this.data?.share ? `${(value * 100).toFixed(1)}%` : formatValue(value);
  }

  private drawLegend(data: PlotData): void {
    this.legend?.remove();
    this.legend = makeLegend(this.entries, (index) => {
      const curve = data.curves[index];
      const hidden = this.entries[index]?.hidden === true;
      if (curve) {
        this.switched.set(curve.id, hidden);
      }
      this.plot?.setSeries(index + 1, { show: !hidden });
    }, (index) => this.plot?.setSeries(index === null ? null : index + 1, { focus: index !== null }));
    [...this.legend.children].forEach((row, i) => {
      const curve = data.curves[i];
      if (curve) {
        row.append(help(curve.meaning, curve.name.toLowerCase()));
      }
    });
    this.element.prepend(this.legend);
  }

  private clicked(event: MouseEvent): void {
    const u = this.plot;
    if (u !== null && this.onSelect !== null && this.at !== null && event.target === u.over && u.select.width === 0) {
      this.onSelect(this.at);
    }
  }

  /** Arrow keys go from point to point, Enter asks what was ranked there. */
  private walk(event: KeyboardEvent): void {
    const u = this.plot;
    const last = (this.data?.x.length ?? 0) - 1;
    if (u === null || last < 0) {
      return;
    }
    const stride = event.shiftKey ? Math.max(1, Math.round(last / 20)) : 1;
    const from = this.at ?? last;
    const moves: Record<string, number> = { ArrowLeft: from - stride, ArrowRight: from + stride, Home: 0, End: last };
    const wanted = moves[event.key];
    if (wanted !== undefined) {
      event.preventDefault();
      const index = Math.min(Math.max(wanted, 0), last);
      u.setCursor({ left: u.valToPos(u.data[0][index] ?? 0, "x"), top: u.over.clientHeight / 2 });
      this.at = index;
      const said = this.describe(index);
      setText(this.spoken, said ? `${said.head}: ${said.rows.map((row) => `${row.entry.name} ${row.text}`).join(", ")}` : "");
    } else if (event.key === "Enter" && this.onSelect !== null) {
      event.preventDefault();
      this.onSelect(from);
    }
  }

  /** A dozen points, evenly spread; made only while it is open. */
  private fillTable(): void {
    const data = this.data;
    if (!this.table.open || data === null) {
      return;
    }
    const last = data.x.length - 1;
    const rows = Math.min(TABLE_ROWS, data.x.length);
    const picked = [...new Set(Array.from({ length: rows }, (_, i) => Math.round((i * last) / Math.max(1, rows - 1))))];
    const table = h("table", {},
      h("caption", { class: "unseen" }, this.label),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, data.xLabel),
        ...data.curves.map((curve) => h("th", { scope: "col", class: "right" }, curve.name)))),
      h("tbody", {}, ...picked.map((i) => h("tr", {},
        h("th", { scope: "row" }, data.time ? moment(data.x[i] ?? 0) : formatValue(data.x[i] ?? 0)),
        ...data.curves.map((curve) => {
          const value = curve.values[i];
          return h("td", { class: "right" }, value === null || value === undefined ? "–" : this.text(value));
        })))));
    fill(this.table, h("summary", {}, "Show as a table"), h("div", { class: "scroll" }, table));
  }
}
