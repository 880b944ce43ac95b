// Loading, empty, failed: the same look everywhere.
import { ApiError, LostError } from "../api";
import { fill, h, type Child } from "../dom";

export function loading(what: string): HTMLElement {
  return h("div", { class: "state", role: "status" },
    h("span", { class: "spinner", "aria-hidden": "true" }), h("p", {}, `Loading ${what}…`));
}

export function empty(title: string, text: string, ...actions: Child[]): HTMLElement {
  return h("div", { class: "state empty" },
    h("h3", {}, title), h("p", {}, text), actions.length > 0 && h("div", { class: "row centre" }, ...actions));
}

export function describeError(error: unknown): string {
  if (error instanceof ApiError) {
    const field = error.field ? ` (${error.field})` : "";
    const sentence = error.message.charAt(0).toUpperCase() + error.message.slice(1);
    return `${sentence}${/[.!?]$/.test(sentence) ? "" : "."}${field}`;
  }
  if (error instanceof LostError) {
    return `${error.message} This page tries again by itself.`;
  }
  return error instanceof Error ? error.message : "Something went wrong.";
}

export function failed(error: unknown, again?: () => void): HTMLElement {
  const title = error instanceof ApiError && error.status === 404 ? "Not found"
    : error instanceof ApiError && error.status === 403 ? "This key may not do that"
    : error instanceof LostError ? "No connection" : "That did not work";
  return h("div", { class: "state failed", role: "alert" },
    h("h3", {}, title), h("p", {}, describeError(error)),
    again && h("button", { type: "button", class: "button", on: { click: again } }, "Try again"));
}

/** A line under a form: what went wrong, or nothing. */
export class FormMessage {
  readonly element = h("p", { class: "form-message", role: "alert", hidden: true });

  clear(): void {
    this.element.hidden = true;
    fill(this.element);
  }
  say(text: string, kind: "bad" | "good"): void {
    this.element.hidden = false;
    this.element.className = `form-message ${kind}`;
    fill(this.element, text);
  }
  fail(error: unknown): void {
    this.say(describeError(error), "bad");
  }
}
