// Fields for a ranker's parameters, made from what the server says about them.
import { freshId, h } from "../dom";
import type { ParamSpec, ParamValue } from "../types";

interface Field {
  element: HTMLElement;
  value: () => ParamValue;
}

function limits(spec: ParamSpec): string {
  const low = spec.minimum ?? null;
  const high = spec.maximum ?? null;
  const from = low === null ? "" : spec.minimum_excluded ? `above ${low}` : `from ${low}`;
  const to = high === null ? "" : `up to ${high}`;
  return [from, to].filter((part) => part !== "").join(" ");
}

function makeField(spec: ParamSpec, value: ParamValue): Field {
  const id = freshId(`param-${spec.name}`);
  const hint = [spec.help, limits(spec)].filter((part) => part !== "").join("; ");
  const frame = (input: HTMLElement): HTMLElement =>
    h("div", { class: "field" }, h("label", { for: id }, spec.name), input, h("p", { class: "hint" }, hint));
  if (spec.type === "switch") {
    const input = h("input", { id, type: "checkbox", checked: value === true, "data-param": spec.name });
    return { element: h("div", { class: "field" }, h("label", { class: "check", for: id }, input, spec.name), h("p", { class: "hint" }, hint)), value: () => input.checked };
  }
  if (spec.type === "word") {
    const input = h("select", { id, "data-param": spec.name }, ...(spec.words ?? []).map((word) => h("option", { value: word }, word)));
    input.value = String(value);
    return { element: frame(input), value: () => input.value };
  }
  const input = h("input", { id, type: "number", step: spec.type === "integer" ? 1 : "any", value: String(value), "data-param": spec.name });
  return { element: frame(input), value: () => (input.value === "" ? spec.default : Number(input.value)) };
}

export class ParamFields {
  private readonly fields = new Map<string, { field: Field; before: ParamValue }>();

  /** What `present` does not say has its default. */
  constructor(specs: ParamSpec[], present: Record<string, ParamValue>) {
    for (const spec of specs) {
      const before = present[spec.name] ?? spec.default;
      this.fields.set(spec.name, { field: makeField(spec, before), before });
    }
  }

  get elements(): HTMLElement[] {
    return [...this.fields.values()].map(({ field }) => field.element);
  }
  changed(): boolean {
    return [...this.fields.values()].some(({ field, before }) => field.value() !== before);
  }
  values(): Record<string, ParamValue> {
    return Object.fromEntries([...this.fields].map(([name, { field }]) => [name, field.value()]));
  }
}
