// Numbers, times and sizes, as every view writes them.
import { formatValue } from "../../shared/chart_style";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1, minimumFractionDigits: 1 });

export const NOTHING = "–";

export function count(value: number): string {
  return whole.format(value);
}

/** A figure of any size; a dash where there is none. */
export function figure(value: number | null | undefined): string {
  return value === null || value === undefined ? NOTHING : formatValue(value);
}

export function share(value: number | null | undefined): string {
  return value === null || value === undefined ? NOTHING : percent.format(value);
}

/** A probability: never shown as a plain 0 or 1 that it is not. */
export function probability(value: number | null | undefined): string {
  if (value === null || value === undefined) {
    return NOTHING;
  }
  if (value > 0 && value < 0.001) {
    return "< 0.1%";
  }
  return value < 1 && value > 0.999 ? "> 99.9%" : percent.format(value);
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return `${unit === 0 || value >= 100 ? whole.format(value) : value.toFixed(1)} ${units[unit]}`;
}

/** How long something takes or is old: the two largest units. */
export function duration(milliseconds: number): string {
  const units: [number, string][] = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]];
  let rest = Math.max(0, milliseconds);
  const parts: string[] = [];
  for (const [size, name] of units) {
    const many = Math.floor(rest / size);
    if (many > 0) {
      parts.push(`${many} ${name}`);
      rest -= many * size;
    } else if (parts.length > 0) {
      break;
    }
  }
  return parts.slice(0, 2).join(" ") || (milliseconds > 0 ? `${Math.ceil(milliseconds)} ms` : "0 s");
}

const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
export function moment(milliseconds: number): string {
  return clock.format(new Date(milliseconds));
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
