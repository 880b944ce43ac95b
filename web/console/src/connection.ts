// Whether the server answers. While it does not, it is asked again and again, and everybody hears when it is back.

export type Connection = "connected" | "lost";
type Listener = (state: Connection) => void;

const RETRY_MS = 1500;

export class ConnectionWatch {
  private state: Connection = "connected";
  private readonly listeners = new Set<Listener>();
  private timer: number | null = null;

  constructor() {
    // The browser knows at once when the network is back; the timer would find out later.
    window.addEventListener("online", () => void this.probe());
  }

  current(): Connection {
    return this.state;
  }

  /** RETURNS: a function that ends the listening. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  answered(): void {
    this.change("connected");
  }

  lost(): void {
    this.change("lost");
    this.timer ??= window.setTimeout(() => void this.probe(), RETRY_MS);
  }

  /** Asks now. */
  async probe(): Promise<void> {
    if (this.timer !== null) {
      clearTimeout(this.timer);
      this.timer = null;
    }
    if (this.state === "connected") {
      return;
    }
    try {
      const response = await fetch("/healthz", { cache: "no-store", credentials: "omit" });
      if (response.ok) {
        this.answered();
        return;
      }
    } catch {
      // Still away.
    }
    this.lost();
  }

  private change(state: Connection): void {
    if (state !== this.state) {
      this.state = state;
      for (const listener of [...this.listeners]) {
        listener(state);
      }
    }
  }
}
