// Elements in one call. Text is only ever set as text: names of items come from outside.

export type Child = Node | string | number | null | undefined | false;

export interface Props {
  class?: string | false | undefined;
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
  [attribute: string]: unknown;
}

/** Sets attributes and listeners; false, null and undefined leave an attribute out, true makes it empty. */
function apply(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(props.on ?? {})) {
        element.addEventListener(event, listener as EventListener);
      }
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, props);
  fill(element, ...children);
  return element;
}

/** Puts children in place of those that are there. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...kept(children));
}

function kept(children: Child[]): (Node | string)[] {
  return children
    .filter((child): child is Node | string | number => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "number" ? String(child) : child));
}

/** Sets a text only where it changes, so that screen readers and selections are left in peace. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number>, ...children: SVGElement[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

let lastId = 0;
export function freshId(prefix: string): string {
  return `${prefix}-${++lastId}`;
}
