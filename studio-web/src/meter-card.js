// What an observer learns under one method: the verdict, the graph with its densities, and a strip for each node.
import { exposureOf } from "./colours.js";
import { axisOf, Gauge, Strip } from "./density.js";
import { make } from "./dom.js";
import { deviation, findings, summary } from "./findings.js";
import { MeterNetwork } from "./meter-network.js";
import { number, plusMinus, shortName } from "./words.js";

const LISTED = 40;

/** Said while no words of the server are there for this step. */
const WORDS = {
  known: () => "known exactly",
  undecided: () => "not decided",
  hidden: () => "nothing learned",
  answer: () => "nothing beyond the answer",
  partly: (std) => `known to ± ${number(std, 2)}`,
};

export class MeterCard {
  /**
   * @param {any} lane  of the server's `privacy`
   * @param {any} data  the whole event
   * @param {any} ready  graph and values
   * @param {{baseline: boolean, onPick: Function, onPickEdge: Function}} options
   */
  constructor(lane, data, ready, { baseline, onPick, onPickEdge }) {
    this.lane = lane;
    this.data = data;
    this.ready = ready;
    this.guess = null;
    this.index = 0;
    /** @type {number[]} */
    this.tapped = [];
    this.says = make("p", { class: "verdict" });
    const title = make("h3", {}, baseline ? `${lane.label}, for comparison` : lane.label);
    const note = lane.note ? [make("p", { class: "caption" }, lane.note)] : [];
    this.element = make("article", { class: "card", "data-label": lane.label }, title, this.says, ...note);
    if (lane.std) this.build(onPick, onPickEdge);
    else if (lane.near) this.buildNear();
    else {
      this.element.classList.add("unanalysed");
      this.says.textContent = lane.message ?? "Not analysed.";
    }
  }

  /** A graph too large to follow wholly: what is known about those near the observer. */
  buildNear() {
    this.list = make("ul", { class: "findings near", tabindex: "0", "aria-label": "what is believed of those nearby" });
    this.element.append(this.list);
    this.showNear(this.lane.near);
  }

  showNear({ nodes, kind, words, sentence }) {
    this.says.textContent = sentence;
    this.element.classList.toggle("exposed", kind.includes("known"));
    const rows = nodes.map((node, k) => {
      const dot = make("i", { class: "dot" });
      dot.style.setProperty("--colour", exposureOf(kind[k], 0.5));
      const who = make("span", { class: "who" }, make("span", { class: "unseen" }, "node "), this.name(node));
      return make(
        "li",
        { class: kind[k], "data-node": String(node) },
        who,
        dot,
        make("span", { class: "what" }, words[k]),
      );
    });
    this.list.replaceChildren(...rows);
  }

  build(onPick, onPickEdge) {
    const { ready, data } = this;
    this.gauge = new Gauge();
    this.gauge.element.setAttribute("aria-label", "how much of its uncertainty is left, a dot for each node");
    const label = `what ${data.who ?? "the observer"} believes about each node under ${this.lane.label}`;
    const canvas = make("canvas", { role: "img", "aria-label": label });
    this.list = make("ul", { class: "findings", tabindex: "0", "aria-label": "what is believed, node by node" });
    const head = make(
      "p",
      { class: "findings-head", "aria-hidden": "true" },
      ...["node", "believed", "in words", "truth"].map((text) => make("span", {}, text)),
    );
    this.sums = make("ul", { class: "sums" });
    this.element.append(
      this.gauge.element,
      make(
        "div",
        { class: "pair" },
        make("div", { class: "drawing small" }, canvas, make("div", { class: "tip", hidden: true })),
        make("div", {}, head, this.list, this.sums),
      ),
    );
    this.network = new MeterNetwork(canvas, { label: (node) => this.sentence(node), onPick, onPickEdge });
    this.network.setGraph(ready.graph);
    this.rows = new Map();
  }

  name(node) {
    return this.ready.graph.labels?.[node] ?? String(node);
  }

  sentence(node) {
    const truth = this.ready.valueTexts?.[node] ?? number(this.ready.privateValues[node], 4);
    if (this.now.kinds[node] === "own") return `${this.name(node)}: one of those who look`;
    return `node ${this.name(node)}: ${this.words(node)}; the truth is ${truth}`;
  }

