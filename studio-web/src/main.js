// The start: colours and guide at once, and the rest of the page when the server has said what it offers.
import "uplot/dist/uPlot.min.css";
import { byId, notify } from "./dom.js";
import { Page } from "./page.js";
import { recall } from "./remembering.js";
import { recallTheme, Views } from "./views.js";

recallTheme();
history.scrollRestoration = "manual";
const views = new Views();
const { tab, step } = recall().state;
views.show(tab, step);
try {
  const catalogue = await (await fetch("/api/catalogue")).json();
  byId("version").textContent = catalogue.version;
  /** @type {any} */ (window).studio = new Page(catalogue, views);
} catch (error) {
  notify(`The page could not start: ${error.message}`);
  throw error;
}
