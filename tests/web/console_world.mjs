// A server over an empty folder, a browser that notes everything that goes wrong in it, and users who click.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

const web = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../web");
const { chromium } = await import(pathToFileURL(path.join(web, "node_modules/playwright-core/index.mjs")).href);

/** Only a guard against hanging: the machine may be busy. */
export const PATIENCE_MS = Number(process.env.HINDSIGHT_PATIENCE_MS ?? 90_000);

export class World {
  constructor(program) {
    this.program = program;
    this.folder = mkdtempSync(path.join(tmpdir(), "hindsight-console-"));
    this.data = path.join(this.folder, "data");
    this.port = 0;
    process.once("exit", () => this.server?.kill("SIGKILL"));
  }

  /** Starts the server; again on the same port where it ran before. */
  async start() {
    this.server = spawn(this.program, ["serve", "--data", this.data, "--listen", `127.0.0.1:${this.port}`],
      { stdio: ["ignore", "pipe", "ignore"] });
    const lines = createInterface({ input: this.server.stdout });
    for await (const line of lines) {
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line);
      if (found) {
        this.port = Number(found[1]);
        break;
      }
    }
    this.server.stdout.resume();
    this.url = `http://127.0.0.1:${this.port}`;
    this.key = readFileSync(path.join(this.data, "admin.key"), "utf8").trim();
  }

  /** Ends the server at once, as a crash would. */
  async kill() {
    const ended = new Promise((resolve) => this.server.once("exit", resolve));
    this.server.kill("SIGKILL");
    await ended;
  }

  /** Makes a key beside the running server, and waits until the server knows it. */
  async makeKey(...options) {
    const out = execFileSync(this.program, ["key", "add", "--data", this.data, ...options], { encoding: "utf8" });
    const key = out.trim().split("\n").pop();
    const until = Date.now() + PATIENCE_MS;
    while (Date.now() < until) {
      const response = await fetch(`${this.url}/v1/collections`, { headers: { Authorization: `Bearer ${key}` } });
      if (response.status !== 401) {
        return key;
      }
      await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
    throw new Error("the server does not learn of a new key");
  }

  async call(method, place, body) {
    const response = await fetch(`${this.url}/v1/collections/${place}`, {
      method,
      headers: { Authorization: `Bearer ${this.key}`, "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) {
      throw new Error(`${method} ${place}: ${response.status} ${await response.text()}`);
    }
    return response.json();
  }

  /** `many` users, who all like what comes early in the alphabet. */
  async traffic(collection, ids, many) {
    for (let i = 0; i < many; ++i) {
      const list = await this.call("POST", `${collection}/rank`, { candidates: ids, k: ids.length });
      const liked = ids[(i * i) % 3] ?? ids[0];
      await this.call("POST", `${collection}/clicks`, { clicks: [{ decision: list.decision, item: liked }] });
    }
  }

  async openBrowser() {
    const found = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((file) => existsSync(file));
    if (found === undefined) {
      throw new Error("chromium is not installed; scripts/install_deps.sh installs it");
    }
    this.browser = await chromium.launch({
      executablePath: found,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
      timeout: PATIENCE_MS,
    });
  }

  /** A page of its own; `problems` collects errors, broken policies and requests to other hosts. */
  async newPage(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const problems = [];
    const urls = [];
    page.on("console", (message) => {
      // The browser itself reports every answer that is an error; tests that ask for one expect it.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
        problems.push(`console: ${message.text()}`);
      }
    });
    page.on("pageerror", (error) => problems.push(`exception: ${error.message}`));
    page.on("request", (request) => {
      urls.push(request.url());
      if (new URL(request.url()).origin !== this.url) {
        problems.push(`request to ${request.url()}`);
      }
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
    });
    await page.goto(this.url);
    return { page, context, problems, urls };
  }

  async signIn(page, key = this.key) {
    await page.getByLabel("Key", { exact: true }).fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
  }

  async signedIn(options = {}, hash = "#/") {
    const made = await this.newPage(options);
    await this.signIn(made.page);
    await made.page.getByRole("button", { name: "Sign out" }).waitFor();
    await this.go(made.page, hash);
    return made;
  }

  go(page, hash) {
    return page.evaluate((to) => { location.hash = to; }, hash);
  }

  async end() {
    await this.browser?.close();
    if (this.server && this.server.exitCode === null && this.server.signalCode === null) {
      await this.kill();
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
