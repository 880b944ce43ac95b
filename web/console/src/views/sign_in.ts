// The door: a key, kept in memory until the page is closed or left.
import { ApiError, LostError, type Api } from "../api";
import { h } from "../dom";
import { themeSwitch } from "../shell";
import { describeError, FormMessage } from "../widgets/states";

export interface SignInOptions {
  reason: string; // why one has to sign in again, or empty
  tryKey: (key: string) => Promise<Api>;
  onSignedIn: (api: Api) => void;
}

function explain(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) {
    return "This key is not in force. Check it, or make another with “hindsight key add”.";
  }
  if (error instanceof ApiError && error.status === 403) {
    return "This key may not read statistics. The console needs a key of role admin or read.";
  }
  return error instanceof LostError ? error.message : describeError(error);
}

export function signInView(options: SignInOptions): HTMLElement {
  const message = new FormMessage();
  const input = h("input", {
    id: "key", name: "key", type: "password", required: true, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    "aria-describedby": "key-hint", autofocus: true,
  });
  const button = h("button", { type: "submit", class: "button primary" }, "Sign in");
  const form = h("form", { class: "sign-in-form", novalidate: true },
    h("label", { for: "key" }, "Key"), input,
    h("p", { id: "key-hint", class: "soft small" },
      "The first key is in the file ", h("code", {}, "admin.key"), " of the server's data folder. It stays in this page's memory and is gone when you close or reload it."),
    message.element, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const key = input.value.trim();
    if (key === "") {
      message.say("Enter a key.", "bad");
      input.focus();
      return;
    }
    message.clear();
    button.disabled = true;
    button.textContent = "Signing in…";
    options.tryKey(key).then(options.onSignedIn, (error: unknown) => {
      message.say(explain(error), "bad");
      input.focus();
      input.select();
    }).finally(() => {
      button.disabled = false;
      button.textContent = "Sign in";
    });
  });
  if (options.reason) {
    message.say(options.reason, "bad");
  }
  queueMicrotask(() => input.focus());
  return h("main", { class: "sign-in" },
    h("div", { class: "sign-in-box card" },
      h("h1", {}, h("span", { class: "logo", "aria-hidden": "true" }), "Hindsight"),
      h("p", { class: "lead" }, "Rankings that learn from every click, beside their regret and its bound."),
      form),
    h("footer", { class: "row centre soft small" }, h("a", { href: "/openapi.yaml" }, "API description"), themeSwitch()));
}
