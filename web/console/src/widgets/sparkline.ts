// A small curve without axes, for a column of a table. Its meaning is said in words beside it.
import { svg } from "../dom";

const WIDTH = 96;
const HEIGHT = 24;

export function sparkline(values: number[], label: string): SVGElement {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const spread = high - low || 1;
  const step = WIDTH / Math.max(values.length - 1, 1);
  const place = (value: number): number => HEIGHT - 3 - ((value - low) / spread) * (HEIGHT - 6);
  const points = values.map((value, i) => `${(i * step).toFixed(1)},${(high === low ? HEIGHT / 2 : place(value)).toFixed(1)}`);
  return svg("svg", {
    class: "sparkline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": label,
    preserveAspectRatio: "none",
  }, svg("polyline", { points: points.join(" "), "vector-effect": "non-scaling-stroke" }));
}
