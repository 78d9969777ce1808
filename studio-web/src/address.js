// The whole state of the page in its address, after the #: nothing of it is sent to a server by opening the link.
import { readObserver } from "./observer.js";

/**
 * What the page shows.
 * @typedef {object} State
 * @property {any} graph  a specification, or {edges, name}
 * @property {any} values  a way to make them, or a list
 * @property {string[]} methods
 * @property {number} seed
 * @property {number} steps
 * @property {number} at
 * @property {number | "max"} speed
 * @property {string | null} watch  who is curious, in the words of observer.js
 * @property {string} prior
 * @property {string} tab
 * @property {string} step  of the guide
 */

/** The guide, in the order in which it is read; the playground follows. */
export const GUIDE_STEPS = ["secrets", "exchange", "neighbour", "noise", "price", "seals", "answer"];
export const PLAYGROUND = "playground";

/** @type {Readonly<State>} */
export const DEFAULTS = Object.freeze({
  graph: "cycle:10",
  values: "uniform",
  methods: ["noise-insertion:noise_std=1,noise_decay=0.9"],
  seed: 1,
  steps: 600,
  at: 0,
  speed: 60,
  watch: null,
  prior: "",
  tab: "guide",
  step: "secrets",
});

const PROBLEM = ["graph", "values", "methods", "seed", "steps", "at", "speed", "watch", "prior"];

export const LONGEST = 100_000;

/** State → text after the #. What is at its default is left out; an address without a step is the playground's. */
export function write(state) {
  const parts = [];
  const reading = state.tab === "guide" && state.step !== PLAYGROUND;
  const untouched = PROBLEM.every((key) => JSON.stringify(state[key]) === JSON.stringify(DEFAULTS[key]));
  if (reading && untouched) return `step=${state.step}`;
  const put = (key, value) =>
    parts.push(`${key}=${encodeURIComponent(value).replace(/%3A/g, ":").replace(/%2C/g, ",").replace(/%3D/g, "~")}`);
  if (typeof state.graph === "string") put("graph", state.graph);
  else putGraph(put, state.graph);
  if (typeof state.values === "string") put("values", state.values);
  else put("numbers", Object.values(state.values).join("_"));
  for (const method of state.methods) put("method", method);
  put("seed", state.seed);
  put("steps", state.steps);
  for (const key of ["at", "speed", "watch", "prior"]) {
    if (state[key] !== DEFAULTS[key] && state[key] !== null) put(key, state[key]);
  }
  if (reading) put("step", state.step);
  if (state.tab === "live") put("tab", "live");
  return parts.join("&");
}

/** One's own graph: its edges, and names and weights if it has them. */
function putGraph(put, { edges, labels, weights }) {
  put("edges", edges.map((e) => e.join("-")).join("_"));
  if (labels) put("names", labels.map((name) => encodeURIComponent(name).replace(/_/g, "%5F")).join("_"));
  if (weights) put("weights", weights.join("_"));
}

/** Text after the # → state, and sentences about what could not be read. */
export function read(text) {
  const state = structuredClone({ ...DEFAULTS });
  const problems = [];
  const methods = [];
  const given = text.replace(/^#/, "").split("&").filter(Boolean);
  if (given.length) Object.assign(state, { tab: "playground", step: PLAYGROUND });
  for (const part of given) {
    const cut = part.indexOf("=");
    const key = cut < 0 ? part : part.slice(0, cut);
    let value;
    try {
      value = decodeURIComponent(part.slice(cut + 1).replace(/~/g, "="));
    } catch {
      problems.push(`“${key}” in the address is not readable`);
      continue;
    }
    if (key === "method") methods.push(value);
    else if (!apply(state, key, value))
      problems.push(`the address has ${key} = “${value.slice(0, 30)}”, which is not understood`);
  }
  if (methods.length) state.methods = methods;
  return { state, problems };
}

function numbersOf(text) {
  const numbers = text.split("_").map((part) => (part.trim() === "" ? NaN : Number(part)));
  return numbers.every(Number.isFinite) ? numbers : null;
}

function namesOf(text) {
  try {
    return text.split("_").map(decodeURIComponent);
  } catch {
    return null;
  }
}

function apply(state, key, value) {
  const count = (low) => (/^\d{1,15}$/.test(value) && Number(value) >= low ? Number(value) : undefined);
  const set = (found) => (found === undefined ? false : ((state[key] = found), true));
  switch (key) {
    case "graph":
      state.graph = value;
      return true;
    case "values":
      state.values = value;
      return true;
    case "edges": {
      const pairs = value
        .split("_")
        .map((pair) => pair.split("-").map((end) => (/^\d+$/.test(end) ? Number(end) : NaN)));
      if (!pairs.every((pair) => pair.length === 2 && pair.every(Number.isFinite))) return false;
      state.graph = { edges: pairs, name: "my graph" };
      return true;
    }
    case "names": {
      const labels = namesOf(value);
      if (typeof state.graph === "string" || !labels) return false;
      state.graph.labels = labels;
      return true;
    }
    case "weights": {
      const weights = numbersOf(value);
      if (typeof state.graph === "string" || !weights) return false;
      state.graph.weights = weights;
      return true;
    }
    case "numbers": {
      const numbers = numbersOf(value);
      if (numbers) state.values = numbers;
      return Boolean(numbers);
    }
    case "seed":
    case "at":
      return set(count(0));
    case "watch":
      return set(readObserver(value) ? value : undefined);
    case "steps":
      return set(count(1));
    case "speed":
      return set(value === "max" ? "max" : count(1));
    case "prior":
      return set(value === "none" || Number(value) > 0 ? value : undefined);
    case "tab":
      return set(["playground", "live"].includes(value) ? value : undefined);
    case "step":
      if (GUIDE_STEPS.includes(value)) state.tab = "guide";
      return set(GUIDE_STEPS.includes(value) ? value : undefined);
    default:
      return false;
  }
}
