// Makes a collection, or changes one: the form is drawn from what the server says about its rankers.
import { run, type Context } from "../context";
import { fill, h } from "../dom";
import { collectionLink, go, OVERVIEW } from "../router";
import type { Collection, CollectionWish, Ranker } from "../types";
import { openDialog } from "../widgets/dialog";
import { failed, FormMessage, loading } from "../widgets/states";
import { RankerFields } from "../widgets/ranker_fields";
import { SettingFields } from "../widgets/setting_fields";

const NAME = /^[a-z0-9_-]{1,64}$/;

export function newCollectionView(context: Context): HTMLElement {
  const body = h("div", {}, loading("the rankers"));
  const start = (): void => run(context, async () => {
    const rankers = await context.api.rankers(context.signal);
    fill(body, newForm(context, rankers));
  }, (error) => fill(body, failed(error, start)));
  start();
  return h("div", {}, h("header", { class: "page-head" }, h("h1", {}, "New collection")), body);
}

function newForm(context: Context, rankers: Ranker[]): HTMLElement {
  const name = h("input", { id: "name", maxlength: "64", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "name-hint" });
  const seed = h("input", { id: "seed", inputmode: "numeric", autocomplete: "off", placeholder: "drawn at random", pattern: "[0-9]*" });
  const ranker = new RankerFields(rankers, null);
  const settings = new SettingFields(null);
  const message = new FormMessage();
  const form = h("form", { class: "form card", novalidate: true },
    h("div", { class: "field-grid" },
      h("div", { class: "field" }, h("label", { for: "name" }, "Name"), name,
        h("p", { class: "hint", id: "name-hint" }, "1 to 64 of a–z, 0–9, _ and -")),
      h("div", { class: "field" }, h("label", { for: "seed" }, "Seed"), seed,
        h("p", { class: "hint" }, "Of all random numbers; never changes"))),
    ranker.element, settings.element, message.element,
    h("div", { class: "row end" }, h("a", { class: "button", href: OVERVIEW }, "Cancel"),
      h("button", { type: "submit", class: "button primary" }, "Make the collection")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!NAME.test(name.value)) {
      message.say("A name has 1 to 64 characters, each of a–z, 0–9, _ and -.", "bad");
      name.focus();
      return;
    }
    const number = seed.value.trim();
    if (number !== "" && !(/^[0-9]+$/.test(number) && Number.isSafeInteger(Number(number)))) {
      message.say("A seed is a whole number below 9,007,199,254,740,992.", "bad");
      seed.focus();
      return;
    }
    run(context, async () => {
      const known = await context.api.collections(context.signal);
      if (known.some((one) => one.name === name.value)) {
        message.say(`There is a collection named ${name.value} already.`, "bad");
        return;
      }
      await context.api.put(name.value, { ...ranker.wish(), ...settings.wish(), ...(number === "" ? {} : { seed: Number(number) }) });
      context.notify(`The collection ${name.value} is made.`);
      go(collectionLink(name.value));
    }, (error) => message.fail(error));
  });
  return form;
}

export function editCollectionTab(context: Context, collection: string): HTMLElement {
  const body = h("div", {}, loading("the settings"));
  const start = (said = ""): void => run(context, async () => {
    const [rankers, now] = await Promise.all([context.api.rankers(context.signal), context.api.collection(collection, context.signal)]);
    fill(body, editForm(context, rankers, now, said, start), dangerZone(context, collection));
  }, (error) => fill(body, failed(error, () => start())));
  start();
  return body;
}

function editForm(context: Context, rankers: Ranker[], now: Collection, said: string, again: (said: string) => void): HTMLElement {
  const ranker = new RankerFields(rankers, now);
  const settings = new SettingFields(now);
  const history = h("select", { id: "history" },
    h("option", { value: "replay" }, "learns all clicks so far, in the background"), h("option", { value: "discard" }, "starts anew"));
  const message = new FormMessage();
  if (said) {
    message.say(said, "good");
  }
  const form = h("form", { class: "form card", novalidate: true },
    ranker.element,
    h("div", { class: "field" }, h("label", { for: "history" }, "A changed ranker"), history,
      h("p", { class: "hint" }, "Another ranker, or other parameters, begin a new era: cost and regret start again.")),
    settings.element, message.element,
    h("div", { class: "row end" }, h("button", { type: "submit", class: "button primary" }, "Save")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wish: CollectionWish = { ...ranker.wish(), ...settings.wish() };
    const retry = now.build_error !== undefined && Object.keys(wish).length === 0;
    if (retry) {
      Object.assign(wish, ranker.choice());
    }
    if (Object.keys(wish).length === 0) {
      message.say("Nothing was changed.", "good");
      return;
    }
    if (ranker.changed()) {
      wish.history = history.value as "replay" | "discard";
    }
    run(context, async () => {
      const reply = await context.api.put(now.name, wish);
      again(reply.outcome === "unchanged" ? "Nothing was changed."
        : retry ? "Tried again: until the chosen ranker is ready, the one before it serves."
        : ranker.changed() ? "Saved. A new era begins; until the new ranker is ready, the old one serves." : "Saved.");
    }, (error) => message.fail(error));
  });
  return form;
}

function dangerZone(context: Context, collection: string): HTMLElement {
  return h("section", { class: "card" }, h("h2", {}, "Delete the collection"),
    h("p", {}, "Deletes the items, the model and the whole log. Nothing stays, and nothing brings it back."),
    h("button", { type: "button", class: "button danger", on: { click: () => confirmDelete(context, collection) } }, "Delete…"));
}

function confirmDelete(context: Context, collection: string): void {
  const typed = h("input", { id: "confirm-name", autocomplete: "off", spellcheck: "false" });
  const button = h("button", { type: "submit", class: "button danger", disabled: true }, "Delete for ever");
  typed.addEventListener("input", () => { button.disabled = typed.value !== collection; });
  const message = new FormMessage();
  const form = h("form", { class: "form", novalidate: true },
    h("div", { class: "field" }, h("label", { for: "confirm-name" }, `Type “${collection}” to confirm`), typed), message.element,
    h("div", { class: "row end" }, h("button", { type: "button", class: "button", on: { click: () => dialog.close() } }, "Keep it"), button));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (typed.value !== collection) {
      return;
    }
    run(context, async () => {
      await context.api.remove(collection);
      dialog.close();
      context.notify(`The collection ${collection} is deleted.`);
      go(OVERVIEW);
    }, (error) => message.fail(error));
  });
  const dialog = openDialog(`Delete ${collection}?`, [form]);
}
