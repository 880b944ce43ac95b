// The page of examples/web in a real browser: its back end ranks, the page reports clicks with a publishable key.
//
// usage: shop_test.mjs PROGRAM
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { PATIENCE_MS, World } from "./console_world.mjs";

const [program] = process.argv.slice(2);
const world = new World(program);
const script = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../examples/web/shop.py");
let shop;
let address;

before(async () => {
  await world.start();
  await world.openBrowser();
  shop = spawn("python3", [script, "--hindsight", world.url, "--data", world.data, "--program", program, "--port", "0"],
    { stdio: ["ignore", "pipe", "ignore"] });
  process.once("exit", () => shop.kill("SIGKILL"));
  for await (const line of createInterface({ input: shop.stdout })) {
    address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    break;
  }
  assert.ok(address, "the shop does not open");
});

after(async () => {
  shop.kill();
  await world.end();
});

async function until(what, condition) {
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    if (await condition()) {
      return;
    }
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  assert.fail(`${what} does not happen`);
}

/** A list that Hindsight has ordered: the server may need a moment to learn of the shop's keys. */
async function search(page, query) {
  await until("an order by Hindsight", async () => {
    await page.goto(`${address}/?q=${query}`);
    return (await page.locator("ol").getAttribute("data-hindsight-decision")) !== "";
  });
}

async function learned() {
  return (await world.call("GET", "shop/stats")).clicks.learned;
}

async function newPage() {
  const context = await world.browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  return context.newPage();
}

test("a click in the page is learned, and a click on something else is not reported", async () => {
  const page = await newPage();
  await search(page, "stars");
  assert.equal(await page.locator("[data-hindsight-item]").count(), 8);
  await page.locator("h1").click();
  await page.getByRole("link", { name: "Lost Stars" }).click();
  await page.getByRole("heading", { name: "Lost Stars" }).waitFor();
  await until("a learned click", async () => (await learned()) === 1);
  assert.equal((await world.call("GET", "shop/items/stars-5")).picks, 1);
});

test("what could not be sent is sent from the next page, and the shop goes on meanwhile", async () => {
  const page = await newPage();
  await search(page, "bread");
  const decision = await page.locator("ol").getAttribute("data-hindsight-decision");
  // The list is in the log before the server is lost.
  await until("a logged decision", async () => {
    const found = await fetch(`${world.url}/v1/collections/shop/decisions/${decision}`,
      { headers: { Authorization: `Bearer ${world.key}` } });
    return found.ok;
  });
  const before = await learned();
  await world.kill();
  await page.getByRole("link", { name: "Lost Bread" }).click();
  await page.getByRole("heading", { name: "Lost Bread" }).waitFor();
  await page.goto(`${address}/?q=rivers`);
  assert.equal(await page.locator("ol").getAttribute("data-hindsight-decision"), "");
  assert.equal(await page.locator("li").count(), 8);
  await world.start();
  await search(page, "rivers");
  await until("the kept click", async () => (await learned()) === before + 1);
  await page.reload();
  await search(page, "rivers");
  assert.equal(await learned(), before + 1);
});
