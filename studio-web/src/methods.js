// A card for each method of the run: its name and its parameters, φ on a slider with marks.
import { DecaySlider } from "./decay.js";
import { byId, make } from "./dom.js";

const WORDS = { noise_std: "noise σ" };

/** "name:a=1,b=2" → ["name", {a: "1", b: "2"}] */
export function readMethod(spec) {
  const [name, rest = ""] = spec.split(/:(.*)/s);
  const parts = rest.split(",").filter(Boolean);
  return [name, Object.fromEntries(parts.map((part) => part.split(/=(.*)/s).slice(0, 2)))];
}

export class MethodCards {
  /**
   * @param {any} catalogue
   * @param {() => void} changed
   */
  constructor(catalogue, changed) {
    this.catalogue = catalogue;
    this.changed = changed;
    this.threshold = null;
    this.box = byId("methods");
    byId("add-method").addEventListener("click", () => {
      this.add(this.another());
      this.changed();
    });
  }

  /** @returns {any[]} */
  get cards() {
    return [...this.box.children];
  }

  show(specs) {
    this.box.replaceChildren();
    for (const spec of specs) this.add(spec);
  }

  /** What is worth comparing with: standard gossip, or what hides something. */
  another() {
    const used = this.cards.map((card) => card.querySelector("select").value);
    return used.includes("standard") || !used.length ? "noise-insertion" : "standard";
  }

  add(spec) {
    const [name, given] = readMethod(spec);
    const known = this.catalogue.methods.some((method) => method.name === name);
    const select = make("select", { "aria-label": "method" });
    for (const entry of this.catalogue.methods) select.append(make("option", { value: entry.name }, entry.title));
    select.value = known ? name : "standard";
    const remove = make(
      "button",
      { type: "button", class: "quiet", "aria-label": "remove this method", title: "remove this method" },
      "✕",
    );
    const card = make(
      "div",
      { class: "method" },
      make("div", { class: "head" }, make("i", { class: "swatch" }), select, remove),
      make("div", { class: "fields" }),
    );
    remove.addEventListener("click", () => {
      card.remove();
      this.count();
      this.changed();
    });
    select.addEventListener("change", () => {
      this.fill(card, select.value, {});
      this.changed();
    });
    this.box.append(card);
    this.fill(card, select.value, given);
    this.count();
  }

  /** The fields of a method's parameters, with what was given or what the catalogue starts with. */
  fill(card, name, given) {
    const entry = this.catalogue.methods.find((method) => method.name === name);
    card.title = entry.about;
    card.slider = null;
    card.inputs = {};
    const fields = entry.parameters.map((parameter) => {
      const start = given[parameter.name] ?? String(parameter.start);
      if (entry.decay && parameter.name === "noise_decay") {
        card.slider = card.inputs[parameter.name] = new DecaySlider(start, this.changed);
        card.slider.mark(this.threshold);
        return card.slider.element;
      }
      const input = make("input", { type: "text", inputmode: "decimal", value: start, oninput: this.changed });
      card.inputs[parameter.name] = input;
      const words = WORDS[parameter.name] ?? parameter.name.replaceAll("_", " ");
      return make("label", { title: parameter.about }, make("span", {}, words), input);
    });
    card.querySelector(".fields").replaceChildren(...fields);
  }

  /** Colours by place; the last card stays, and there are at most as many as the server allows. */
  count() {
    const { cards } = this;
    cards.forEach((card, k) => {
      card.querySelector(".swatch").className = `swatch lane-${k}`;
      card.querySelector("button").hidden = cards.length < 2;
    });
    byId("add-method").hidden = cards.length >= this.catalogue.limits.methods;
  }

  /** What each method costs, as the server found it. */
  setCost(lane, cost) {
    this.cards[lane]?.slider?.tell(cost?.text ?? "");
  }

  setThreshold(threshold) {
    this.threshold = threshold;
    for (const card of this.cards) card.slider?.mark(threshold);
  }

  /** All cards as specifications. */
  collect() {
    return this.cards.map((card) => {
      const parts = Object.entries(card.inputs).map(([name, input]) => `${name}=${input.value.trim()}`);
      const name = card.querySelector("select").value;
      return parts.length ? `${name}:${parts.join(",")}` : name;
    });
  }
}
