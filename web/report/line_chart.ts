// Curves over a common x axis, each with x values of its own.
import uPlot from "uplot";
import { tooltipPlugin, type Entry, type Said } from "../shared/chart_parts";
import { axisStyle, fittedSize, formatTicks, formatValue, withAlpha } from "../shared/chart_style";
import { showable, type Chart, type Drawn } from "./chart";

interface Column {
  y: number;
  edges: number[]; // upper and lower, where there is an error
}

/**
 * Aligns the series for uPlot: column 0 is x, then per series y, and for series with an error its
 * upper and lower edge. RETURNS {data, columns: [{y, edges}]}
 */
function alignLines(chart: Chart): { data: uPlot.AlignedData; columns: Column[] } {
  const tables: uPlot.AlignedData[] = [];
  const columns: Column[] = [];
  let next = 1;
  for (const series of chart.series) {
    const kept = series.x.map((_, i) => i).filter((i) => !chart.logX || (series.x[i] ?? 0) > 0);
    const x = kept.map((i) => series.x[i] ?? 0);
    const y = showable(kept.map((i) => series.y[i] ?? null), chart.logY);
    const table: [number[], ...(number | null)[][]] = [x, y];
    const column: Column = { y: next++, edges: [] };
    const errors = series.error;
    if (errors) {
      const edge = (sign: number): (number | null)[] => y.map((value, j) => {
        const error = errors[kept[j] ?? 0] ?? null;
        if (value === null || error === null) {
          return null;
        }
        const moved = value + sign * error;
        return chart.logY && moved <= 0 ? value / 10 : moved;
      });
      table.push(edge(1), edge(-1));
      column.edges = [next++, next++];
    }
    tables.push(table);
    columns.push(column);
  }
  return { data: uPlot.join(tables), columns };
}

function lineSeries(entry: Entry): uPlot.Series {
  const made: uPlot.Series = {
    label: entry.name,
    show: !entry.hidden,
    stroke: entry.colour,
    width: entry.thick ? 3 : 1.75,
    points: entry.dashed ? { show: false } : { size: 5, space: 16, fill: entry.colour },
  };
  if (entry.dashed || entry.dotted) {
    made.dash = entry.dashed ? [7, 5] : [2, 3];
  }
  return made;
}

const logRange: uPlot.Range.Function = (_, min, max) =>
  (min === null || max === null ? [1, 10] : uPlot.rangeLog(min, max, 10, false));

function describeLines(chart: Chart, entries: Entry[], columns: Column[]): (u: uPlot) => Said | null {
  return (u) => {
    if (u.cursor.idx === null || u.cursor.idx === undefined) {
      return null;
    }
    const valueAt = (series: number | undefined, at: number | null | undefined): number | null =>
      (series === undefined || at === null || at === undefined ? null : u.data[series]?.[at] ?? null);
    const rows: { entry: Entry; value: number; text: string }[] = [];
    columns.forEach((column, i) => {
      const at = u.cursor.idxs?.[column.y];
      const value = valueAt(column.y, at);
      const entry = entries[i];
      if (entry && !entry.hidden && value !== null) {
        const spread = (valueAt(column.edges[0], at) ?? value) - value;
        rows.push({ entry, value, text: formatValue(value) + (spread > 0 ? ` ± ${formatValue(spread)}` : "") });
      }
    });
    rows.sort((a, b) => b.value - a.value);
    return { head: `${chart.xLabel || "x"} ${formatValue(u.data[0][u.cursor.idx] ?? 0)}`, rows };
  };
}

export function drawLines(chart: Chart, entries: Entry[], box: HTMLElement): Drawn {
  const { data, columns } = alignLines(chart);
  const height = (width: number): number => Math.round(Math.min(Math.max(width * 0.48, 250), 430));
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  entries.forEach((entry, i) => {
    series.push(lineSeries(entry));
    const [upper, lower] = columns[i]?.edges ?? [];
    if (upper !== undefined && lower !== undefined) {
      const edge = { show: !entry.hidden, stroke: entry.colour, width: 0, points: { show: false } };
      series.push({ ...edge }, { ...edge });
      bands.push({ series: [upper, lower], fill: withAlpha(entry.colour, 0.16) });
    }
  });
  const plot = new uPlot({
    width: box.clientWidth,
    height: height(box.clientWidth),
    padding: [12, 14, 0, 0],
    series,
    bands,
    scales: {
      x: { time: false, distr: chart.logX ? 3 : 1, ...(chart.logX ? { range: logRange } : {}) },
      y: { distr: chart.logY ? 3 : 1, ...(chart.logY ? { range: logRange } : {}) },
    },
    axes: [
      axisStyle({ label: chart.xLabel, values: formatTicks }),
      axisStyle({ size: fittedSize, values: formatTicks }),
    ],
    legend: { show: false },
    focus: { alpha: 0.2 },
    cursor: {
      y: false,
      hover: { prox: 40, skip: [undefined, null] },
      points: { size: (_, i) => (columns.some((column) => column.y === i) ? 8 : 0) },
      drag: { x: true, y: false },
    },
    plugins: [tooltipPlugin(describeLines(chart, entries, columns))],
  }, data, box);
  return { plot, columns: columns.map((column) => [column.y, ...column.edges]), height };
}
