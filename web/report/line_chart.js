// Curves over a common x axis, each with x values of its own.
"use strict";

/** Numbers that a scale can show; null is a gap. */
function showable(values, log) {
  return values.map((value) => (value === null || (log && value <= 0) ? null : value));
}

/**
 * Aligns the series for uPlot: column 0 is x, then per series y, and for series with an error its
 * upper and lower edge. RETURNS {data, columns: [{y, edges}]}
 */
function alignLines(chart) {
  const tables = [];
  const columns = [];
  let next = 1;
  for (const series of chart.series) {
    const kept = series.x.map((_, i) => i).filter((i) => !chart.logX || series.x[i] > 0);
    const x = kept.map((i) => series.x[i]);
    const y = showable(kept.map((i) => series.y[i]), chart.logY);
    const table = [x, y];
    const column = { y: next++, edges: [] };
    if (series.error) {
      const edge = (sign) => y.map((value, j) => {
        if (value === null || series.error[kept[j]] === null) {
          return null;
        }
        const moved = value + sign * series.error[kept[j]];
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

function lineSeries(entry) {
  const made = {
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

function logRange(u, min, max) {
  return min === null || max === null ? [1, 10] : uPlot.rangeLog(min, max, 10, false);
}

function describeLines(chart, entries, columns) {
  return (u) => {
    if (u.cursor.idx === null || u.cursor.idx === undefined) {
      return null;
    }
    const rows = [];
    columns.forEach((column, i) => {
      const at = u.cursor.idxs[column.y];
      const value = at === null || at === undefined ? null : u.data[column.y][at];
      if (!entries[i].hidden && value !== null && value !== undefined) {
        const spread = column.edges.length > 0 ? u.data[column.edges[0]][at] - value : 0;
        rows.push({ entry: entries[i], value, text: formatValue(value) + (spread > 0 ? ` ± ${formatValue(spread)}` : "") });
      }
    });
    rows.sort((a, b) => b.value - a.value);
    return { head: `${chart.xLabel || "x"} ${formatValue(u.data[0][u.cursor.idx])}`, rows };
  };
}

/** Draws into `box`. RETURNS {plot, columns: uPlot's series of each of ours, height(width)}. */
function drawLines(chart, entries, box) {
  const { data, columns } = alignLines(chart);
  const height = (width) => Math.round(Math.min(Math.max(width * 0.48, 250), 430));
  const series = [{}];
  const bands = [];
  entries.forEach((entry, i) => {
    series.push(lineSeries(entry));
    if (columns[i].edges.length > 0) {
      const edge = { show: !entry.hidden, stroke: entry.colour, width: 0, points: { show: false } };
      series.push({ ...edge }, { ...edge });
      bands.push({ series: columns[i].edges, fill: withAlpha(entry.colour, 0.16) });
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
      axisStyle({ label: chart.xLabel, values: (_, splits) => splits.map((v) => (v === null ? "" : formatTick(v))) }),
      axisStyle({ size: fittedSize, values: (_, splits) => splits.map((v) => (v === null ? "" : formatTick(v))) }),
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
