// The privacy meter: what an observer can infer about every private value, beside the same run of standard gossip.
// All numbers, words and verdicts come from the server, which asks sottovoce.privacy.
import { legend } from "./density.js";
import { byId, later, make, notify } from "./dom.js";
import { believed, MeterCard } from "./meter-card.js";
import { MeterForm } from "./meter-form.js";
import { edgeIndex, fits, readObserver, writeObserver } from "./observer.js";

const ASK =
  "Click a node in the drawing to make it curious: it follows the rules, remembers every message it receives, " +
  "and draws the best possible conclusions.";
const CAVEAT = "these are exact statements about this run of this simulation, not a promise for every network";

/** Everyone but one is marked node by node in graphs up to this size. */
const FEW = 12;

export class Meter {
  /**
   * @param {object} page
   * @param {(message: object) => void} page.send  to the server
   * @param {(watch: string | null, prior: string) => void} page.onChange  for the address and the drawings
   * @param {() => {step: number, playing: boolean, numSteps: number}} page.now
   */
  constructor({ send, onChange, now }) {
    this.send = send;
    this.onChange = onChange;
    this.now = now;
    this.ready = null;
    this.observer = null;
    this.data = null;
    this.guesses = null;
    this.cards = [];
    this.positions = [];
    this.form = new MeterForm({
      onObserver: (observer) => this.watch(observer),
      onPrior: () => this.watch(this.observer),
      onWrong: notify,
    });
    this.build();
    this.askGuess = later(350, () => this.requestGuess());
  }

  build() {
    this.says = make("p", { id: "privacy-says", "aria-live": "polite" }, ASK);
    this.answer = make("p", { id: "privacy-answer" });
    this.legend = make("div", {});
    this.box = make("div", { id: "privacy-cards" });
    this.assumptions = make("ul", { id: "assumptions" });
    byId("privacy").replaceChildren(
      make(
        "div",
        { class: "card ask" },
        make("h3", { id: "privacy-title" }, "Privacy meter"),
        this.says,
        this.form.element,
        this.answer,
        this.legend,
      ),
      this.box,
      make("details", { class: "card" }, make("summary", {}, "What this assumes"), this.assumptions),
    );
  }

  /** A new graph or values: the prior starts at the spread of the values. */
  prepare(ready, state) {
    this.ready = ready;
    this.usual = Number((ready.spread || 1).toPrecision(3));
    this.forget();
    this.form.prepare(ready.graph, state.prior, this.usual);
    const wanted = state.watch === null ? undefined : readObserver(String(state.watch));
    this.watch(wanted && fits(wanted, ready.graph) ? wanted : null);
  }

  forget() {
    this.data = null;
    this.guesses = null;
    this.cards = [];
    this.box.replaceChildren();
    this.answer.textContent = "";
    this.legend.replaceChildren();
    this.assumptions.replaceChildren();
  }

  /** @param {import("./observer.js").Observer | null} observer */
  watch(observer) {
    if (!this.ready) return;
    const prior = this.form.priorStd();
    this.observer = observer;
    this.form.show(observer);
    this.forget();
    byId("privacy").classList.toggle("idle", observer === null);
    this.says.textContent = observer ? "Working out what can be inferred …" : ASK;
    this.send({ type: "watch", observer, prior });
    this.onChange(writeObserver(observer), prior === null ? "none" : prior === this.usual ? "" : String(prior));
  }

  pickNode(node) {
    this.form.pickNode(node);
  }

  pickEdge(edge) {
    this.form.pickEdge(edge);
  }

  /** Marks for the drawings of the run: curious nodes and tapped edges. */
  marks() {
    const { observer, ready } = this;
    if (!observer || !ready) return { watched: [], tapped: [] };
    if (observer.edges) {
      return { watched: [], tapped: observer.edges.map((edge) => edgeIndex(ready.graph.edges ?? [], edge)) };
    }
    if (observer.nodes) return { watched: observer.nodes, tapped: [] };
    return { watched: ready.graph.numNodes > FEW ? [] : this.allBut(observer.but), tapped: [] };
  }

  allBut(one) {
    return Array.from({ length: this.ready.graph.numNodes }, (_, node) => node).filter((node) => node !== one);
  }

  concerns(message) {
    return this.observer && writeObserver(message.observer) === writeObserver(this.observer);
  }

  receive(message) {
    if (!this.concerns(message)) return;
    if (!message.lanes) {
      this.forget();
      this.says.textContent = message.message;
      return;
    }
    this.forget();
    this.data = message;
    const what = `What ${message.who} can conclude, at best, from every message that it hears.`;
    this.says.textContent = `${what} ${believed(message, this.ready)}`;
    this.answer.textContent = message.answer?.sentence ?? "";
    this.legend.replaceChildren(legend(typeof message.before !== "number"));
    const texts = [...message.assumptions, CAVEAT];
    this.assumptions.replaceChildren(...texts.map((text) => make("li", {}, text)));
    this.cards = this.shown(message).map(({ lane, baseline, index }) => this.card(lane, baseline, index));
    this.box.replaceChildren(...this.cards.map((card) => card.element));
    this.setPositions(this.positions);
    this.update(this.now().step);
    this.askGuess();
  }

  /** Standard gossip is there to compare with; where it is one of the methods anyway, it is not shown twice. */
  shown({ lanes }) {
    const last = lanes.length - 1;
    const twice = lanes.slice(0, last).some((lane) => lane.label === lanes[last].label);
    return lanes
      .map((lane, index) => ({ lane, index, baseline: index === last }))
      .filter(({ baseline }) => !(baseline && twice));
  }

  card(lane, baseline, index) {
    const card = new MeterCard(lane, this.data, this.ready, {
      baseline,
      onPick: (node) => this.pickNode(node),
      onPickEdge: (edge) => this.pickEdge(edge),
    });
    card.index = index;
    card.tapped = this.marks().tapped;
    return card;
  }

  requestGuess() {
    const { step, playing } = this.now();
    if (playing || !this.data || step < 1) return;
    const { prior, centre } = this.data;
    this.send({ type: "guess", observer: this.observer, prior, centre, step });
  }

  /** The observer's best guesses at one step; they are shown while the run stands there. */
  receiveGuess(message) {
    if (!this.data || !this.concerns(message) || message.prior !== this.data.prior) return;
    this.guesses = message;
    this.update(this.now().step);
  }

  /** Show what is known after `step`. */
  update(step) {
    this.at = step;
    if (!this.data) return;
    const guessed = this.guesses?.step === step ? this.guesses.lanes : null;
    for (const card of this.cards) card.show(step, guessed?.[card.index] ?? null, step >= this.now().numSteps);
  }

  redraw() {
    for (const card of this.cards) card.key = null;
    this.update(this.at);
  }

  setPositions(positions) {
    this.positions = positions;
    for (const card of this.cards) card.setPositions(positions);
  }
}
