// Where every click went: one bar, six outcomes, and a sum that must be right.
import { fill, h, setText } from "../dom";
import { count, share } from "../format";
import { CLICK_OUTCOMES, type ClickOutcome, type Stats } from "../types";
import { help } from "./help";

const NAMES: Record<ClickOutcome, string> = {
  learned: "Learned",
  pending: "Pending",
  duplicate: "Duplicate",
  late: "Late",
  unjoined: "Unjoined",
  quarantined: "Quarantined",
};

export class Accounting {
  private readonly bar = h("div", { class: "stack", "aria-hidden": "true" });
  private readonly segments = new Map<ClickOutcome, HTMLElement>();
  private readonly cells = new Map<ClickOutcome | "received", [HTMLElement, HTMLElement]>();
  private readonly reasons = h("p", { class: "soft small", hidden: true });
  readonly element: HTMLElement;

  constructor() {
    const row = (id: ClickOutcome | "received", name: string): HTMLElement => {
      const number = h("td", { class: "right", id: `clicks-${id}` }, "–");
      const part = h("td", { class: "right soft" });
      this.cells.set(id, [number, part]);
      return h("tr", {}, h("th", { scope: "row" },
        id !== "received" && h("span", { class: `dot ${id}`, "aria-hidden": "true" }), name, help(id, name.toLowerCase())), number, part);
    };
    for (const outcome of CLICK_OUTCOMES) {
      const segment = h("span", { class: outcome });
      this.segments.set(outcome, segment);
      this.bar.append(segment);
    }
    this.element = h("div", {}, this.bar,
      h("table", { class: "plain" },
        h("caption", { class: "unseen" }, "Clicks by what became of them"),
        h("thead", { class: "unseen" }, h("tr", {},
          h("th", { scope: "col" }, "Outcome"), h("th", { scope: "col" }, "Clicks"), h("th", { scope: "col" }, "Share"))),
        h("tbody", {}, ...CLICK_OUTCOMES.map((outcome) => row(outcome, NAMES[outcome]))),
        h("tfoot", {}, row("received", "Received"))),
      this.reasons);
  }

  set(stats: Stats): void {
    const total = stats.clicks.received;
    for (const [id, [number, part]] of this.cells) {
      setText(number, count(stats.clicks[id]));
      setText(part, total > 0 ? share(stats.clicks[id] / total) : "");
    }
    for (const [outcome, segment] of this.segments) {
      segment.style.flexGrow = String(stats.clicks[outcome]);
    }
    const reasons = Object.entries(stats.quarantine_reasons);
    this.reasons.hidden = reasons.length === 0;
    fill(this.reasons, "Quarantined because: ", reasons.map(([reason, many]) => `${reason} (${count(many)})`).join(", "));
  }
}
