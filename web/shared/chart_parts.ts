// What stands around a drawing: the legend that switches series, and the tooltip.
import type uPlot from "uplot";

/** One series, as legend and tooltip show it. */
export interface Entry {
  name: string;
  property: string; // of the style sheet: its colour
  colour: string;   // the same in the present theme
  bar?: boolean;
  dashed?: boolean;
  dotted?: boolean;
  thick?: boolean;
  hidden: boolean;
}

function element<K extends keyof HTMLElementTagNameMap>(tag: K, className = "", text = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className) {
    made.className = className;
  }
  made.textContent = text;
  return made;
}

/** The sample of a series' stroke or fill that legend and tooltip show. */
export function mark(entry: Entry): HTMLElement {
  const made = element("span", "mark");
  made.setAttribute("aria-hidden", "true");
  if (entry.bar) {
    made.classList.add("bar");
    made.style.background = entry.colour;
  } else {
    made.style.borderTopColor = entry.colour;
    made.classList.toggle("dashed", entry.dashed === true);
    made.classList.toggle("dotted", entry.dotted === true);
    made.classList.toggle("thick", entry.thick === true);
  }
  return made;
}

/** Buttons that switch series, one per entry. */
export function makeLegend(
  entries: Entry[], onToggle: (index: number) => void, onFocus: (index: number | null) => void): HTMLUListElement {
  const list = element("ul", "legend");
  entries.forEach((entry, index) => {
    const button = element("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(!entry.hidden));
    button.append(mark(entry), element("span", "", entry.name));
    button.addEventListener("click", () => {
      entry.hidden = !entry.hidden;
      button.setAttribute("aria-pressed", String(!entry.hidden));
      onToggle(index);
    });
    for (const event of ["mouseenter", "focus"]) {
      button.addEventListener(event, () => onFocus(entry.hidden ? null : index));
    }
    for (const event of ["mouseleave", "blur"]) {
      button.addEventListener(event, () => onFocus(null));
    }
    const row = element("li");
    row.append(button);
    list.append(row);
  });
  return list;
}

export interface Said {
  head: string;
  rows: { entry: Entry; text: string }[];
}

/** A tooltip that follows the cursor. `describe` gives null where there is nothing to say. */
export function tooltipPlugin(describe: (u: uPlot) => Said | null): uPlot.Plugin {
  const tip = element("div", "tip");
  tip.hidden = true;
  const place = (u: uPlot): void => {
    const left = u.cursor.left ?? 0;
    const top = u.cursor.top ?? 0;
    const onRight = left + tip.offsetWidth + 16 <= u.over.clientWidth;
    const x = onRight ? left + 14 : left - tip.offsetWidth - 14;
    const y = Math.min(Math.max(top - tip.offsetHeight / 2, -8), u.over.clientHeight - tip.offsetHeight + 8);
    const room = u.over.clientWidth - tip.offsetWidth;
    tip.style.transform = `translate(${Math.max(Math.min(x, room), Math.min(0, room))}px, ${y}px)`;
  };
  return {
    hooks: {
      ready: (u) => {
        tip.style.left = "0";
        tip.style.top = "0";
        u.over.append(tip);
        u.over.addEventListener("mouseleave", () => { tip.hidden = true; });
      },
      setCursor: (u) => {
        const said = (u.cursor.left ?? -1) < 0 ? null : describe(u);
        tip.hidden = said === null || said.rows.length === 0;
        if (said === null || tip.hidden) {
          return;
        }
        tip.replaceChildren(element("strong", "", said.head));
        for (const row of said.rows) {
          const line = element("div");
          line.append(mark(row.entry), element("span", "", row.entry.name), element("span", "", row.text));
          tip.append(line);
        }
        place(u);
      },
    },
  };
}
