// Scores and weights as they were while the console was open: the server keeps none of their past.
import type { Expert, Item } from "./types";

const KEPT = 120;

interface Sample {
  time_ms: number;
  score: number;
}

interface Weights {
  time_ms: number;
  weights: Map<string, number>; // by expert
}

const seen = new Map<string, Sample[]>();
const listened = new Map<string, Weights[]>(); // by collection

/** Adds to the end of a bounded past. */
function keep<T>(past: T[], one: T): T[] {
  past.push(one);
  if (past.length > KEPT) {
    past.shift();
  }
  return past;
}

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
    seen.set(key(collection, item.id), keep(samples, { time_ms: now, score: item.score }));
  }
}

export function scoresOf(collection: string, id: string): Sample[] {
  return seen.get(key(collection, id)) ?? [];
}

/** Notes how far each expert of a mixture is listened to now. */
export function noteWeights(collection: string, experts: Expert[], now: number): void {
  const weights = new Map(experts.map((expert) => [expert.name, expert.weight]));
  listened.set(collection, keep(weightsOf(collection), { time_ms: now, weights }));
}

export function weightsOf(collection: string): Weights[] {
  return listened.get(collection) ?? [];
}

/** Another key may not see what this one saw. */
export function forgetScores(): void {
  seen.clear();
  listened.clear();
}
