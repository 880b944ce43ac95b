// The log's and the snapshot's state, and the model's fingerprint on demand.
import { run, type Context } from "../context";
import { h } from "../dom";
import { bytes, count, plural } from "../format";
import type { Stats } from "../types";
import { describeError } from "./states";
import { Facts } from "./tile";

export class Health {
  private readonly facts = new Facts()
    .add("ready", "Writing")
    .add("head", "Durable events", "head")
    .add("lag", "Waiting for the model", "lag")
    .add("snapshot", "Behind the snapshot", "snapshot")
    .add("open", "Open lists", "open_decisions")
    .add("closed-early", "Closed early", "closed_early")
    .add("memory", "Memory", "memory")
    .add("hash", "Model's fingerprint", "model_hash");
  readonly element: HTMLElement;

  constructor(private readonly context: Context, private readonly collection: string) {
    const button = h("button", { type: "button", class: "button small", on: { click: () => this.askHash() } },
      "Compute the fingerprint");
    this.element = h("div", {}, this.facts.element, button);
    this.askReady();
  }

  set(stats: Stats): void {
    this.facts.set("head", count(stats.head));
    this.facts.set("lag", plural(Math.max(0, stats.head - stats.position), "event"));
    this.facts.set("snapshot", stats.snapshot_position === 0 ? "no snapshot yet"
      : plural(Math.max(0, stats.head - stats.snapshot_position), "event"));
    this.facts.set("open", count(stats.open_decisions));
    this.facts.set("closed-early", count(stats.closed_early));
    this.facts.set("memory", bytes(stats.memory_bytes));
  }

  /** Whether events can be written at all; said by the server as a whole. */
  askReady(): void {
    run(this.context, async () => {
      const response = await fetch("/readyz", { signal: this.context.signal, cache: "no-store", credentials: "omit" });
      const said = (await response.json()) as { status: string; code?: string };
      this.facts.set("ready", response.ok ? "all well" : `stopped: ${said.code ?? "unknown"}; the server must be restarted`);
    }, () => this.facts.set("ready", "unknown"));
  }

  private askHash(): void {
    run(this.context, async () => {
      const stats = await this.context.api.stats(this.collection, true, this.context.signal);
      this.facts.set("hash", stats.model_hash?.slice(0, 16) ?? "none");
    }, (error) => this.context.notify(describeError(error), "bad"));
  }
}
