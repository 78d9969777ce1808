// The question that the meter answers: who looks, and what did it know before.
import { byId, make } from "./dom.js";
import { fits, kindOf, withEdge, withNode } from "./observer.js";

const OFFERED = [
  { kind: "node", text: "one node", field: "which", hint: "click a node, or type its number" },
  { kind: "nodes", text: "several nodes together", field: "which", hint: "click nodes, or type their numbers" },
  { kind: "but", text: "everyone but one", field: "the one", hint: "click the node that all others look at" },
  { kind: "wire", text: "a tapped wire", field: "wires", hint: "click edges, or type them: 0-1 1-2" },
];

/** @typedef {import("./observer.js").Observer} Observer */

export class MeterForm {
  /**
   * @param {object} tell
   * @param {(observer: Observer | null) => void} tell.onObserver
   * @param {() => void} tell.onPrior
   * @param {(text: string) => void} tell.onWrong
   */
  constructor({ onObserver, onPrior, onWrong }) {
    this.onObserver = onObserver;
    this.onWrong = onWrong;
    this.kind = "node";
    /** @type {Observer | null} */
    this.observer = null;
    this.radios = OFFERED.map(({ kind }) =>
      make("input", { type: "radio", name: "watch-kind", value: kind, onchange: () => this.chooseKind(kind) }),
    );
    this.field = make("span", {});
    this.input = make("input", { type: "text", id: "watch-node", spellcheck: "false", autocomplete: "off" });
    this.input.addEventListener("change", () => this.typed());
    this.prior = make("input", { type: "number", id: "watch-prior", min: "0", step: "any", onchange: onPrior });
    this.flat = make("input", { type: "checkbox", id: "watch-flat", onchange: onPrior });
    this.stop = make("button", { type: "button", id: "watch-stop", hidden: true }, "Let go");
    this.stop.addEventListener("click", () => onObserver(null));
    const choices = OFFERED.map(({ text }, k) => make("label", {}, this.radios[k], make("span", {}, text)));
    this.element = make(
      "div",
      { class: "watch-form" },
      make("fieldset", { class: "choice" }, make("legend", { class: "unseen" }, "who is curious"), ...choices),
      make(
        "div",
        { class: "row wrap" },
        make("label", {}, this.field, this.input),
        make("label", {}, make("span", {}, "before, it knew each value to ±"), this.prior),
        make("label", { class: "check" }, this.flat, make("span", {}, "or nothing at all")),
        this.stop,
      ),
    );
    this.show(null);
  }

  /** @param {{numNodes: number, edges: number[][], labels?: string[] | null}} graph */
  prepare(graph, prior, usual) {
    this.graph = graph;
    this.flat.checked = prior === "none";
    this.prior.disabled = this.flat.checked;
    this.prior.value = prior && prior !== "none" ? prior : usual;
  }

  /** The deviation that is assumed before, or null for none at all. */
  priorStd() {
    this.prior.disabled = this.flat.checked;
    return this.flat.checked ? null : Number(this.prior.value);
  }

  /** @param {Observer | null} observer */
  show(observer) {
    this.observer = observer;
    if (observer && !(this.kind === "nodes" && observer.nodes)) this.kind = kindOf(observer);
    this.radios.forEach((radio, k) => (radio.checked = OFFERED[k].kind === this.kind));
    const { field, hint } = OFFERED.find(({ kind }) => kind === this.kind);
    this.field.textContent = field;
    this.input.placeholder = this.input.title = hint;
    this.input.value = this.words(observer);
    this.stop.hidden = observer === null;
  }

  words(observer) {
    if (!observer) return "";
    const name = (node) => this.graph?.labels?.[node] ?? String(node);
    if (observer.edges) return observer.edges.map((edge) => edge.map(name).join("-")).join(" ");
    return (observer.nodes ?? [observer.but]).map(name).join(" ");
  }

  chooseKind(kind) {
    const [node] = this.observer?.nodes ?? [this.observer?.but];
    this.kind = kind;
    this.observer = null;
    if (kind === "wire" || node === undefined) this.onObserver(null);
    else this.onObserver(kind === "but" ? { but: node } : { nodes: [node] });
    this.show(this.observer);
    byId("watch-node").focus();
  }

  /** Numbers or names of nodes; for wires two with a hyphen between them. */
  typed() {
    const words = this.input.value.split(/[\s,;]+/).filter(Boolean);
    if (!words.length) return this.onObserver(null);
    const nodes =
      this.kind === "wire" ? words.flatMap((word) => this.ends(word)) : words.map((word) => this.node(word));
    if (nodes.includes(-1)) return this.onWrong(`there is no such ${this.kind === "wire" ? "edge" : "node"} here`);
    if (this.kind === "wire") {
      const edges = words.map((_, k) => nodes.slice(2 * k, 2 * k + 2));
      if (!edges.every((edge) => fits({ edges: [edge] }, this.graph)))
        return this.onWrong("there is no such edge here");
      return this.onObserver({ edges });
    }
    return this.onObserver(
      this.kind === "but" ? { but: nodes[0] } : { nodes: this.kind === "node" ? [nodes[0]] : nodes },
    );
  }

  node(word) {
    const named = this.graph.labels?.indexOf(word) ?? -1;
    if (named >= 0) return named;
    return /^\d+$/.test(word) && Number(word) < this.graph.numNodes ? Number(word) : -1;
  }

  /** "0-1"; names may have hyphens themselves. */
  ends(word) {
    const parts = word.split("-");
    for (let cut = 1; cut < parts.length; cut += 1) {
      const pair = [parts.slice(0, cut).join("-"), parts.slice(cut).join("-")].map((part) => this.node(part));
      if (!pair.includes(-1)) return pair;
    }
    return [-1, -1];
  }

  pickNode(node) {
    if (this.kind === "wire") this.kind = "node";
    this.onObserver(withNode(this.observer, this.kind, node));
  }

  /** An edge is clicked in a drawing: only while wires are asked for, so that nobody taps one by mistake. */
  pickEdge(edge) {
    if (this.kind === "wire") this.onObserver(withEdge(this.observer, this.graph.edges[edge]));
  }
}
