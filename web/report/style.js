// Colours, strokes and numbers, as all charts use them.
"use strict";

const SERIES_COLOURS = 8;

/** The value of a custom property of the page in its present theme. */
function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function withAlpha(hex, alpha) {
  return hex + Math.round(alpha * 255).toString(16).padStart(2, "0");
}

/**
 * Gives each series a colour: the same name has the same colour in every chart of the page, as long
 * as no other series of its chart holds it already. Curves and bars count on their own, so that
 * either begin with the first colours.
 */
function makeColourBook() {
  const preferred = new Map();
  const used = { line: 0, bars: 0 };
  return (kind, names) => {
    const taken = new Set();
    return names.map((name) => {
      if (!preferred.has(name)) {
        preferred.set(name, used[kind]++);
      }
      let colour = preferred.get(name) % SERIES_COLOURS;
      for (let i = 0; i < SERIES_COLOURS && taken.has(colour); ++i) {
        colour = (colour + 1) % SERIES_COLOURS;
      }
      const again = taken.has(colour); // more series than colours: told apart by dots
      taken.add(colour);
      return { property: `--series-${colour + 1}`, again };
    });
  };
}

const wholeFormat = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const shortFormat = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const compactFormat = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** A number as a tooltip shows it: whole when large, else four digits. */
function formatValue(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) {
    return value.toExponential(3);
  }
  return (size >= 10000 || Number.isInteger(value) ? wholeFormat : shortFormat).format(value);
}

/** A number as an axis shows it: 20K, 0.5. */
function formatTick(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) {
    return value.toExponential(0);
  }
  return (size >= 10000 ? compactFormat : shortFormat).format(value);
}

const AXIS_FONT_PX = 12;

/** What every axis looks like; `more` adds or replaces. */
function axisStyle(more) {
  const font = `${AXIS_FONT_PX}px ${themeColour("--sans")}`;
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
function fittedSize(u, texts, axisIndex, cycle) {
  const axis = u.axes[axisIndex];
  if (cycle > 1) {
    return axis._size;
  }
  let width = 0;
  u.ctx.save();
  u.ctx.font = `${AXIS_FONT_PX}px ${themeColour("--sans")}`;
  for (const text of texts || []) {
    width = Math.max(width, u.ctx.measureText(text ?? "").width);
  }
  u.ctx.restore();
  return Math.ceil(axis.ticks.size + axis.gap + width + 2);
}
