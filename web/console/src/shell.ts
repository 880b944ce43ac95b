// What stands around every page: the bar on top, the line about a lost connection, and short messages.
import type { ConnectionWatch } from "./connection";
import { fill, h } from "./dom";
import { collectionLink, OVERVIEW, type Route } from "./router";
import { currentTheme, setTheme, type Theme } from "./theme";
import { segmented } from "./widgets/segmented";

const MESSAGE_MS = 5000;

export class Shell {
  private readonly trail = h("nav", { class: "trail", "aria-label": "Where you are" });
  private readonly main = h("main", { id: "main", tabindex: "-1" });
  private readonly offline = h("div", { class: "offline", role: "alert", hidden: true });
  private readonly messages = h("div", { class: "messages", "aria-live": "polite" });
  readonly element: HTMLElement;

  constructor(connection: ConnectionWatch, onSignOut: () => void) {
    this.element = h("div", { class: "shell" },
      h("a", { class: "skip", href: "#main", on: { click: (event) => { event.preventDefault(); this.main.focus(); } } }, "Skip to the content"),
      h("header", { class: "bar" },
        h("a", { class: "brand", href: OVERVIEW }, h("span", { class: "logo", "aria-hidden": "true" }), "Hindsight"),
        this.trail,
        h("div", { class: "bar-end" }, themeSwitch(),
          h("button", { type: "button", class: "button quiet", on: { click: onSignOut } }, "Sign out"))),
      this.offline, this.main, this.messages);
    connection.listen((state) => {
      this.offline.hidden = state === "connected";
      fill(this.offline, state === "lost" && h("span", { class: "spinner", "aria-hidden": "true" }),
        state === "lost" && h("span", {}, "The connection to the server is lost. What you see is the last that was known; trying again…"),
        state === "lost" && h("button", { type: "button", class: "button small", on: { click: () => void connection.probe() } }, "Try now"));
      if (state === "connected") {
        this.notify("Connected again.", "good");
      }
    });
  }

  show(route: Route, view: HTMLElement, takeFocus: boolean): void {
    const parts: [string, string | null][] = route.page === "overview" ? []
      : route.page === "new" ? [["New collection", null]]
      : [[route.name, collectionLink(route.name)], ...(route.item ? [[route.item, null] as [string, null]] : [])];
    fill(this.trail, h("ol", {}, h("li", {}, h("a", { href: OVERVIEW, "aria-current": parts.length === 0 && "page" }, "Collections")),
      ...parts.map(([name, link], i) => h("li", {},
        link === null ? h("span", { "aria-current": "page" }, name)
          : h("a", { href: link, "aria-current": i === parts.length - 1 && "page" }, name)))));
    document.title = [...parts.map(([name]) => name).reverse(), "Hindsight"].join(" · ");
    fill(this.main, view);
    if (takeFocus) {
      window.scrollTo(0, 0);
      this.main.focus({ preventScroll: true });
    }
  }

  notify(text: string, kind: "good" | "bad" = "good"): void {
    const message = h("div", { class: `message ${kind}` }, text);
    [...this.messages.children].filter((other) => other.textContent === text).forEach((other) => other.remove());
    this.messages.append(message);
    setTimeout(() => message.remove(), MESSAGE_MS);
  }
}

export function themeSwitch(): HTMLElement {
  const choices: { value: Theme; name: string }[] = [
    { value: "light", name: "Light" }, { value: "system", name: "Auto" }, { value: "dark", name: "Dark" }];
  const made = segmented("Theme", choices, currentTheme(), setTheme);
  made.classList.add("theme");
  return made;
}
