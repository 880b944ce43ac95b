// The one place that talks to the server. The key stays in this object: never in an address, never in storage.
import { readEvents } from "./events";
import type {
  ClicksReply, Collection, CollectionWish, Decision, Evaluation, Explanation, Item, ItemPage, ParamValue, PutOutcome, Ranked, Ranker, RankWish,
  Stats,
} from "./types";

/** An answer that is not a success. */
export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly field: string | null) {
    super(message);
  }
}

/** No answer at all. */
export class LostError extends Error {
  constructor() {
    super("The server cannot be reached.");
  }
}

/** A call that was given up on purpose: its view is gone. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export interface ApiHooks {
  /** The key is no longer in force. */
  onUnauthorized: () => void;
  onLost: () => void;
  onAnswer: () => void;
}

type Query = Record<string, string | number | boolean>;

async function readError(response: Response): Promise<ApiError> {
  let said: { code?: string; message?: string; field?: string } = {};
  try {
    said = ((await response.json()) as { error?: typeof said }).error ?? {};
  } catch {
    // Not from our server, perhaps a proxy's: the status has to do.
  }
  return new ApiError(response.status, said.code ?? "unknown", said.message ?? `The server answered ${response.status}.`,
    said.field ?? null);
}

/** A fault of the page's own must not look like a lost connection. */
function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    reportError(error);
  }
}

export class Api {
  constructor(private readonly key: string, private readonly hooks: ApiHooks) {}

  collections(signal?: AbortSignal): Promise<Collection[]> {
    return this.get<{ collections: Collection[] }>("/v1/collections", {}, signal).then((reply) => reply.collections);
  }
  rankers(signal?: AbortSignal): Promise<Ranker[]> {
    return this.get<{ rankers: Ranker[] }>("/v1/rankers", {}, signal).then((reply) => reply.rankers);
  }
  collection(name: string, signal?: AbortSignal): Promise<Collection> {
    return this.get(this.path(name), {}, signal);
  }
  put(name: string, wish: CollectionWish): Promise<PutOutcome> {
    return this.send("PUT", this.path(name), wish);
  }
  remove(name: string): Promise<void> {
    return this.send("DELETE", this.path(name));
  }
  stats(name: string, hash: boolean, signal?: AbortSignal): Promise<Stats> {
    return this.get(this.path(name, "stats"), { hash }, signal);
  }
  items(name: string, query: Query, signal?: AbortSignal): Promise<ItemPage> {
    return this.get(this.path(name, "items"), query, signal);
  }
  item(name: string, id: string, signal?: AbortSignal): Promise<Item> {
    return this.get(this.path(name, "items", id), {}, signal);
  }
  explain(name: string, id: string, query: Query, signal?: AbortSignal): Promise<Explanation> {
    return this.get(this.path(name, "items", id, "explain"), query, signal);
  }
  addItems(name: string, items: { id: string; topics: string[] }[]): Promise<{ added: number; updated: number }> {
    return this.send("POST", this.path(name, "items"), { items });
  }
  removeItem(name: string, id: string): Promise<void> {
    return this.send("DELETE", this.path(name, "items", id));
  }
  rank(name: string, wish: RankWish): Promise<Ranked> {
    return this.send("POST", this.path(name, "rank"), wish);
  }
  click(name: string, decision: string, item: string): Promise<ClicksReply> {
    return this.send("POST", this.path(name, "clicks"), { clicks: [{ decision, item }] });
  }
  decision(name: string, id: string, signal?: AbortSignal): Promise<Decision> {
    return this.get(this.path(name, "decisions", id), {}, signal);
  }

  evaluate(name: string, wish: { ranker: string; params: Record<string, ParamValue> }): Promise<Evaluation> {
    return this.send("POST", this.path(name, "evaluate"), wish);
  }
  cancelEvaluation(name: string): Promise<Evaluation> {
    return this.send("DELETE", this.path(name, "evaluate"));
  }

  /** Any other GET of a collection. */
  of<T>(name: string, rest: string, query: Query, signal?: AbortSignal): Promise<T> {
    return this.get<T>(this.path(name, rest), query, signal);
  }

  /** Stats as they change, until the server ends the stream or the connection breaks. */
  async stream(name: string, signal: AbortSignal, onStats: (stats: Stats) => void): Promise<void> {
    const response = await this.request("GET", this.path(name, "stream"), undefined, signal);
    if (response.body === null) {
      return;
    }
    try {
      await readEvents(response.body, (event) => {
        if (event.name === "stats") {
          guarded(() => onStats(JSON.parse(event.data) as Stats));
        }
      });
    } catch (error) {
      throw this.lost(error);
    }
  }

  private path(name: string, ...rest: string[]): string {
    return ["/v1/collections", name, ...rest].map((part, i) => (i === 0 ? part : encodeURIComponent(part))).join("/");
  }

  private async get<T>(path: string, query: Query, signal?: AbortSignal): Promise<T> {
    const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
    const response = await this.request("GET", text ? `${path}?${text}` : path, undefined, signal);
    return this.body<T>(response);
  }

  private async send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.request(method, path, body);
    return response.status === 204 ? (undefined as T) : this.body<T>(response);
  }

  private async body<T>(response: Response): Promise<T> {
    try {
      return (await response.json()) as T;
    } catch (error) {
      throw this.lost(error);
    }
  }

  private async request(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(path, {
        method,
        headers: {
          Authorization: `Bearer ${this.key}`,
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
        credentials: "omit",
        redirect: "error",
        cache: "no-store",
      });
    } catch (error) {
      throw this.lost(error);
    }
    this.hooks.onAnswer();
    if (!response.ok) {
      if (response.status === 401) {
        this.hooks.onUnauthorized();
      }
      throw await readError(response);
    }
    return response;
  }

  private lost(error: unknown): unknown {
    if (isAbort(error)) {
      return error;
    }
    this.hooks.onLost();
    return new LostError();
  }
}
