// The collection's past as curves: asked of the server once in a while, and continued by the stream in between.
import type { Api } from "./api";
import type { Comparison, Measured, Paid, Stats } from "./types";

/** What was known at one moment. Costs are sums over the era's clicks, rates over all since the collection was made. */
export interface HistoryPoint {
  time_ms: number;
  position: number;
  era: number;
  clicks: number; // that the costs are of
  cost: (Paid & Comparison) | null; // none where the ranker has no bound
  rated: number; // clicks that the rates are of
  first: number; // of these, on the first item
  ndcg_sum: number;
  weights: number[] | null; // how far a mixture listened to each expert; not where hindsight was measured
}

interface ArmCounts {
  clicks: number;
  first_clicks: number;
  ndcg_sum: number;
}

interface ServerPoint {
  era: number;
  time_ms: number;
  position: number;
  kl_cost: (Paid & Comparison) | null;
  ranker: ArmCounts;
  expert_weights?: number[];
}

export async function loadHistory(api: Api, collection: string, points: number, signal: AbortSignal): Promise<HistoryPoint[]> {
  const reply = await api.of<{ points: ServerPoint[] }>(collection, "history", { points }, signal);
  return reply.points.map((point) => ({
    time_ms: point.time_ms,
    position: point.position,
    era: point.era,
    clicks: point.kl_cost?.clicks ?? point.ranker.clicks,
    cost: point.kl_cost,
    rated: point.ranker.clicks,
    first: point.ranker.first_clicks,
    ndcg_sum: point.ranker.ndcg_sum,
    weights: point.expert_weights ?? null,
  }));
}

/** The present, as the stream tells it; what was measured belongs to an earlier moment. */
export function pointOf(stats: Stats, now: number): HistoryPoint {
  const rated = stats.rated_clicks;
  const cost = stats.kl_cost;
  return {
    time_ms: now,
    position: stats.position,
    era: stats.era,
    clicks: cost?.clicks ?? rated,
    cost: cost === null ? null : { ...cost, hindsight: null, regret: null, regret_upper: null },
    rated,
    first: (stats.first_rate ?? 0) * rated,
    ndcg_sum: (stats.ndcg ?? 0) * rated,
    weights: null,
  };
}

/** The points of the last era with clicks, one for each number of clicks: the one that was measured, where one was. */
export function lastEra(points: HistoryPoint[]): HistoryPoint[] {
  const era = points[points.length - 1]?.era ?? 0;
  const kept: HistoryPoint[] = [];
  for (const point of points) {
    if (point.era !== era || point.clicks === 0) {
      continue;
    }
    const before = kept[kept.length - 1];
    if (before?.clicks !== point.clicks) {
      kept.push(point);
    } else if ((point.cost?.hindsight ?? null) !== null) {
      kept[kept.length - 1] = point;
    }
  }
  return kept;
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

/** Puts the comparison with hindsight, which comes later than its moment, in its place. RETURNS: whether it was new. */
export function insertMeasured(points: HistoryPoint[], stats: Stats): boolean {
  const measured: Measured | null = stats.kl_cost?.measured ?? null;
  if (stats.kl_cost === null || measured === null) {
    return false;
  }
  const { hindsight, regret, regret_upper } = stats.kl_cost;
  const cost = { ...measured, hindsight, regret, regret_upper };
  let place = points.length;
  while (place > 0 && (points[place - 1]?.position ?? 0) > measured.position) {
    --place;
  }
  const before = points[place - 1];
  if (before?.position === measured.position && before.era === stats.era) {
    const known = before.cost?.hindsight === hindsight;
    before.cost = cost;
    return !known;
  }
  points.splice(place, 0, {
    time_ms: measured.time_ms,
    position: measured.position,
    era: stats.era,
    clicks: measured.clicks,
    cost,
    // Rates change slowly: those of the neighbour.
    rated: before?.rated ?? 0,
    first: before?.first ?? 0,
    ndcg_sum: before?.ndcg_sum ?? 0,
    weights: null,
  });
  return true;
}
