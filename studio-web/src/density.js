// Densities: how far a guess can be off, as the curve over it. Before, what the answer alone leaves, and this run.
import { exposureOf } from "./colours.js";
import { make } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const REACH = 3.2;
const POINTS = 48;
const HIGHEST = 6; // dots above each other
export const WIDE = 180;
export const TALL = 30;

/** Height of a normal curve at x, as a share of the height of one with deviation `unit`. */
const bell = (x, centre, std, unit) => (unit / std) * Math.exp(-0.5 * ((x - centre) / std) ** 2);

/**
 * A normal curve as an SVG path between `low` and `high`; what rises above the picture is cut.
 * @param {number} centre
 * @param {number} std
 * @param {{low: number, high: number, unit: number}} axis
 */
export function curve(centre, std, { low, high, unit }) {
  const wide = (x) => ((x - low) / (high - low)) * WIDE;
  const tall = (x) => TALL - Math.min(1, 0.42 * bell(x, centre, std, unit)) * (TALL - 2);
  if (std < 0.004 * (high - low)) {
    const at = Math.min(WIDE, Math.max(0, wide(centre)));
    return `M${(at - 1.2).toFixed(1)},${TALL}V1H${(at + 1.2).toFixed(1)}V${TALL}Z`;
  }
  const parts = [];
  for (let k = 0; k <= POINTS; k += 1) {
    const x = low + (k / POINTS) * (high - low);
    parts.push(`${wide(x).toFixed(1)},${tall(x).toFixed(1)}`);
  }
  return `M0,${TALL}L${parts.join("L")}L${WIDE},${TALL}Z`;
}

/** The part of the number line that strips show: around what is believed before, three deviations each way. */
export function axisOf(centre, scale) {
  return { low: centre - REACH * scale, high: centre + REACH * scale, unit: scale };
}

function shape(kind, attributes) {
  const element = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** One node's strip: three curves over one axis, and the truth as a tick. */
export class Strip {
  /**
   * @param {{low: number, high: number, unit: number}} axis
   * @param {{before: number | null, centre: number, answer: {std: number, estimate: number} | null}} known
   * @param {number} truth
   */
  constructor(axis, { before, centre, answer }, truth) {
    this.axis = axis;
    this.run = shape("path", { class: "run" });
    const box = { viewBox: `0 0 ${WIDE} ${TALL + 3}`, preserveAspectRatio: "none" };
    this.element = shape("svg", { class: "strip", "aria-hidden": "true", ...box });
    if (before !== null) this.element.append(shape("path", { class: "before", d: curve(centre, before, axis) }));
    if (answer) this.element.append(shape("path", { class: "answer", d: curve(answer.estimate, answer.std, axis) }));
    this.element.append(this.run, shape("path", { class: "floor", d: `M0,${TALL}H${WIDE}` }));
    const at = ((truth - axis.low) / (axis.high - axis.low)) * WIDE;
    if (at >= 0 && at <= WIDE)
      this.element.append(shape("path", { class: "truth", d: `M${at},${TALL - 5}V${TALL + 3}` }));
  }

  /**
   * What is believed now: nothing is drawn where nothing is.
   * @param {number | null} estimate
   * @param {number} std
   * @param {string} kind
   * @param {number} left  share of the uncertainty that is left
   */
  show(estimate, std, kind, left) {
    const drawn = estimate !== null && Number.isFinite(std) && std < 40 * this.axis.unit;
    this.run.setAttribute("d", drawn ? curve(estimate, std, this.axis) : "");
    this.run.style.setProperty("--colour", exposureOf(kind, left));
  }
}

/** All nodes on one line, from "known exactly" to "as before": a dot each, and a mark for the answer alone. */
export class Gauge {
  constructor() {
    this.dots = shape("g", {});
    this.answer = shape("path", { class: "answer" });
    this.element = shape("svg", { class: "gauge", viewBox: "0 0 400 60", role: "img" });
    this.element.append(shape("path", { class: "floor", d: "M8,43H392" }), this.answer, this.dots);
    const words = (x, anchor, text) => {
      const element = shape("text", { x, y: 56, "text-anchor": anchor });
      element.textContent = text;
      this.element.append(element);
      return element;
    };
    words(8, "start", "known exactly");
    words(392, "end", "as before");
    this.label = words(0, "end", "");
    this.label.setAttribute("y", "9");
  }

  /**
   * @param {{left: number[], kinds: string[]}} now  share of the uncertainty left, and the kind, node by node
   * @param {number | null} answer  the share that the answer alone leaves
   */
  show({ left, kinds }, answer) {
    const place = (share) => 8 + 384 * Math.min(1, Math.max(0, share));
    this.answer.setAttribute("d", answer === null ? "" : `M${place(answer)},2V46`);
    const right = (answer ?? 0) > 0.3;
    this.label.setAttribute("x", String(place(answer ?? 0) + (right ? -5 : 5)));
    this.label.setAttribute("text-anchor", right ? "end" : "start");
    this.label.textContent = answer === null ? "" : "the answer alone";
    const stacks = new Map();
    const dots = left.map((share, node) => {
      const column = Math.round(place(share) / 5),
        row = stacks.get(column) ?? 0;
      if (kinds[node] === "own" || row >= HIGHEST) return null;
      stacks.set(column, row + 1);
      const dot = shape("circle", { cx: place(share).toFixed(1), cy: 40 - 5 * row, r: 2.6 });
      dot.style.setProperty("--colour", exposureOf(kinds[node], share));
      return dot;
    });
    this.dots.replaceChildren(...dots.filter(Boolean));
  }
}

/** The words beside the curves. */
export function legend(flat) {
  const entry = (kind, text) => make("span", {}, make("i", { class: `key curve ${kind}` }), text);
  return make(
    "p",
    { class: "caption curves" },
    ...(flat ? [] : [entry("before", "before")]),
    entry("answer", "what the answer alone reveals"),
    entry("run", "this run"),
    entry("truth", "the truth"),
  );
}
