// The choice of a ranker: what it is, what it promises, and its parameters.
import { fill, h } from "../dom";
import type { Collection, CollectionWish, ParamValue, Ranker } from "../types";
import { ParamFields } from "./param_fields";

function rankerHelp(ranker: Ranker): HTMLElement {
  const line = (name: string, text: string): HTMLElement | false =>
    text !== "" && h("div", {}, h("dt", {}, name), h("dd", {}, text));
  return h("div", { class: "ranker-help" }, h("p", {}, ranker.summary),
    h("dl", { class: "facts stacked" }, line("Guarantee", ranker.guarantee), line("It assumes", ranker.assumptions), line("Paper", ranker.paper)));
}

/** The ranker with its parameters; `now` is what the collection has. */
export class RankerFields {
  private readonly select: HTMLSelectElement;
  private readonly about = h("div", {});
  private readonly paramsBox = h("div", { class: "field-grid" });
  private params: ParamFields;
  readonly element: HTMLElement;

  constructor(private readonly rankers: Ranker[], private readonly now: Collection | null) {
    this.select = h("select", { id: "ranker", on: { change: () => this.draw() } },
      ...rankers.map((ranker) => h("option", { value: ranker.name }, ranker.name)));
    this.select.value = now?.ranker ?? "auto";
    this.params = new ParamFields([], {});
    this.element = h("fieldset", {}, h("legend", {}, "Ranker"),
      h("div", { class: "field" }, h("label", { for: "ranker" }, "Algorithm"), this.select), this.about, this.paramsBox);
    this.draw();
  }

  private draw(): void {
    const ranker = this.rankers.find((one) => one.name === this.select.value);
    const params = ranker?.params ?? [];
    this.params = new ParamFields(params, this.now?.ranker === ranker?.name ? this.now?.params ?? {} : {});
    fill(this.about, ranker && rankerHelp(ranker));
    fill(this.paramsBox, ...this.params.elements);
  }

  changed(): boolean {
    return this.now === null || this.now.ranker !== this.select.value || this.params.changed();
  }
  choice(): { ranker: string; params: Record<string, ParamValue> } {
    return { ranker: this.select.value, params: this.params.values() };
  }
  /** What to ask for: nothing, where nothing was changed. */
  wish(): CollectionWish {
    return this.changed() ? this.choice() : {};
  }
}
