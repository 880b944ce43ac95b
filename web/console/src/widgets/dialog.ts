// A box over the page: closed by its button, by Escape, or by a click beside it; focus goes back where it was.
import { freshId, h, type Child } from "../dom";

export interface OpenDialog {
  close: () => void;
}

export function openDialog(title: string, content: Child[], onClose: () => void = () => {}): OpenDialog {
  const id = freshId("dialog");
  const box = h("dialog", { class: "dialog", "aria-labelledby": id },
    h("div", { class: "dialog-inner" },
      h("header", {}, h("h2", { id }, title),
        h("button", { type: "button", class: "icon-button", "aria-label": "Close", on: { click: () => box.close() } }, "×")),
      ...content));
  box.addEventListener("click", (event) => {
    if (event.target === box) {
      box.close();
    }
  });
  box.addEventListener("close", () => {
    box.remove();
    onClose();
  });
  document.body.append(box);
  box.showModal();
  return { close: () => box.close() };
}
