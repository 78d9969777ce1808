// Set-ups as files: everything that is shown, saved for another day or another person.
import { post } from "./connection.js";
import { announce, byId, download, make, notify } from "./dom.js";

/** What of the page, apart from the run, belongs to a set-up. */
const KEPT = ["at", "speed", "watch", "prior"];

/**
 * @param {object} page
 * @param {() => any} page.state
 * @param {() => object} page.problem
 * @param {(patch: object) => void} page.onLoad
 */
export function prepareSetups({ state, problem, onLoad }) {
  const save = make("button", { type: "button", id: "setup-save" }, "Save set-up");
  const file = make("input", { type: "file", id: "setup-file", accept: ".json,application/json" });
  save.addEventListener("click", () => saying(() => saveSetup(state(), problem())));
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (chosen) await saying(async () => onLoad(await readSetup(chosen)));
    file.value = "";
  });
  byId("setup-files").replaceChildren(save, make("label", { class: "file" }, make("span", {}, "load a set-up"), file));
}

async function saying(work) {
  try {
    await work();
    notify("");
  } catch (error) {
    notify(error.message);
  }
}

async function saveSetup(state, problem) {
  const page = Object.fromEntries(KEPT.map((key) => [key, state[key]]));
  const response = await post("/api/export/setup", { problem, page });
  download("sottovoce-setup.json", await response.blob());
  announce("set-up saved");
}

/** A file → the state that it describes. */
async function readSetup(file) {
  const { problem, page } = await (await post("/api/read/setup", await file.text())).json();
  return stateOf(problem, page ?? {});
}

/** The words of a problem are those of the address, but for the number of steps. */
export function stateOf({ graph, values, methods, seed, num_steps: steps }, page) {
  const kept = Object.fromEntries(KEPT.filter((key) => page[key] !== undefined).map((key) => [key, page[key]]));
  return { graph, values, methods, seed, steps, at: 0, watch: null, prior: "", ...kept };
}
