// Starts the console: signs in, then shows the page that the address names.
import "./styles/main.css";
import "uplot/dist/uPlot.min.css";
import { Api } from "./api";
import { ConnectionWatch } from "./connection";
import type { Context } from "./context";
import { fill } from "./dom";
import { forgetScores } from "./score_history";
import { OVERVIEW, parseRoute, type Route } from "./router";
import { Shell } from "./shell";
import { startTheme } from "./theme";
import { collectionView } from "./views/collection";
import { overviewView } from "./views/overview";
import { newCollectionView } from "./views/settings";
import { signInView } from "./views/sign_in";

class App {
  private readonly root = document.getElementById("app") as HTMLElement;
  private readonly connection = new ConnectionWatch();
  private readonly shell = new Shell(this.connection, () => this.signOut());
  private api: Api | null = null;
  private view = new AbortController();
  private shown: Route | null = null;

  start(): void {
    startTheme();
    window.addEventListener("hashchange", () => this.showRoute());
    this.signOut();
  }

  /** Back to the door; the key is forgotten. */
  private signOut(reason = ""): void {
    this.api = null;
    this.shown = null;
    this.leave();
    forgetScores();
    document.title = "Sign in · Hindsight";
    fill(this.root, signInView({
      reason,
      tryKey: async (key) => {
        const api = new Api(key, this.hooks());
        await api.collections();
        return api;
      },
      onSignedIn: (api) => {
        this.api = api;
        fill(this.root, this.shell.element);
        this.showRoute();
      },
    }));
  }

  private hooks(): ConstructorParameters<typeof Api>[1] {
    return {
      onUnauthorized: () => {
        if (this.api !== null) {
          this.signOut("The key is no longer in force. Sign in with another one.");
        }
      },
      onLost: () => this.connection.lost(),
      onAnswer: () => this.connection.answered(),
    };
  }

  private leave(): void {
    this.view.abort();
    this.view = new AbortController();
    document.querySelectorAll("dialog").forEach((dialog) => dialog.remove());
  }

  private showRoute(): void {
    if (this.api === null) {
      return;
    }
    const route = parseRoute(location.hash);
    const inSamePage = this.shown?.page === "collection" && route.page === "collection" &&
      this.shown.name === route.name && this.shown.tab === route.tab;
    this.leave();
    this.shown = route;
    const context: Context = {
      api: this.api,
      connection: this.connection,
      signal: this.view.signal,
      notify: (text, kind) => this.shell.notify(text, kind),
    };
    this.shell.show(route, this.viewOf(route, context), !inSamePage);
  }

  private viewOf(route: Route, context: Context): HTMLElement {
    switch (route.page) {
      case "collection":
        return collectionView(context, route);
      case "new":
        return newCollectionView(context);
      case "overview":
        return overviewView(context);
    }
  }
}

if (location.hash === "") {
  history.replaceState(null, "", OVERVIEW);
}
new App().start();