  words(node) {
    const said = this.guess?.words?.[node] ?? this.guess?.text?.[node];
    return said ?? WORDS[this.now.kinds[node]]?.(this.now.std[node]) ?? "";
  }

  /**
   * @param {number} step
   * @param {any} guess  the server's guesses of this method at this very step, or null
   * @param {boolean} ended  whether this is the last step
   */
  show(step, guess, ended) {
    if (this.lane.near) this.showNear(guess?.near ?? this.lane.near);
    if (!this.lane.std) return;
    const now = findings(this.lane, this.data, step, this.ready.graph.numNodes);
    if (guess?.kind) now.kinds = guess.kind;
    const key = `${now.row} ${guess ? "guess" : ""} ${ended}`;
    if (key === this.key) return;
    this.key = key;
    this.now = now;
    this.guess = guess;
    const said = guess?.verdict?.sentence ?? (ended ? this.lane.verdict?.sentence : null) ?? summary(now.kinds);
    this.says.textContent = said;
    this.element.classList.toggle("exposed", now.kinds.includes("known"));
    const share = this.data.answer ? deviation(this.data.answer.std) / (this.data.scale || 1) : null;
    this.gauge.show(now, share);
    this.network.show({ ...now, names: this.ready.graph.labels?.map(shortName) }, this.marks());
    this.showList();
    this.showSums();
  }

  marks() {
    return { watched: this.data.own ?? [], tapped: this.tapped };
  }

  showList() {
    const { kinds, left } = this.now;
    const others = kinds.flatMap((kind, node) => (kind === "own" ? [] : [node]));
    const listed = others.length <= LISTED ? others : others.sort((a, b) => left[a] - left[b]).slice(0, LISTED);
    const rest = others.length - listed.length;
    this.list.replaceChildren(
      ...listed.map((node) => this.row(node)),
      ...(rest ? [make("li", { class: "more" }, `and ${rest} that it knows less about`)] : []),
    );
  }

  /** Rows are made once and changed from then on. */
  row(node) {
    let row = this.rows.get(node);
    if (!row) {
      const truth = this.ready.valueTexts?.[node] ?? number(this.ready.privateValues[node], 3);
      const strip = new Strip(this.axis(), this.beliefs(), this.ready.privateValues[node]);
      const what = make("span", { class: "what" });
      const who = make("span", { class: "who" }, make("span", { class: "unseen" }, "node "), this.name(node));
      const element = make("li", { "data-node": String(node) }, who, strip.element, what);
      element.append(make("span", { class: "truth" }, truth));
      row = { element, strip, what };
      this.rows.set(node, row);
    }
    const std = this.now.std[node],
      kind = this.now.kinds[node];
    row.element.className = kind;
    row.element.dataset.std = String(std === Infinity ? "inf" : std);
    row.what.textContent = this.words(node);
    row.strip.show(this.estimate(node), std, kind, this.now.left[node]);
    return row.element;
  }

  /** Where the curve stands: the guess, if there is one for this step; otherwise what was believed before. */
  estimate(node) {
    const found = this.guess?.estimate?.[node];
    if (typeof found === "number") return found;
    return this.guess ? null : this.beliefs().centre;
  }

  beliefs() {
    const { before, centre, answer } = this.data;
    return {
      before: typeof before === "number" ? before : null,
      centre: typeof centre === "number" ? centre : this.ready.trueMean,
      answer: answer && typeof answer.std === "number" ? { estimate: this.ready.trueMean, ...answer } : null,
    };
  }

  axis() {
    return axisOf(this.beliefs().centre, this.data.scale || 1);
  }

  /** Sums that are known exactly, where no single one of their values is. */
  showSums() {
    const sums = this.guess?.sums ?? [];
    this.sums.replaceChildren(...sums.map(({ words }) => make("li", {}, words)));
  }

  setPositions(positions) {
    this.network?.setPositions(positions);
  }
}

/** "about 0.5 ± 0.3", for the sentence that says what was believed before. */
export function believed(data, ready) {
  if (typeof data.before !== "number") return "Before, nothing at all was known about the others.";
  const centre = typeof data.centre === "number" ? data.centre : ready.trueMean;
  return `Before, each other value was taken to be about ${plusMinus(centre, data.before)}.`;
}
