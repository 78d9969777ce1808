// The φ slider. Its scale is stretched towards 1, where the choice matters. Two marks: up to where a run is as fast as
// without noise in the long run, and up to where the proved rate is kept; below them what the choice costs.
import { make } from "./dom.js";
import { belowOne, number } from "./words.js";

const MOST = 0.9995;
const place = (decay) => Math.log(1 - Math.min(decay, MOST)) / Math.log(1 - MOST);
const decayAt = (share) => 1 - (1 - MOST) ** share;

/**
 * Expected steps over those of standard gossip, between the decays for which the server says it.
 * @param {{decay: number, ratio: number}[]} costs
 * @param {number} decay
 */
export function costAt(costs, decay) {
  const known = costs.filter(({ ratio }) => typeof ratio === "number");
  const after = known.findIndex((cost) => cost.decay >= decay);
  if (after < 0) return null;
  const [low, high] = [known[Math.max(0, after - 1)], known[after]];
  const share = high.decay > low.decay ? (place(decay) - place(low.decay)) / (place(high.decay) - place(low.decay)) : 0;
  return low.ratio + Math.max(0, share) * (high.ratio - low.ratio);
}

export class DecaySlider {
  constructor(start, onChange) {
    this.onChange = onChange;
    this.told = "";
    this.range = make("input", { type: "range", min: "0", max: "1000", class: "decay", "aria-label": "noise decay φ" });
    this.box = make("input", {
      type: "number",
      min: "0",
      max: "0.9999",
      step: "any",
      "aria-label": "noise decay φ, as a number",
    });
    this.free = make("input", { type: "checkbox" });
    this.tick = make("div", { class: "threshold", hidden: true });
    this.fast = make("div", { class: "fast-mark", hidden: true });
    this.cost = make("p", { class: "caption cost" });
    this.marks = make("ul", { class: "caption marks" });
    this.element = make(
      "div",
      { class: "decay-field" },
      make("label", {}, make("span", {}, "decay φ"), this.box),
      make("div", { class: "rail" }, this.fast, this.tick, this.range),
      this.cost,
      this.marks,
      make(
        "label",
        { class: "check" },
        this.free,
        make("span", {}, "largest φ that keeps the proved rate, at every node"),
      ),
    );
    this.range.addEventListener("input", () => {
      this.box.value = Number(decayAt(this.range.value / 1000).toPrecision(3));
      this.changed();
    });
    this.box.addEventListener("input", () => {
      this.range.value = 1000 * place(Number(this.box.value));
      this.changed();
    });
    this.free.addEventListener("change", () => this.changed());
    this.free.checked = start === "free";
    this.box.value = start === "free" ? 0.9 : start;
    this.range.value = 1000 * place(Number(this.box.value) || 0);
    this.refresh();
  }

  get value() {
    return this.free.checked ? "free" : this.box.value;
  }

  changed() {
    this.told = "";
    this.refresh();
    this.onChange();
  }

  /** What the server says that this very method costs, in a sentence; until it has spoken, the slider says less. */
  tell(text) {
    this.told = text;
    this.refresh();
  }

  /** threshold: {low, high, really, costs}, or null while unknown. */
  mark(threshold) {
    this.threshold = threshold;
    this.refresh();
  }

  refresh() {
    this.range.disabled = this.box.disabled = this.free.checked;
    const known = this.threshold?.low !== undefined;
    this.tick.hidden = !known;
    this.fast.hidden = !known || !(this.threshold.really > 0);
    this.marks.replaceChildren();
    this.cost.textContent = known ? this.price() : "";
    if (!known) return;
    const { low, high, really } = this.threshold;
    this.tick.style.setProperty("--left", place(low));
    this.tick.style.setProperty("--right", place(high));
    this.tick.dataset.threshold = low;
    const range = high - low > 5e-4 ? `${belowOne(low)} to ${belowOne(high)}, node by node` : belowOne(low);
    if (!this.fast.hidden) {
      this.fast.style.setProperty("--left", place(really));
      this.fast.dataset.threshold = really;
      this.marks.append(
        make("li", { class: "fast" }, `up to φ = ${belowOne(really)} no run is slower in the long run`),
      );
    }
    this.marks.append(make("li", { class: "proved" }, `up to φ = ${range} the proved rate is kept`));
  }

  /** What this decay costs, in one sentence. */
  price() {
    const { low, high, costs = [] } = this.threshold;
    const decay = this.free.checked ? high : Number(this.box.value);
    this.cost.classList.toggle("above", decay > low);
    const ratio = costAt(costs, decay);
    this.cost.dataset.ratio = ratio ?? "";
    if (this.told) return this.told;
    if (ratio === null) return "";
    const times = ratio < 1.05 ? "as many steps as" : `about ${number(ratio, 2)} times the steps of`;
    return `in the long run, each further digit takes ${times} gossip without noise`;
  }
}
