// What stands around a drawing: the legend that switches series, and the tooltip.
"use strict";

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) {
    made.className = className;
  }
  if (text !== undefined) {
    made.textContent = text;
  }
  return made;
}

/** The sample of a series' stroke or fill that legend and tooltip show. */
function mark(entry) {
  const made = element("span", "mark");
  made.setAttribute("aria-hidden", "true");
  if (entry.bar) {
    made.classList.add("bar");
    made.style.background = entry.colour;
  } else {
    made.style.borderTopColor = entry.colour;
    made.classList.toggle("dashed", entry.dashed);
    made.classList.toggle("dotted", entry.dotted);
    made.classList.toggle("thick", entry.thick);
  }
  return made;
}

/** Buttons that switch series; `entries` are {name, colour, hidden, …}, one per series. */
function makeLegend(entries, onToggle, onFocus) {
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

/**
 * A tooltip that follows the cursor. `describe(u)` gives {head, rows: [{entry, text}]}, or null where
 * there is nothing to say.
 */
function tooltipPlugin(describe) {
  const tip = element("div", "tip");
  tip.hidden = true;
  const place = (u) => {
    const { left, top } = u.cursor;
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
        const said = u.cursor.left < 0 ? null : describe(u);
        tip.hidden = said === null || said.rows.length === 0;
        if (tip.hidden) {
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
