// Puts every chart of the page's data into its figure, and keeps it fitting the page and the theme.
import { makeLegend, type Entry } from "../shared/chart_parts";
import { themeColour } from "../shared/chart_style";
import { drawBars } from "./bar_chart";
import type { Chart, Drawn } from "./chart";
import { makeColourBook, type SeriesColour } from "./colour_book";
import { drawLines } from "./line_chart";

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`the page has no ${id}`);
  }
  return found;
}

function showProblem(message: string): void {
  const notice = byId("problem");
  notice.textContent = `A chart could not be drawn (${message}). The tables hold all figures.`;
  notice.hidden = false;
}

window.addEventListener("error", (event) => showProblem(event.message));
document.addEventListener("securitypolicyviolation", (event) => showProblem(event.violatedDirective));

/** Legend entries: what of a series does not change when the chart is drawn again. */
function makeEntries(chart: Chart, colours: SeriesColour[]): Entry[] {
  return chart.series.map((series, i) => ({
    name: series.name,
    property: colours[i]?.property ?? "--series-1",
    colour: "",
    bar: chart.kind === "bars",
    dashed: series.dashed === true,
    dotted: colours[i]?.again === true,
    thick: series.emphasis === true,
    hidden: false,
  }));
}

/** RETURNS: a function that draws the chart again, in the colours of then. */
function mountChart(chart: Chart, colours: SeriesColour[], box: HTMLElement): () => void {
  const draw = chart.kind === "bars" ? drawBars : drawLines;
  const entries = makeEntries(chart, colours);
  let legend: HTMLElement | null = null;
  let drawn: Drawn | null = null;

  const rebuild = (): void => {
    for (const entry of entries) {
      entry.colour = themeColour(entry.property);
    }
    legend?.remove();
    drawn?.plot.destroy();
    const made = draw(chart, entries, box);
    drawn = made;
    if (entries.length > 1) {
      legend = makeLegend(entries, (index) => {
        made.plot.batch(() => {
          for (const column of made.columns[index] ?? []) {
            made.plot.setSeries(column, { show: entries[index]?.hidden !== true });
          }
        });
        made.plot.redraw(true, true);
      }, (index) => made.plot.setSeries(index === null ? null : made.columns[index]?.[0] ?? null, { focus: index !== null }));
      const axisName = box.parentNode?.querySelector(".axis-name");
      (axisName ?? box).before(legend);
    }
  };

  rebuild();
  let width = box.clientWidth;
  new ResizeObserver(() => {
    if (box.clientWidth !== width && box.clientWidth > 0) {
      width = box.clientWidth;
      drawn?.plot.setSize({ width, height: drawn.height(width) });
    }
  }).observe(box);
  return rebuild;
}

function mountAll(): void {
  const { charts } = JSON.parse(byId("report-data").textContent ?? "") as { charts: Chart[] };
  const colourBook = makeColourBook();
  const rebuilds = charts.map((chart, i) =>
    mountChart(chart, colourBook(chart.kind, chart.series.map((series) => series.name)),
      byId(`plot-${i}`)));
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => rebuilds.forEach((rebuild) => rebuild()));
  }
  document.documentElement.dataset["chartsDrawn"] = String(rebuilds.length);
}

mountAll();
