// Fields for a collection's settings beside its ranker.
import { h } from "../dom";
import type { Collection, CollectionWish, Settings } from "../types";

type NumberName = "window_seconds" | "control" | "max_open" | "max_scan" | "memory_budget" | "retain_days";
type SwitchName = "log_queries" | "log_candidates" | "decisions_before_reply";

const NUMBERS: { name: NumberName; label: string; hint: string; start: number; step: string }[] = [
  { name: "window_seconds", label: "Window in seconds", hint: "How long a list waits for clicks", start: 1800, step: "any" },
  { name: "control", label: "Control share", hint: "The share of lists in the caller's own order, 0 to 1, for comparison", start: 0, step: "any" },
  { name: "max_open", label: "Open lists at most", hint: "Beyond it the oldest close early", start: 1_000_000, step: "1" },
  { name: "max_scan", label: "Candidates at most", hint: "That a ranker may touch one by one", start: 20_000, step: "1" },
  { name: "memory_budget", label: "Memory in bytes", hint: "At the limit calls are refused", start: 1 << 30, step: "1" },
  { name: "retain_days", label: "Keep events for days", hint: "0: for ever", start: 0, step: "1" },
];

const SWITCHES: { name: SwitchName; label: string; hint: string }[] = [
  { name: "log_queries", label: "Store query texts", hint: "Otherwise the log has none" },
  { name: "log_candidates", label: "Store what lists were chosen from", hint: "So that other rankers can be evaluated on the log" },
  { name: "decisions_before_reply", label: "Log lists before they are returned", hint: "Slower; otherwise a few milliseconds behind" },
];

const UNKNOWN: [Settings["on_unknown"], string][] = [
  ["add", "join the library"], ["append", "come last, in the caller's order"], ["error", "are an error"]];

export class SettingFields {
  private readonly readers: (() => CollectionWish)[] = [];
  readonly element: HTMLElement;

  constructor(now: Collection | null) {
    const select = h("select", { id: "on_unknown" }, ...UNKNOWN.map(([value, text]) => h("option", { value }, text)));
    const before = now?.on_unknown ?? "add";
    select.value = before;
    this.readers.push(() => {
      const value = select.value as Settings["on_unknown"];
      return now !== null && value === before ? {} : { on_unknown: value };
    });
    const details = h("details", { open: now !== null },
      h("summary", {}, "Limits, logging and comparison"),
      h("div", { class: "field-grid" }, ...NUMBERS.map((spec) => this.number(spec, now)), ...SWITCHES.map((spec) => this.toggle(spec, now))));
    this.element = h("fieldset", {}, h("legend", {}, "Settings"),
      h("div", { class: "field" }, h("label", { for: "on_unknown" }, "Candidates that are not in the library"), select), details);
  }

  /** What differs from the collection as it is; of a new one, everything. */
  wish(): CollectionWish {
    return Object.assign({}, ...this.readers.map((read) => read())) as CollectionWish;
  }

  private number(spec: (typeof NUMBERS)[number], now: Collection | null): HTMLElement {
    const before = now?.[spec.name] ?? spec.start;
    const input = h("input", { id: spec.name, type: "number", step: spec.step, value: String(before), "aria-describedby": `${spec.name}-hint` });
    this.readers.push(() => {
      const value = input.value === "" ? spec.start : Number(input.value);
      return now !== null && value === before ? {} : { [spec.name]: value };
    });
    return h("div", { class: "field" }, h("label", { for: spec.name }, spec.label), input,
      h("p", { class: "hint", id: `${spec.name}-hint` }, spec.hint));
  }

  private toggle(spec: (typeof SWITCHES)[number], now: Collection | null): HTMLElement {
    const before = now?.[spec.name] ?? false;
    const input = h("input", { id: spec.name, type: "checkbox", checked: before, "aria-describedby": `${spec.name}-hint` });
    this.readers.push(() => (now !== null && input.checked === before ? {} : { [spec.name]: input.checked }));
    return h("div", { class: "field" }, h("label", { class: "check", for: spec.name }, input, spec.label),
      h("p", { class: "hint", id: `${spec.name}-hint` }, spec.hint));
  }
}
