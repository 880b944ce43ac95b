// One of a few: radio buttons that look like one switch.
import { freshId, h } from "../dom";

export interface Choice<T extends string> {
  value: T;
  name: string;
}

export function segmented<T extends string>(
  label: string, choices: Choice<T>[], chosen: T, onChange: (value: T) => void): HTMLElement {
  const group = freshId("choice");
  return h("fieldset", { class: "segmented" },
    h("legend", { class: "unseen" }, label),
    ...choices.map((choice) => h("label", {},
      h("input", {
        type: "radio", name: group, value: choice.value, checked: choice.value === chosen,
        on: { change: () => onChange(choice.value) },
      }),
      h("span", {}, choice.name))));
}
