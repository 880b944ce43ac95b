// The shop's own script: hands the page's settings to the snippet.
import { reportClicks } from "./hindsight-clicks.js";

const { url, key, collection } = document.querySelector("script[data-url]").dataset;
reportClicks({ url, key, collection });
