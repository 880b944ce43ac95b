// The console from end to end: a real server, a real browser, and what a person would do.
//
// usage: console_test.mjs PROGRAM SCREENSHOT_FOLDER
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { PATIENCE_MS, World } from "./console_world.mjs";

const [program, screenshots] = process.argv.slice(2);
const world = new World(program);
const BOOKS = ["algebra", "calculus", "geometry", "logic", "topology"];
const LIMIT_BYTES = 150_000;

before(async () => {
  mkdirSync(screenshots, { recursive: true });
  await world.start();
  await world.openBrowser();
  await world.call("PUT", "books", { ranker: "klrank", control: 0.1 });
  await world.call("POST", "books/items", { items: BOOKS.map((id) => ({ id, topics: ["mathematics"] })) });
  await world.traffic("books", BOOKS, 60);
});

after(async () => {
  await world.end();
});

/** Waits until a text, read as a number, is what is wanted. */
async function waitForNumber(page, selector, wanted) {
  await page.waitForFunction(([where, want]) => {
    const text = document.querySelector(where)?.textContent ?? "";
    return Number(text.replaceAll(",", "")) === want;
  }, [selector, wanted], { timeout: PATIENCE_MS });
}

async function clicksLearned() {
  return (await world.call("GET", "books/stats")).clicks.learned;
}

test("a wrong key is refused with a reason, and the right one opens the overview", async () => {
  const { page, problems, urls } = await world.newPage();
  await world.signIn(page, "no-such-key");
  await page.getByRole("alert").filter({ hasText: "not in force" }).waitFor();
  await world.signIn(page, "");
  await page.getByRole("alert").filter({ hasText: "Enter a key" }).waitFor();
  await world.signIn(page);
  await page.getByRole("link", { name: "books" }).waitFor();
  // The key is in memory alone.
  const kept = await page.evaluate(() => JSON.stringify([location.href, document.cookie, { ...localStorage }, { ...sessionStorage }, history.state]));
  assert.ok(!kept.includes(world.key));
  assert.ok(!urls.some((url) => url.includes(world.key)));
  await page.reload();
  await page.getByLabel("Key", { exact: true }).waitFor();
  assert.deepEqual(problems, []);
});

test("a key that may not read is told so", async () => {
  const { page, problems } = await world.newPage();
  await world.signIn(page, await world.makeKey("--role", "click"));
  await page.getByRole("alert").filter({ hasText: "role admin or read" }).waitFor();
  assert.deepEqual(problems, []);
});

