// What every view gets, and what it gives back.
import { isAbort, type Api } from "./api";
import type { ConnectionWatch } from "./connection";

export interface Context {
  api: Api;
  connection: ConnectionWatch;
  /** Fires when the view leaves the page: requests end, listeners go. */
  signal: AbortSignal;
  /** Says something short to everybody, screen readers included. */
  notify: (text: string, kind?: "good" | "bad") => void;
}

/** A context for a part that ends before its view does. */
export function within(context: Context, inner: AbortController): Context {
  context.signal.addEventListener("abort", () => inner.abort(), { once: true });
  return { ...context, signal: inner.signal };
}

/** Runs work for a view; what happens after the view has gone is nobody's concern. */
export function run(context: Context, work: () => Promise<void>, onError: (error: unknown) => void): void {
  work().catch((error: unknown) => {
    if (!isAbort(error) && !context.signal.aborted) {
      onError(error);
    }
  });
}

/** Calls back when the connection is there again. */
export function onReconnect(context: Context, again: () => void): void {
  const end = context.connection.listen((state) => {
    if (state === "connected") {
      again();
    }
  });
  context.signal.addEventListener("abort", end, { once: true });
}

/** Calls again and again, the next time `milliseconds` after the last call has ended. */
export function repeat(context: Context, milliseconds: number, work: () => Promise<void>): void {
  let timer = 0;
  const next = (): void => {
    if (!context.signal.aborted) {
      timer = setTimeout(once, milliseconds);
    }
  };
  const once = (): void => {
    run(context, async () => {
      if (!document.hidden) {
        await work();
      }
      next();
    }, next);
  };
  context.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  next();
}
