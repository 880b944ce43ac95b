// A small button behind a figure that says what it means: on hover, on focus, on a tap.
import { freshId, h } from "../dom";
import { MEANINGS, type Meaning } from "../texts";

const tip = h("div", { class: "help-tip", "aria-hidden": "true", hidden: true });
let shownBy: HTMLElement | null = null;

function show(button: HTMLElement, text: string): void {
  if (!tip.isConnected) {
    document.body.append(tip);
  }
  tip.textContent = text;
  tip.hidden = false;
  shownBy = button;
  const box = button.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2), innerWidth - tip.offsetWidth - 8);
  const below = box.bottom + 8 + tip.offsetHeight <= innerHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${below ? box.bottom + 8 : box.top - tip.offsetHeight - 8}px`;
}

function hide(): void {
  tip.hidden = true;
  shownBy = null;
}

document.addEventListener("scroll", hide, { capture: true, passive: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    hide();
  }
});

export function help(meaning: Meaning, name: string): HTMLElement {
  return helpText(MEANINGS[meaning], name);
}

/** `name`: what is explained, for those who hear the button and do not see its place. */
export function helpText(text: string, name: string): HTMLElement {
  const id = freshId("help");
  const button = h("button", {
    type: "button",
    class: "help",
    "aria-label": `What is ${name}?`,
    "aria-describedby": id,
    on: {
      mouseenter: () => show(button, text),
      focus: () => show(button, text),
      mouseleave: hide,
      blur: hide,
      click: () => {
        if (shownBy !== button) {
          show(button, text);
        }
      },
    },
  }, "?");
  return h("span", { class: "help-box" }, button, h("span", { id, class: "unseen" }, text));
}
