// Addresses of the console's pages: all behind '#', so that the server sees none of them.

export type Tab = "live" | "items" | "try" | "what-if" | "settings";

export type Route =
  | { page: "overview" }
  | { page: "new" }
  | { page: "collection"; name: string; tab: Tab; item: string | null };

const TABS: Tab[] = ["live", "items", "try", "what-if", "settings"];

export function parseRoute(hash: string): Route {
  const parts = hash.replace(/^#\/?/, "").split("/").map(decode);
  if (parts[0] === "new") {
    return { page: "new" };
  }
  if (parts[0] === "c" && parts[1]) {
    const tab = TABS.find((known) => known === parts[2]) ?? "live";
    return { page: "collection", name: parts[1], tab, item: tab === "items" ? parts[3] || null : null };
  }
  return { page: "overview" };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

export function collectionLink(name: string, tab: Tab = "live", item?: string): string {
  const end = tab === "live" ? "" : `/${tab}`;
  return `#/c/${encodeURIComponent(name)}${end}${item === undefined ? "" : `/${encodeURIComponent(item)}`}`;
}

export const OVERVIEW = "#/";
export const NEW_COLLECTION = "#/new";

export function go(hash: string): void {
  location.hash = hash;
}
