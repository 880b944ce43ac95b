// Scores as they were while the console was open: the server keeps none of their past.
import type { Item } from "./types";

const KEPT = 120;

interface Sample {
  time_ms: number;
  score: number;
}

const seen = new Map<string, Sample[]>();

function key(collection: string, id: string): string {
  return `${collection}/${id}`;
}

/** Notes the scores of now; one that has not changed is noted, too, so that a flat time looks flat. */
export function noteScores(collection: string, items: Item[], now: number): void {
  for (const item of items) {
    if (item.score === null) {
      continue;
    }
    const samples = seen.get(key(collection, item.id)) ?? [];
    samples.push({ time_ms: now, score: item.score });
    seen.set(key(collection, item.id), samples.slice(-KEPT));
  }
}

export function scoresOf(collection: string, id: string): Sample[] {
  return seen.get(key(collection, id)) ?? [];
}

/** Another key may not see what this one saw. */
export function forgetScores(): void {
  seen.clear();
}