test("signing out forgets everything", async () => {
  const { page, problems } = await world.signedIn({}, "#/c/books");
  await page.getByRole("heading", { name: "Regret" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Key", { exact: true }).waitFor();
  assert.ok(!(await page.content()).includes("algebra"));
  assert.deepEqual(problems, []);
});

test("a collection is made, and a bad name is refused", async () => {
  const { page, problems } = await world.signedIn();
  await page.getByRole("link", { name: "New collection" }).click();
  await page.getByLabel("Name").fill("Not A Name");
  await page.getByRole("button", { name: "Make the collection" }).click();
  await page.getByRole("alert").filter({ hasText: "1 to 64 characters" }).waitFor();
  await page.getByLabel("Name").fill("films");
  await page.getByLabel("Algorithm").selectOption("noregret-klrank");
  await page.locator("[data-param=alpha]").fill("2");
  await page.getByRole("button", { name: "Make the collection" }).click();
  await page.getByRole("heading", { name: "films" }).waitFor();
  await page.getByText("No clicks yet").first().waitFor();
  const made = await world.call("GET", "films");
  assert.equal(made.ranker, "noregret-klrank");
  assert.equal(made.params.alpha, 2);
  assert.deepEqual(problems, []);
});

test("items are added, ranked and clicked by hand, and the accounting changes", async () => {
  const { page, problems } = await world.signedIn({}, "#/c/films/items");
  await page.getByLabel("One per line").fill("alien, space\nbrazil\n\nsolaris, space, slow");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByText("3 added, 0 updated.").waitFor();
  await page.getByRole("link", { name: "Try it" }).click();
  await waitForNumber(page, "#clicks-received", 0);
  await page.getByRole("button", { name: "Rank" }).click();
  await page.getByRole("button", { name: "Click solaris" }).click();
  await page.getByText("The click was accepted").waitFor();
  await waitForNumber(page, "#clicks-learned", 1);
  await waitForNumber(page, "#clicks-received", 1);
  await page.getByRole("button", { name: "Click solaris" }).click();
  await page.getByText("A duplicate").waitFor();
  await waitForNumber(page, "#clicks-duplicate", 1);
  await waitForNumber(page, "#clicks-received", 2);
  await page.getByRole("radio", { name: "A topic" }).check();
  await page.getByLabel("Topic", { exact: true }).fill("space");
  await page.getByRole("button", { name: "Rank" }).click();
  await page.getByText("From 2 candidates").waitFor();
  assert.equal(await page.locator(".ranked tbody tr").count(), 2);
  await page.getByRole("radio", { name: "A list" }).check();
  await page.getByRole("button", { name: "Rank" }).click();
  await page.getByRole("alert").filter({ hasText: "at least one id" }).waitFor();
  assert.deepEqual(problems, []);
});

test("the regret plot gains points while clicks come, and a click on it shows what was ranked then", async () => {
  const { page, problems } = await world.signedIn({}, "#/c/books");
  await page.locator("#regret .u-over").waitFor();
  const points = () => page.locator("#regret").getAttribute("data-points").then(Number);
  const earlier = await points();
  assert.ok(earlier > 0);
  await world.traffic("books", BOOKS, 20);
  await waitForNumber(page, "#tile-learned", await clicksLearned());
  await page.waitForFunction((than) => Number(document.querySelector("#regret")?.getAttribute("data-points")) > than, earlier);
  await page.locator("#regret .plot-summary").filter({ hasText: "clicks of this era" }).waitFor();

  await page.locator("#regret .u-over").hover();
  await page.locator("#regret .tip").filter({ hasText: "Served" }).waitFor();
  await page.locator("#regret .u-over").click();
  const panel = page.getByRole("region", { name: "What was ranked then" });
  await panel.locator(".ranked").first().waitFor();
  assert.equal(await panel.locator(".ranked").first().locator("tbody tr").count(), BOOKS.length);
  await panel.locator("tr.clicked").first().waitFor();
  await panel.getByRole("button", { name: "Close" }).click();

  // The same by keyboard.
  await page.locator("#regret .plot").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.locator("#regret [aria-live]").filter({ hasText: "Served" }).waitFor({ state: "attached" });
  await page.keyboard.press("Enter");
  await panel.locator(".ranked").first().waitFor();
  assert.deepEqual(problems, []);
});

test("the plot shows cost and regret, sums and means, switches curves, and tells all as a table", async () => {
  const { page, problems } = await world.signedIn({}, "#/c/books");
  const card = page.locator("#regret");
  await card.locator(".u-over").waitFor();
  for (const choice of ["Cumulated", "Linear", "Regret", "Per click", "Log", "Cost"]) {
    await card.getByRole("radio", { name: choice, exact: true }).check();
    await card.locator("canvas").waitFor();
  }
  const served = card.getByRole("button", { name: "Served", exact: true });
  await served.click();
  assert.equal(await served.getAttribute("aria-pressed"), "false");
  await card.getByText("Show as a table").click();
  await card.getByRole("columnheader", { name: "Best in hindsight" }).waitFor();
  await card.getByRole("button", { name: "What is served?" }).hover();
  await page.locator(".help-tip").filter({ hasText: "would have stood first" }).waitFor();
  assert.deepEqual(problems, []);
});

test("an item is explained, and one that does not exist is not", async () => {
  const { page, problems } = await world.signedIn({}, "#/c/books/items");
  await page.getByLabel("Item's id").fill("algebra");
  await page.getByRole("button", { name: "Look up" }).click();
  await page.getByRole("heading", { name: "What the score is made of" }).waitFor();
  const item = await world.call("GET", "books/items/algebra");
  await waitForNumber(page, "#fact-picks", item.picks);
  await page.locator(".chips").getByText("mathematics").waitFor();
  await page.locator(".u-over").waitFor();
  await world.go(page, "#/c/books/items/nobody");
  await page.getByRole("heading", { name: "Not found" }).waitFor();
  assert.deepEqual(problems, []);
});

test("an item of a mixture tells what its score is made of, and which experts are listened to", async () => {
  await world.call("PUT", "mixed", { ranker: "auto" });
  await world.call("POST", "mixed/items", { items: BOOKS.map((id) => ({ id, topics: ["mathematics"] })) });
  await world.traffic("mixed", BOOKS, 20);
  const explanation = await world.call("GET", "mixed/items/algebra/explain?topic=mathematics");
  assert.ok(explanation.experts.length > 1 && explanation.parts.length > 0);
  const { page, problems } = await world.signedIn({}, "#/c/mixed/items/algebra");
  const why = page.locator("section").filter({ has: page.getByRole("heading", { name: "Why it stands there" }) });
  await why.getByText("it stands first with probability").waitFor();
  for (const part of explanation.parts.filter((one) => Math.abs(one.contribution) > 0.01)) {
    await why.locator(".why-parts").getByRole("rowheader", { name: part.name, exact: true }).waitFor();
  }
  for (const expert of explanation.experts) {
    await why.locator(".why-experts").getByRole("rowheader", { name: expert.name, exact: true }).waitFor();
  }
  await why.locator(".u-over").waitFor();
  await why.getByLabel("Among the items of").selectOption("mathematics");
  const asked = page.waitForRequest((request) => request.url().includes("/explain?") && request.url().includes("session=s1"));
  await why.getByLabel("Session (optional)").fill("s1");
  await why.getByLabel("Group (optional)").focus();
  await asked;
  const keyed = page.waitForRequest((request) => request.url().includes("context_key=jaguar"));
  await why.getByLabel("Context key (optional)").fill("jaguar");
  await why.getByLabel("Group (optional)").focus();
  await keyed;
  await page.screenshot({ path: path.join(screenshots, "why.png"), fullPage: true });
  await world.go(page, "#/c/books/items/algebra");
  await why.getByText("it stands first with probability").waitFor();
  assert.equal(await why.locator(".why-experts").count(), 0); // klrank asks nobody
  assert.deepEqual(problems, []);
});

test("top items stand in the order of their scores", async () => {
  const { page, problems } = await world.signedIn({}, "#/c/books/items");
  const rows = page.getByRole("table", { name: "Items with the highest scores" }).locator("tbody tr");
  await rows.first().waitFor();
  const scores = await rows.locator("td:nth-of-type(1)").allTextContents();
  assert.equal(scores.length, BOOKS.length);
  assert.deepEqual(scores.map(Number), scores.map(Number).sort((a, b) => b - a));
  assert.deepEqual(problems, []);
});

test("a collection is edited, and a changed ranker begins a new era", async () => {
  const { page, problems } = await world.signedIn({}, "#/c/films/settings");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Nothing was changed.").waitFor();
  await page.getByLabel("Window in seconds").fill("60");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  assert.equal((await world.call("GET", "films")).window_seconds, 60);
  await page.getByLabel("Window in seconds").fill("-1");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").filter({ hasText: "window_seconds" }).waitFor();
  await page.getByLabel("Window in seconds").fill("60");
  await page.getByLabel("Algorithm").selectOption("klrank");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("A new era begins").waitFor();
  assert.equal((await world.call("GET", "films")).ranker, "klrank");
  assert.deepEqual(problems, []);
});

test("another ranker is evaluated on the log", async () => {
  const { page, problems } = await world.signedIn({}, "#/c/books/what-if");
  await page.getByText("Nothing was evaluated yet").waitFor();
  await page.getByLabel("Algorithm").selectOption("noregret-klrank");
  await page.getByRole("button", { name: "Evaluate" }).click();
  await page.getByRole("columnheader", { name: "With this ranker" }).waitFor();
  await page.getByText("Cost of a click").waitFor();
  assert.deepEqual(problems, []);
});

test("a collection is deleted only by typing its name", async () => {
  await world.call("PUT", "short-lived", {});
  const { page, problems } = await world.signedIn({}, "#/c/short-lived/settings");
  await page.getByRole("button", { name: "Delete…" }).click();
  const button = page.getByRole("button", { name: "Delete for ever" });
  assert.ok(await button.isDisabled());
  await page.getByLabel("to confirm").fill("short-lived");
  await button.click();
  await page.getByRole("link", { name: "books" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "short-lived" }).count(), 0);
  assert.deepEqual(problems, []);
});

test("a key for other collections sees nothing of this one", async () => {
  await world.call("PUT", "foreign", {});
  const { page, problems } = await world.newPage();
  await world.signIn(page, await world.makeKey("--role", "read", "--collections", "foreign"));
  await page.getByRole("link", { name: "foreign" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "books" }).count(), 0);
  for (const tab of ["", "/items", "/try", "/settings"]) {
    await world.go(page, `#/c/books${tab}`);
    await page.getByRole("heading", { name: "Not found" }).first().waitFor();
  }
  assert.ok(!(await page.content()).includes("algebra"));
  assert.deepEqual(problems, []);
});

