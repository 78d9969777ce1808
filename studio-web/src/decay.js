// The φ slider. Its scale is stretched towards 1, where the choice matters; a mark shows the graph's threshold.
import { make } from "./dom.js";
import { number } from "./words.js";

const MOST = 0.9995;
const place = (decay) => Math.log(1 - Math.min(decay, MOST)) / Math.log(1 - MOST);
const decayAt = (share) => 1 - (1 - MOST) ** share;

export class DecaySlider {
  constructor(start, onChange) {
    this.onChange = onChange;
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
    this.caption = make("p", { class: "caption" });
    this.element = make(
      "div",
      { class: "decay-field" },
      make("label", {}, make("span", {}, "decay φ"), this.box),
      make("div", { class: "rail" }, this.tick, this.range),
      this.caption,
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
    this.refresh();
    this.onChange();
  }

  /** threshold: {low, high} over nodes, or null while unknown. */
  mark(threshold) {
    this.threshold = threshold;
    this.refresh();
  }

  refresh() {
    this.range.disabled = this.box.disabled = this.free.checked;
    const known = this.threshold?.low !== undefined;
    this.tick.hidden = !known;
    if (!known) {
      this.caption.textContent = "";
      return;
    }
    const { low, high } = this.threshold;
    const left = place(low),
      right = place(high);
    this.tick.style.setProperty("--left", left);
    this.tick.style.setProperty("--right", right);
    this.tick.dataset.threshold = low;
    this.tick.title = `threshold ${low}`;
    const range = high - low > 5e-4 ? `${number(low)} to ${number(high)}, node by node` : number(low);
    const decay = Number(this.box.value);
    const { really } = this.threshold;
    const slow =
      really === null || really === undefined
        ? ""
        : ` Up to φ = ${number(really)} it is proved that no run becomes slower.`;
    const verdict = this.free.checked
      ? "every node at its threshold"
      : decay <= low
        ? "at or below: the proved rate is that without noise"
        : decay > high
          ? "above: the noise sets the proved rate"
          : "above for some nodes";
    this.caption.textContent = `The proved rate is kept up to φ = ${range} (${verdict}).${slow}`;
    this.caption.classList.toggle("above", !this.free.checked && decay > low);
  }
}
