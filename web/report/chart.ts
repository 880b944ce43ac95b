// A chart as the page's data have it (src/sim/chart_data.h), and as it was drawn.
import type uPlot from "uplot";

export interface Series {
  name: string;
  x: number[];
  y: (number | null)[];
  error?: (number | null)[];
  dashed?: boolean;
  emphasis?: boolean;
}

export interface Chart {
  kind: "line" | "bars";
  xLabel: string;
  yLabel: string;
  logX: boolean;
  logY: boolean;
  categories: string[];
  series: Series[];
}

export interface Drawn {
  plot: uPlot;
  columns: number[][]; // uPlot's series of each of ours
  height: (width: number) => number;
}

/** Numbers that a scale can show; null is a gap. */
export function showable(values: (number | null)[], log: boolean): (number | null)[] {
  return values.map((value) => (value === null || (log && value <= 0) ? null : value));
}
