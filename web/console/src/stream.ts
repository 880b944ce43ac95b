// Follows a collection's stats as they change, and begins anew when the connection was lost.
import { ApiError, isAbort } from "./api";
import { onReconnect, type Context } from "./context";
import type { Stats } from "./types";

export interface Followers {
  onStats: (stats: Stats) => void;
  onState: (state: "connecting" | "live" | "offline") => void;
  /** There is nothing to follow: no such collection, or no right to see it. */
  onGone: (error: ApiError) => void;
}

const AGAIN_MS = 2000;

export function follow(context: Context, collection: string, followers: Followers): void {
  let timer = 0;
  let following = false;
  const start = (): void => {
    clearTimeout(timer);
    if (following || context.signal.aborted) {
      return;
    }
    following = true;
    followers.onState("connecting");
    context.api.stream(collection, context.signal, (stats) => {
      followers.onState("live");
      followers.onStats(stats);
    }).then(() => null, (error: unknown) => error).then((error) => {
      following = false;
      if (context.signal.aborted || isAbort(error)) {
        return;
      }
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) {
        followers.onGone(error);
        return;
      }
      followers.onState("offline");
      timer = setTimeout(start, AGAIN_MS);
    });
  };
  context.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  onReconnect(context, start);
  start();
}
