// The collection's past as curves: asked of the server once in a while, and continued by the stream in between.
import type { Api } from "./api";
import type { Stats } from "./types";

/** What was known when an event had been learned. Sums are over the era's learned clicks. */
export interface HistoryPoint {
  time_ms: number;
  position: number;
  era: number;
  decisions: number;
  clicks: number;
  learned: number | null;
  served: number | null;
  hindsight: number | null;
  regret: number | null;
  bound: number | null;
  data_bound: number | null;
  first_rate: number | null;
  ndcg: number | null;
}

export async function loadHistory(api: Api, collection: string, points: number, signal: AbortSignal): Promise<HistoryPoint[]> {
  const reply = await api.of<{ points: HistoryPoint[] }>(collection, "history", { points }, signal);
  return reply.points;
}

/** The present, as the stream tells it. */
export function pointOf(stats: Stats, now: number): HistoryPoint {
  const cost = stats.kl_cost;
  return {
    time_ms: now,
    position: stats.position,
    era: stats.era,
    decisions: stats.decisions,
    clicks: cost?.clicks ?? stats.clicks.learned,
    learned: cost?.learned ?? null,
    served: cost?.served ?? null,
    hindsight: cost?.hindsight ?? null,
    regret: cost?.regret ?? null,
    bound: cost?.bound ?? null,
    data_bound: cost?.data_bound ?? null,
    first_rate: stats.first_rate,
    ndcg: stats.ndcg,
  };
}

/** Adds a point behind the others, unless nothing was learned since. RETURNS: whether it was added. */
export function appendPoint(points: HistoryPoint[], point: HistoryPoint): boolean {
  const last = points[points.length - 1];
  if (last && point.era === last.era && point.clicks <= last.clicks) {
    return false;
  }
  points.push(point);
  return true;
}
