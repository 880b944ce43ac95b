// Ranks and clicks by hand, and shows what becomes of it.
import { run, type Context } from "../context";
import { fill, h } from "../dom";
import { count, figure } from "../format";
import type { ClicksReply, Ranked, RankedItem, RankWish, Stats } from "../types";
import { Accounting } from "../widgets/accounting";
import { help } from "../widgets/help";
import { rankedList } from "../widgets/ranked_list";
import { segmented } from "../widgets/segmented";
import { empty, FormMessage } from "../widgets/states";

type Source = "library" | "topic" | "list";

const OUTCOMES: [keyof ClicksReply, string][] = [
  ["accepted", "The click was accepted: it is durable, and learned or about to be."],
  ["duplicate", "A duplicate: this item of this list was clicked before, and counts once."],
  ["late", "Too late: the list's window has closed. The click is stored, not learned."],
  ["unjoined", "Unjoined: the server knows no such list."],
  ["quarantined", "Quarantined: a click like this is impossible."],
];

export class TryTab {
  private source: Source = "library";
  private readonly topic = h("input", { id: "try-topic", maxlength: "256", autocomplete: "off" });
  private readonly list = h("textarea", { id: "try-list", rows: "5", spellcheck: "false", placeholder: "One id per line" });
  private readonly k = h("input", { id: "try-k", type: "number", min: "1", max: "1000", value: "10", required: true });
  private readonly query = h("input", { id: "try-query", maxlength: "4096", autocomplete: "off" });
  private readonly user = h("input", { id: "try-user", maxlength: "256", autocomplete: "off" });
  private readonly topicField = h("div", { class: "field", hidden: true }, h("label", { for: "try-topic" }, "Topic"), this.topic);
  private readonly listField = h("div", { class: "field", hidden: true },
    h("label", { for: "try-list" }, "Candidates"), this.list, h("p", { class: "hint" }, "Ids that are new join the library, unless the settings say otherwise."));
  private readonly message = new FormMessage();
  private readonly outcome = h("p", { class: "form-message good", role: "status", hidden: true });
  private readonly result = h("div", {}, empty("No list yet", "Choose candidates and rank them. Then click what a user would click."));
  private readonly accounting = new Accounting();
  private readonly clicked = new Set<string>();
  readonly element: HTMLElement;

  constructor(private readonly context: Context, private readonly collection: string) {
    const form = h("form", { class: "form", novalidate: true },
      h("div", { class: "field" }, h("span", { class: "label" }, "Candidates from"),
        segmented<Source>("Candidates from", [
          { value: "library", name: "Whole library" }, { value: "topic", name: "A topic" }, { value: "list", name: "A list" }],
        this.source, (source) => this.choose(source))),
      this.topicField, this.listField,
      h("div", { class: "field-row" },
        h("div", { class: "field" }, h("label", { for: "try-k" }, "How many to show"), this.k),
        h("div", { class: "field" }, h("label", { for: "try-query" }, "Query (optional)"), this.query),
        h("div", { class: "field" }, h("label", { for: "try-user" }, "User (optional)"), this.user)),
      this.message.element,
      h("div", { class: "row" }, h("button", { type: "submit", class: "button primary" }, "Rank")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.rank();
    });
    this.element = h("div", { class: "columns wide-left" },
      h("div", {},
        h("section", { class: "card" }, h("h2", {}, "Ask for a list"), form),
        h("section", { class: "card", "aria-label": "The ranked list" }, this.outcome, this.result)),
      h("aside", { class: "card" }, h("h2", {}, "Where the clicks went"), this.accounting.element));
  }

  set(stats: Stats): void {
    this.accounting.set(stats);
  }

  private choose(source: Source): void {
    this.source = source;
    this.topicField.hidden = source !== "topic";
    this.listField.hidden = source !== "list";
  }

  private wish(): RankWish | string {
    const wish: RankWish = { k: Number(this.k.value) };
    if (!Number.isInteger(wish.k) || this.k.value === "" || Number(this.k.value) < 1) {
      return "How many to show must be a whole number from 1 on.";
    }
    if (this.source === "topic") {
      wish.topic = this.topic.value.trim();
      if (wish.topic === "") {
        return "Enter a topic.";
      }
    } else if (this.source === "list") {
      wish.candidates = [...new Set(this.list.value.split("\n").map((line) => line.trim()).filter((line) => line !== ""))];
      if (wish.candidates.length === 0) {
        return "Enter at least one id.";
      }
    }
    if (this.query.value.trim() !== "") {
      wish.query = this.query.value.trim();
    }
    if (this.user.value.trim() !== "") {
      wish.user = this.user.value.trim();
    }
    return wish;
  }

  private rank(): void {
    const wish = this.wish();
    if (typeof wish === "string") {
      this.message.say(wish, "bad");
      return;
    }
    this.message.clear();
    run(this.context, async () => {
      const ranked = await this.context.api.rank(this.collection, wish);
      this.clicked.clear();
      this.outcome.hidden = true;
      this.show(ranked);
    }, (error) => this.message.fail(error));
  }

  private show(ranked: Ranked): void {
    if (ranked.items.length === 0) {
      fill(this.result, empty("The list is empty", "There are no candidates: add items first, or name some."));
      return;
    }
    fill(this.result,
      h("p", { class: "row wrap soft small" },
        h("span", {}, `From ${count(ranked.candidates)} candidates`, help("candidates", "the number of candidates")),
        h("span", {}, `log-propensity ${figure(ranked.log_propensity)}`, help("log_propensity", "the log-propensity")),
        h("span", {}, `model ${count(ranked.model_version)}`, help("model_version", "the model's version")),
        ranked.control && h("span", { class: "chip" }, "caller's order", help("control", "the caller's order"))),
      rankedList({
        collection: this.collection,
        caption: "The ranked list",
        items: ranked.items,
        clicked: [...this.clicked],
        action: (item) => item.unknown ? null : h("button", {
          type: "button", class: "button small", "aria-label": `Click ${item.id}`, on: { click: () => this.click(ranked, item) },
        }, "Click"),
      }));
  }

  private click(ranked: Ranked, item: RankedItem): void {
    run(this.context, async () => {
      const reply = await this.context.api.click(this.collection, ranked.decision, item.id);
      this.clicked.add(item.id);
      this.show(ranked);
      const said = OUTCOMES.find(([name]) => reply[name] > 0);
      this.outcome.hidden = false;
      this.outcome.className = `form-message ${reply.accepted > 0 ? "good" : "bad"}`;
      this.outcome.textContent = said?.[1] ?? "The server said nothing about the click.";
      document.querySelector<HTMLElement>(`[aria-label="${CSS.escape(`Click ${item.id}`)}"]`)?.focus();
      this.accounting.set(await this.context.api.stats(this.collection, false, this.context.signal));
    }, (error) => this.message.fail(error));
  }
}