test("names from outside stay text", async () => {
  await world.call("PUT", "hostile", {});
  const name = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  await world.call("POST", "hostile/items", { items: [{ id: name, topics: ["<b>bold</b>"] }, { id: "plain" }] });
  const { page, problems } = await world.signedIn({}, "#/c/hostile/items");
  await page.getByRole("link", { name }).first().click();
  await page.locator(".chips").getByText("<b>bold</b>").waitFor();
  assert.equal(await page.locator("main img, main b, main script").count(), 0);
  assert.deepEqual(problems, []);
});

test("a lost connection is shown, and the page recovers by itself", async () => {
  const { page, problems } = await world.signedIn({}, "#/c/books");
  await page.locator("#stream-state").filter({ hasText: "live" }).waitFor();
  await world.kill();
  await page.getByText("The connection to the server is lost").waitFor();
  await page.locator("#stream-state").filter({ hasText: "offline" }).waitFor();
  await page.screenshot({ path: path.join(screenshots, "offline.png") });
  await world.start();
  await page.getByText("The connection to the server is lost").waitFor({ state: "hidden" });
  await page.locator("#stream-state").filter({ hasText: "live" }).waitFor();
  await world.traffic("books", BOOKS, 2);
  await waitForNumber(page, "#tile-learned", await clicksLearned());
  assert.deepEqual(problems, []);
});

