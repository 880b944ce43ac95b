// The API's answers, as docs/openapi.yaml has them.

export type ParamValue = number | string | boolean;
export type OnUnknown = "add" | "append" | "error";

export interface Settings {
  ranker: string;
  params: Record<string, ParamValue>;
  seed: number;
  window_seconds: number;
  on_unknown: OnUnknown;
  control: number;
  log_queries: boolean;
  log_candidates: boolean;
  decisions_before_reply: boolean;
  max_open: number;
  max_scan: number;
  memory_budget: number;
  retain_days: number;
}

export interface Collection extends Settings {
  name: string;
  era: number;
  building: boolean;
  build_error?: string;
  items: number;
}

export type CollectionWish = Partial<Settings> & { history?: "replay" | "discard" };

export interface PutOutcome extends Collection {
  outcome: "created" | "changed" | "unchanged";
}

export const CLICK_OUTCOMES = ["learned", "pending", "duplicate", "late", "unjoined", "quarantined"] as const;
export type ClickOutcome = (typeof CLICK_OUTCOMES)[number];

/** Costs are sums over clicks, in nats. */
export interface Paid {
  clicks: number;
  served: number | null;
  learned: number | null;
  bound: number | null;
  data_bound: number | null;
}

/** With the best fixed policy in hindsight; null where it was not measured. */
export interface Comparison {
  hindsight: number | null;
  regret: number | null;
  regret_upper: number | null;
}

export interface Measured extends Paid {
  sampled: boolean;
  sample: number;
  error: number | null;
  time_ms: number;
  position: number;
}

export interface KlCost extends Paid, Comparison {
  choice_set: string;
  refresh: "on" | "off" | "dropped" | "unsupported";
  measured: Measured | null; // the moment that the comparison is of
}

type Interval = [number, number] | null;

export interface Arm {
  decisions: number;
  clicks: number;
  click_rate: number | null;
  click_rate_95: Interval;
  first_rate: number | null;
  first_rate_95: Interval;
  ndcg: number | null;
  ndcg_95: Interval;
}

export interface Stats {
  clicks: Record<ClickOutcome | "received", number>;
  decisions: number;
  open_decisions: number;
  closed_early: number;
  items: number;
  era: number;
  building: boolean;
  build_error?: string;
  kl_cost: KlCost | null;
  first_rate: number | null;
  ndcg: number | null;
  rated_clicks: number; // that both are of
  arms?: { ranker: Arm; control: Arm };
  quarantine_reasons: Record<string, number>;
  model_hash?: string;
  position: number;
  head: number;
  snapshot_position: number;
  memory_bytes: number;
  model: Record<string, string>;
}

export interface Item {
  id: string;
  topics: string[];
  features: Record<string, number>;
  links: string[];
  score: number | null;
  picks: number;
  decayed_picks: [number, number];
  added_ms: number;
  age_ms: number;
}

export interface ItemPage {
  items: Item[];
  next_cursor?: string;
}

export interface ScorePart {
  name: string;
  value: number | null;
  weight: number | null;
  contribution: number | null;
}

export interface Expert {
  name: string;
  weight: number;
  prob_first: number | null;
  cost: number | null;
}

export interface Explanation {
  score: number | null;
  prob_first: number | null;
  parts: ScorePart[];
  experts: Expert[];
}

export interface RankedItem {
  id: string;
  score: number | null;
  prob_first: number | null;
  unknown?: boolean;
}

export interface Ranked {
  decision: string;
  items: RankedItem[];
  log_propensity: number | null;
  model_version: number;
  control: boolean;
  candidates: number;
}

export interface RankWish {
  query?: string;
  candidates?: string[];
  topic?: string;
  k?: number;
  user?: string;
}

export interface ClicksReply {
  accepted: number;
  duplicate: number;
  late: number;
  unjoined: number;
  quarantined: number;
}

export interface Decision {
  decision: string;
  time_ms: number;
  ranker: string;
  model_version: number;
  query?: string;
  items: RankedItem[];
  log_propensity: number | null;
  control: boolean;
  open: boolean;
  clicked: string[];
}

/** With its 95% interval. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}

export interface PolicyEstimate {
  status: "ok" | "weak_support" | "no_support";
  reason?: string;
  decisions: number;
  logged: Estimate | null;
  snips: Estimate | null;
}

export interface EvaluationResult {
  decisions: number;
  clicks: number;
  replay_cost: { clicks: number; total: number | null; mean: number | null; impossible: number; unpriced: number };
  first_click: PolicyEstimate;
  ndcg: PolicyEstimate;
}

export interface Evaluation {
  state: "running" | "done" | "cancelled" | "failed";
  ranker: string;
  position: number;
  head: number;
  error?: string;
  result?: EvaluationResult;
}

export interface ParamSpec {
  name: string;
  type: "number" | "integer" | "switch" | "word";
  default: ParamValue;
  minimum?: number | null;
  minimum_excluded?: boolean;
  maximum?: number | null;
  words?: string[];
  help: string;
}

export interface Ranker {
  name: string;
  summary: string;
  paper: string;
  guarantee: string;
  assumptions: string;
  learns: "immediate" | "on_close";
  law: string;
  sublinear: boolean;
  params: ParamSpec[];
}
