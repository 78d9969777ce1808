// The privacy meter: what one curious node can infer about all others, beside the same run of standard gossip.
import { byId, make } from "./dom.js";
import { exposure } from "./colours.js";
import { Network } from "./network.js";
import { inference, number, plusMinus } from "./words.js";

const LISTED = 40;

/** Index of the last entry of a sorted list that is not above `step`; −1 if there is none. */
function lastBefore(steps, step) {
  let row = -1;
  for (let low = 0, high = steps.length - 1; low <= high;) {
    const middle = (low + high) >> 1;
    if (steps[middle] <= step) {
      row = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  return row;
}

export class Meter {
  /** onWatch(node or null, prior or null for flat) */
  constructor({ onWatch, onPick }) {
    this.onWatch = onWatch;
    this.onPick = onPick;
    this.data = null;
    this.guesses = null;
    this.cards = [];
    byId("watch-node").addEventListener("change", () =>
      this.choose(byId("watch-node").value === "" ? null : Number(byId("watch-node").value)),
    );
    byId("watch-prior").addEventListener("change", () => this.choose(this.node));
    byId("watch-flat").addEventListener("change", () => this.choose(this.node));
    byId("watch-stop").addEventListener("click", () => this.choose(null));
  }

  prior() {
    return byId("watch-flat").checked ? null : Number(byId("watch-prior").value);
  }

  choose(node) {
    byId("watch-prior").disabled = byId("watch-flat").checked;
    this.onWatch(node, this.prior());
  }

  /** A new graph or values: the prior starts at the spread of the values. */
  prepare(ready, prior) {
    this.ready = ready;
    this.data = null;
    byId("watch-node").max = ready.graph.numNodes - 1;
    byId("watch-flat").checked = prior === "none";
    byId("watch-prior").disabled = prior === "none";
    byId("watch-prior").value = prior && prior !== "none" ? prior : Number((ready.spread || 1).toPrecision(3));
    byId("privacy-cards").replaceChildren();
    this.cards = [];
  }

  setNode(node) {
    this.node = node;
    byId("watch-node").value = node ?? "";
    byId("watch-stop").hidden = node === null;
    byId("privacy").classList.toggle("idle", node === null);
    byId("privacy-says").textContent =
      node === null
        ? "Click a node in the drawing, or choose one here, to make it curious."
        : `Working out what node ${node} can infer …`;
    if (node === null) {
      this.data = null;
      byId("privacy-cards").replaceChildren();
      this.cards = [];
      byId("assumptions").replaceChildren();
    }
  }

  receive(message, positions) {
    if (message.node !== this.node) return;
    if (!message.lanes) {
      byId("privacy-says").textContent = message.message;
      byId("privacy-cards").replaceChildren();
      return;
    }
    this.data = message;
    this.guesses = null;
    const { prior } = message;
    byId("privacy-says").textContent =
      `Node ${message.node} is curious: it follows the rules, remembers every message it receives, ` +
      "and draws the best possible conclusions. " +
      (prior === null
        ? "Beforehand it knows nothing about the others."
        : `Beforehand it takes each other value to be about ${plusMinus(this.ready.trueMean, prior)}.`) +
      " ± is one standard deviation of its best guess.";
    const texts = [
      ...message.assumptions,
      "these are exact statements about this run of this simulation, not a promise for every network",
    ];
    byId("assumptions").replaceChildren(...texts.map((text) => make("li", {}, text)));
    // Standard gossip is there to compare with; where it is one of the methods anyway, it is not shown twice.
    const last = message.lanes.length - 1;
    this.shown = message.lanes
      .map((lane, k) => ({ lane, k }))
      .filter(({ lane, k }) => k !== last || !message.lanes.slice(0, last).some((l) => l.label === lane.label));
    this.cards = this.shown.map(({ lane, k }) => this.card(lane, k === last, k));
    byId("privacy-cards").replaceChildren(...this.cards.map((card) => card.element));
    for (const card of this.cards)
      if (card.network) {
        card.network.setGraph(this.ready.graph);
        card.network.setPositions(positions);
      }
    this.step = null;
  }

  /** The observer's best guesses at one step; they are shown while the run stands there. */
  receiveGuesses(message) {
    if (!this.data || message.node !== this.node || message.prior !== this.data.prior) return;
    this.guesses = message;
    this.step = null;
  }

  guess(card, node) {
    const found = this.guesses?.step === this.at ? this.guesses.lanes[card.index]?.[node] : null;
    return typeof found === "number" ? found : null;
  }

  card(lane, baseline, index) {
    const says = make("p", { class: "verdict" });
    const list = make("ul", { class: "findings", tabindex: "0", "aria-label": "what it knows, node by node" });
    const title = make("h3", {}, baseline ? `${lane.label}, for comparison` : lane.label);
    if (lane.message) return { element: make("article", { class: "card" }, title, make("p", {}, lane.message)) };
    const head = make(
      "p",
      { class: "findings-head", "aria-hidden": "true" },
      ...["node", "unsure", "what it knows", "truth"].map((text) => make("span", {}, text)),
    );
    const canvas = make("canvas", {
      role: "img",
      "aria-label": `what node ${this.node} knows about each node under ${lane.label}`,
    });
    const element = make(
      "article",
      { class: "card", "data-label": lane.label },
      title,
      says,
      ...(lane.note ? [make("p", { class: "caption" }, lane.note)] : []),
      make(
        "div",
        { class: "pair" },
        make("div", { class: "drawing small" }, canvas, make("div", { class: "tip", hidden: true })),
        make("div", {}, head, list),
      ),
    );
    const card = { element, says, list, lane, index };
    card.network = new Network(canvas, {
      label: (node) => `node ${node}: ${this.sentence(card, node)}`,
      onPick: this.onPick,
    });
    return card;
  }

  sentence(card, node) {
    if (node === this.node) return "the curious one";
    const { text } = inference(card.std[node], this.data.prior, this.guess(card, node));
    return `${text}; the truth is ${number(this.ready.privateValues[node], 4)}`;
  }

  setPositions(positions) {
    for (const card of this.cards) card.network?.setPositions(positions);
  }

  /** Show what is known after `step`. */
  update(step) {
    if (!this.data) return;
    if (this.guesses && this.guesses.step === this.at && step !== this.at) this.step = null;
    this.at = step;
    const { steps, prior } = this.data;
    const rows = this.cards.map((card) => (card.lane ? lastBefore(card.lane.steps ?? steps, step) : -1));
    const key = rows.join();
    if (key === this.step) return;
    this.step = key;
    this.cards.forEach((card, k) => {
      if (card.lane) this.updateCard(card, rows[k], prior);
    });
  }

  updateCard(card, row, prior) {
    const count = this.ready.graph.numNodes;
    card.std = row < 0 ? Array(count).fill(prior ?? "inf") : card.lane.std[row];
    const scale = prior ?? this.ready.spread ?? 1;
    const left = card.std.map((std, node) =>
      node === this.node ? 0 : std === "inf" ? 1 : Math.min(1, std / (scale || 1)),
    );
    card.network.show({ left }, { watched: this.node });
    const others = [...Array(count).keys()].filter((node) => node !== this.node);
    const findings = others.map((node) => ({ node, ...inference(card.std[node], prior) }));
    const known = findings.filter((f) => f.kind === "known").length,
      partly = findings.filter((f) => f.kind === "partly").length;
    card.says.replaceChildren(
      make(
        "b",
        {},
        known === 0
          ? "Knows no value exactly"
          : `Knows ${known} of ${others.length} value${others.length > 1 ? "s" : ""} exactly`,
      ),
      `; ${partly} partly; ${others.length - known - partly} not at all.`,
    );
    card.element.classList.toggle("exposed", known > 0);
    const order = others.length <= LISTED ? others : others.sort((a, b) => left[a] - left[b]).slice(0, LISTED);
    card.list.replaceChildren(
      ...order.map((node) => this.row(card, node, left[node])),
      ...(others.length > LISTED
        ? [make("li", { class: "more" }, `and ${others.length - LISTED} that it knows less about`)]
        : []),
    );
  }

  row(card, node, left) {
    const guess = this.guess(card, node);
    const finding = inference(card.std[node], this.data.prior, guess);
    const bar = make("i", { class: "bar" });
    bar.style.setProperty("--left", left);
    bar.style.setProperty("--colour", exposure(left));
    return make(
      "li",
      { class: finding.kind, "data-node": String(node), "data-std": String(card.std[node]) },
      make("span", { class: "who" }, make("span", { class: "unseen" }, "node "), String(node)),
      bar,
      make("span", { class: "what" }, finding.text),
      make("span", { class: "truth" }, number(this.ready.privateValues[node], 3)),
    );
  }
}
