// Light, dark, or as the system has it. Only this choice is kept in the browser's storage.

export type Theme = "system" | "light" | "dark";
const NAME = "hindsight-theme";
const listeners = new Set<() => void>();

export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export function setTheme(theme: Theme): void {
  if (theme === "system") {
    delete document.documentElement.dataset["theme"];
  } else {
    document.documentElement.dataset["theme"] = theme;
  }
  try {
    localStorage.setItem(NAME, theme);
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
  changed();
}

export function startTheme(): void {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(NAME);
  } catch {
    // As above.
  }
  if (kept === "light" || kept === "dark") {
    setTheme(kept);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

/** Calls back whenever colours have changed. RETURNS: a function that ends the listening. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed(): void {
  for (const listener of [...listeners]) {
    listener();
  }
}
