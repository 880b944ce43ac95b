// Colours, strokes and numbers, as all charts of the console and of the reports use them.
import type uPlot from "uplot";

const probe = document.createElement("span");

/** A colour of the page in its present theme, as `rgb(…)`, which canvases understand. */
export function themeColour(name: string): string {
  if (!probe.isConnected) {
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/** REQUIRES: an `rgb(…)` of themeColour */
export function withAlpha(colour: string, alpha: number): string {
  return colour.replace("rgb(", "rgba(").replace(")", `, ${alpha})`);
}

const wholeFormat = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const shortFormat = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const compactFormat = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

function outOfRange(size: number): boolean {
  return size !== 0 && (size < 1e-4 || size >= 1e15);
}

/** A number as a tooltip shows it: whole when large, else four digits. */
export function formatValue(value: number): string {
  const size = Math.abs(value);
  if (outOfRange(size)) {
    return value.toExponential(3);
  }
  return (size >= 10000 || Number.isInteger(value) ? wholeFormat : shortFormat).format(value);
}

/** A number as an axis shows it: 20K, 0.5. */
export function formatTick(value: number): string {
  const size = Math.abs(value);
  if (outOfRange(size)) {
    return value.toExponential(0);
  }
  return (size >= 10000 ? compactFormat : shortFormat).format(value);
}

export const formatTicks: uPlot.Axis.DynamicValues = (_, splits) =>
  splits.map((value) => (value === null ? "" : formatTick(value)));

const AXIS_FONT_PX = 12;

function axisFont(): string {
  return `${AXIS_FONT_PX}px ${getComputedStyle(document.documentElement).getPropertyValue("--sans").trim()}`;
}

/** What every axis looks like; `more` adds or replaces. */
export function axisStyle(more: uPlot.Axis): uPlot.Axis {
  const font = axisFont();
  const grid = themeColour("--grid");
  return {
    stroke: themeColour("--soft"),
    font,
    labelFont: font,
    size: 30,
    labelSize: 20,
    labelGap: 0,
    gap: 6,
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid, width: 1, size: 5 },
    ...more,
  };
}

/** An axis just wide enough for its texts. */
export const fittedSize: uPlot.Axis.Size = (u, texts, axisIndex, cycle) => {
  const axis = u.axes[axisIndex] as uPlot.Axis & { _size?: number };
  if (cycle > 1) {
    return axis._size ?? 0;
  }
  let width = 0;
  u.ctx.save();
  u.ctx.font = axisFont();
  for (const text of texts ?? []) {
    width = Math.max(width, u.ctx.measureText(text ?? "").width);
  }
  u.ctx.restore();
  return Math.ceil((axis.ticks?.size ?? 0) + (axis.gap ?? 0) + width + 2);
};
