// Bars that lie: categories below each other, so that long names stay readable on a narrow page.
import uPlot from "uplot";
import { tooltipPlugin, type Entry, type Said } from "../shared/chart_parts";
import { axisStyle, fittedSize, formatTicks, formatValue, themeColour, withAlpha } from "../shared/chart_style";
import { showable, type Chart, type Drawn } from "./chart";

const BAR_PX = 15;
const CATEGORY_GAP_PX = 15;
const SHARE = 0.76; // of a category's height that its bars take

/** The places of the visible series within a category, as fractions of its height. */
function barSlots(u: uPlot, count: number): { width: number; start: (seriesIndex: number) => number } {
  const visible: number[] = [];
  for (let i = 1; i <= count; ++i) {
    if (u.series[i]?.show) {
      visible.push(i);
    }
  }
  const width = SHARE / Math.max(visible.length, 1);
  return { width, start: (seriesIndex) => (1 - SHARE) / 2 + visible.indexOf(seriesIndex) * width };
}

function barPaths(count: number, categories: string[]): uPlot.Series.PathBuilder | undefined {
  return uPlot.paths.bars?.({
    radius: 0.12,
    disp: {
      x0: {
        unit: 2, // fractions of the plot's height
        values: (u, seriesIndex) => {
          const { start } = barSlots(u, count);
          return categories.map((_, i) => (i + start(seriesIndex)) / categories.length);
        },
      },
      size: {
        unit: 2,
        values: (u) => [barSlots(u, count).width / categories.length * 0.92],
      },
    },
  });
}

/** A thin line from y - error to y + error over each bar. */
function errorPlugin(chart: Chart): uPlot.Plugin {
  const draw = (u: uPlot): void => {
    const { width, start } = barSlots(u, chart.series.length);
    u.ctx.save();
    u.ctx.strokeStyle = themeColour("--ink");
    u.ctx.lineWidth = 1.25 * uPlot.pxRatio;
    chart.series.forEach((series, s) => {
      const errors = series.error;
      if (!errors || !u.series[s + 1]?.show) {
        return;
      }
      series.y.forEach((value, i) => {
        const error = errors[i] ?? 0;
        if (value === null || !(error > 0) || (chart.logY && value - error <= 0)) {
          return;
        }
        const middle = u.bbox.top + u.bbox.height * (i + start(s + 1) + width / 2) / chart.categories.length;
        u.ctx.beginPath();
        u.ctx.moveTo(u.valToPos(value - error, "y", true), middle);
        u.ctx.lineTo(u.valToPos(value + error, "y", true), middle);
        u.ctx.stroke();
      });
    });
    u.ctx.restore();
  };
  return { hooks: { draw } };
}

function describeBars(chart: Chart, entries: Entry[]): (u: uPlot) => Said | null {
  return (u) => {
    const at = u.cursor.idx;
    if (at === null || at === undefined) {
      return null;
    }
    const rows: Said["rows"] = [];
    chart.series.forEach((series, i) => {
      const entry = entries[i];
      const value = series.y[at] ?? null;
      const error = series.error?.[at] ?? 0;
      if (entry && !entry.hidden) {
        rows.push({ entry, text: value === null ? "–" : formatValue(value) + (error > 0 ? ` ± ${formatValue(error)}` : "") });
      }
    });
    return { head: chart.categories[at] ?? "", rows };
  };
}

/** The values' range: from zero, with room for the errors. */
function barRange(chart: Chart, u: uPlot): [number, number] {
  let low = chart.logY ? Infinity : 0;
  let high = chart.logY ? 0 : -Infinity;
  chart.series.forEach((series, s) => {
    series.y.forEach((value, i) => {
      if (value !== null && u.series[s + 1]?.show && (!chart.logY || value > 0)) {
        const error = series.error ? series.error[i] ?? 0 : 0;
        low = Math.min(low, chart.logY ? value : value - error);
        high = Math.max(high, value + error);
      }
    });
  });
  if (!Number.isFinite(low) || !Number.isFinite(high)) {
    return chart.logY ? [1, 10] : [0, 1];
  }
  if (chart.logY) {
    return uPlot.rangeLog(low / 2, high, 10, false) as [number, number];
  }
  high = Math.max(high, 0);
  const pad = (high - low || 1) * 0.04;
  return [low < 0 ? low - pad : 0, high > 0 ? high + pad : 0];
}

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Draws into `box`. RETURNS as drawLines. */
export function drawBars(chart: Chart, entries: Entry[], box: HTMLElement): Drawn {
  const categories = chart.categories;
  const count = entries.length;
  const height = (): number => categories.length * (count * BAR_PX + CATEGORY_GAP_PX) + 58;
  const anyEmphasis = entries.some((entry) => entry.thick);
  const paths = barPaths(count, categories);
  const longest = (): number => Math.max(10, Math.floor(box.clientWidth * 0.36 / 6.5));
  const plot = new uPlot({
    width: box.clientWidth,
    height: height(),
    padding: [4, 18, 0, 0],
    series: [{}, ...entries.map((entry): uPlot.Series => ({
      label: entry.name,
      show: !entry.hidden,
      width: 0,
      fill: anyEmphasis && !entry.thick ? withAlpha(entry.colour, 0.6) : entry.colour,
      ...(paths ? { paths } : {}),
      points: { show: false },
    }))],
    scales: {
      x: { time: false, ori: 1, dir: -1, range: () => [-0.5, categories.length - 0.5] },
      y: { ori: 0, dir: 1, distr: chart.logY ? 3 : 1, range: (u) => barRange(chart, u) },
    },
    axes: [
      axisStyle({
        scale: "x",
        side: 3,
        size: fittedSize,
        splits: () => categories.map((_, i) => i),
        values: () => categories.map((name) => shorten(name, longest())),
        grid: { show: false },
        ticks: { show: false, size: 0 },
        stroke: themeColour("--ink"),
      }),
      axisStyle({
        scale: "y",
        side: 2,
        label: chart.yLabel,
        values: formatTicks,
      }),
    ],
    legend: { show: false },
    focus: { alpha: 0.2 },
    cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
    plugins: [errorPlugin(chart), tooltipPlugin(describeBars(chart, entries))],
  }, [categories.map((_, i) => i), ...chart.series.map((series) => showable(series.y, chart.logY))], box);
  return { plot, columns: entries.map((_, i) => [i + 1]), height };
}
