// Puts every chart of the page's data into its figure, and keeps it fitting the page and the theme.
"use strict";

function showProblem(message) {
  const notice = document.getElementById("problem");
  notice.textContent = `A chart could not be drawn (${message}). The tables hold all figures.`;
  notice.hidden = false;
}

window.addEventListener("error", (event) => showProblem(event.message));
document.addEventListener("securitypolicyviolation", (event) => showProblem(event.violatedDirective));

/** Legend entries: what of a series does not change when the chart is drawn again. */
function makeEntries(chart, colours) {
  return chart.series.map((series, i) => ({
    name: series.name,
    property: colours[i].property,
    bar: chart.kind === "bars",
    dashed: series.dashed === true,
    dotted: colours[i].again,
    thick: series.emphasis === true,
    hidden: false,
  }));
}

function mountChart(chart, colours, box) {
  const draw = chart.kind === "bars" ? drawBars : drawLines;
  const entries = makeEntries(chart, colours);
  let legend = null;
  let drawn = null;

  const rebuild = () => {
    for (const entry of entries) {
      entry.colour = themeColour(entry.property);
    }
    legend?.remove();
    drawn?.plot.destroy();
    drawn = draw(chart, entries, box);
    if (entries.length > 1) {
      legend = makeLegend(entries, (index) => {
        drawn.plot.batch(() => {
          for (const column of drawn.columns[index]) {
            drawn.plot.setSeries(column, { show: !entries[index].hidden });
          }
        });
        drawn.plot.redraw(true, true);
      }, (index) => drawn.plot.setSeries(index === null ? null : drawn.columns[index][0], { focus: index !== null }));
      const axisName = box.parentNode.querySelector(".axis-name");
      (axisName ?? box).before(legend);
    }
  };

  rebuild();
  let width = box.clientWidth;
  new ResizeObserver(() => {
    if (box.clientWidth !== width && box.clientWidth > 0) {
      width = box.clientWidth;
      drawn.plot.setSize({ width, height: drawn.height(width) });
    }
  }).observe(box);
  return rebuild;
}

function mountAll() {
  const { charts } = JSON.parse(document.getElementById("report-data").textContent);
  const colourBook = makeColourBook();
  const rebuilds = charts.map((chart, i) =>
    mountChart(chart, colourBook(chart.kind, chart.series.map((series) => series.name)),
      document.getElementById(`plot-${i}`)));
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => rebuilds.forEach((rebuild) => rebuild()));
  }
  document.documentElement.dataset.chartsDrawn = String(rebuilds.length);
}

mountAll();
