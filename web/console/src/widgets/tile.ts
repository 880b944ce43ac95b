// A figure with its name, its meaning, and a line that puts it in proportion.
import { h, setText } from "../dom";
import type { Meaning } from "../texts";
import { help } from "./help";

export class Tile {
  private readonly value = h("dd", { class: "value" }, "–");
  private readonly note = h("dd", { class: "note" });
  readonly element: HTMLElement;

  constructor(name: string, meaning: Meaning, id: string) {
    this.value.id = `tile-${id}`;
    this.element = h("div", { class: "tile" }, h("dt", {}, name, help(meaning, name.toLowerCase())), this.value, this.note);
  }

  set(value: string, note = ""): void {
    setText(this.value, value);
    setText(this.note, note);
  }
}

/** Names with figures, one per line. */
export class Facts {
  readonly element = h("dl", { class: "facts" });
  private readonly values = new Map<string, HTMLElement>();

  add(id: string, name: string, meaning?: Meaning): this {
    const value = h("dd", { id: `fact-${id}` }, "–");
    this.values.set(id, value);
    this.element.append(h("div", {}, h("dt", {}, name, meaning && help(meaning, name.toLowerCase())), value));
    return this;
  }
  set(id: string, value: string): void {
    const element = this.values.get(id);
    if (element) {
      setText(element, value);
    }
  }
}