const PAGES = {
  overview: ["#/", "table.collections"],
  live: ["#/c/books", "#regret .u-over"],
  items: ["#/c/books/items", "table.items"],
  item: ["#/c/books/items/algebra", ".u-over"],
  try: ["#/c/books/try", "#try-k"],
  "what-if": ["#/c/books/what-if", "#ranker"],
  settings: ["#/c/books/settings", "#ranker"],
  new: ["#/new", "#ranker"],
};
const LOOKS = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
};

/** In the page: what has no name for those who cannot see it. */
function unnamed() {
  const named = (element) => element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") ||
    element.textContent.trim() || element.labels?.length > 0;
  return [...document.querySelectorAll("button, a, input, select, textarea, [role=img], table")]
    .filter((element) => (element.tagName === "TABLE" ? !element.caption : !named(element)))
    .map((element) => element.outerHTML.slice(0, 120));
}

for (const [look, options] of Object.entries(LOOKS)) {
  test(`every page in ${look}: nothing sticks out, everything has a name`, async () => {
    const { page, problems } = await world.newPage(options);
    await page.screenshot({ path: path.join(screenshots, `${look}-sign-in.png`) });
    await world.signIn(page);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    for (const [name, [hash, sign]] of Object.entries(PAGES)) {
      await world.go(page, hash);
      await page.locator(sign).first().waitFor();
      const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(content <= window, `${name}: ${content} px in ${window}`);
      assert.deepEqual(await page.evaluate(unnamed), [], name);
      await page.screenshot({ path: path.join(screenshots, `${look}-${name}.png`), fullPage: true });
    }
    assert.deepEqual(problems, []);
  });
}

test("texts have enough contrast in both themes, which a switch chooses", async () => {
  const { page, problems } = await world.signedIn();
  for (const theme of ["Light", "Dark"]) {
    await page.getByRole("radio", { name: theme }).check();
    const poor = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement("span"));
      const light = (name) => {
        probe.style.color = `var(${name})`;
        const parts = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map((part) => {
          const value = Number(part) / 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
      };
      const pairs = [["--ink", "--page"], ["--ink", "--card"], ["--ink", "--raised"], ["--soft", "--page"], ["--soft", "--card"],
        ["--soft", "--raised"], ["--accent", "--card"], ["--on-accent", "--accent"], ["--alarm", "--alarm-back"],
        ["--good", "--good-back"], ["--warn", "--warn-back"], ["--alarm", "--card"], ["--page", "--ink"]];
      return pairs.map(([text, back]) => {
        const [a, b] = [light(text), light(back)].sort((x, y) => y - x);
        return { text, back, ratio: (a + 0.05) / (b + 0.05) };
      }).filter((pair) => pair.ratio < 4.5);
    });
    assert.deepEqual(poor, [], theme);
  }
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark");
  assert.deepEqual(problems, []);
});

test("all that the console loads stays small", async () => {
  const text = await (await fetch(world.url)).text();
  const files = [...text.matchAll(/\/assets\/[\w.-]+/g)].map(([file]) => file);
  assert.ok(files.length >= 3);
  let total = gzipSync(text).length;
  for (const file of files) {
    total += gzipSync(Buffer.from(await (await fetch(world.url + file)).arrayBuffer())).length;
  }
  assert.ok(total < LIMIT_BYTES, `${total} bytes compressed`);
});
