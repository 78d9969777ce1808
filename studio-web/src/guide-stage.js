// The guide's picture: a ring of nodes that scenes rearrange. It moves by style, so that the style sheet decides
// how, and people who want no motion get none.

const NAMESPACE = "http://www.w3.org/2000/svg";
export const SIZE = 600;
const CENTRE = SIZE / 2;
const RING = 218;
export const RADIUS = 36;
/** Stands where a number is not shown. */
export const HIDDEN = "• • •";

/** svg("line", {x1: 0}, child) */
export function svg(tag, attributes = {}, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS(NAMESPACE, tag));
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** Words in the picture. */
export function words(x, y, text, attributes = {}) {
  return svg("text", { x, y, ...attributes }, text);
}

/** A number with a fixed count of decimals and a real minus sign. */
export function fixed(value, digits = 2) {
  return value
    .toFixed(digits)
    .replace("-", "−")
    .replace(/^−(0\.?0*)$/, "$1");
}

/** The same with its sign. */
export function signed(value, digits = 2) {
  const text = fixed(value, digits);
  return text.startsWith("−") ? text : `+${text}`;
}

/** The mark of the curious one; seen only on it. */
function eye() {
  const lids = svg("path", { d: "M-19 0Q0 -20 19 0Q0 20 -19 0Z" });
  return svg("g", { class: "eye" }, lids, svg("circle", { r: 6.5 }));
}

export class Stage {
  /**
   * @param {SVGElement} element
   * @param {{graph: {numNodes: number, edges: number[][]}, you: number}} story
   */
  constructor(element, { graph, you }) {
    this.element = element;
    this.graph = graph;
    this.you = you;
    this.lines = svg("g", { class: "lines" });
    this.behind = svg("g", { class: "behind" });
    this.front = svg("g", { class: "front" });
    this.nodes = Array.from({ length: graph.numNodes }, (_, node) => this.newNode(node));
    this.edges = graph.edges.map(([i, j]) => this.newEdge(i, j));
    this.lines.append(...this.edges);
    element.setAttribute("viewBox", `0 0 ${SIZE} ${SIZE}`);
    element.replaceChildren(this.lines, this.behind, ...this.nodes.map((node) => node.group), this.front);
    this.ring();
  }

  newNode(node) {
    const group = svg("g", { class: node === this.you ? "node you" : "node" });
    const halo = svg("circle", { class: "halo", r: RADIUS });
    const text = words(0, 0, "");
    const label = words(0, -RADIUS - 12, "", { class: "name" });
    group.append(halo, svg("circle", { class: "disc", r: RADIUS }), text, label, eye());
    return { group, halo, text, label };
  }

  newEdge(i, j) {
    const [x1, y1] = this.spot(i);
    const [x2, y2] = this.spot(j);
    return svg("line", { x1, y1, x2, y2 });
  }

  /** Where a node stands on the ring; you are at the top. */
  spot(node) {
    const angle = (2 * Math.PI * (node - this.you)) / this.graph.numNodes - Math.PI / 2;
    return [CENTRE + RING * Math.cos(angle), CENTRE + RING * Math.sin(angle)];
  }

  /** Everybody at home, nothing else in the picture. */
  ring() {
    this.clear();
    this.lines.style.opacity = "1";
    this.edges.forEach((edge) => edge.classList.remove("talking"));
    this.nodes.forEach((node, k) => {
      const [x, y] = this.spot(k);
      this.place(k, x, y);
      this.halo(k, 0);
      this.name(k, k === this.you ? "you" : "");
      node.group.classList.remove("curious", "exposed", "hidden");
    });
  }

  clear() {
    this.behind.replaceChildren();
    this.front.replaceChildren();
  }

  place(node, x, y, { scale = 1, opacity = 1 } = {}) {
    const { style } = this.nodes[node].group;
    style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    style.opacity = String(opacity);
  }

  /** All but these step back. */
  fade(kept, opacity) {
    this.nodes.forEach(({ group }, k) => {
      if (!kept.includes(k)) group.style.opacity = String(opacity);
    });
  }

  hold(node, text) {
    const { text: element } = this.nodes[node];
    if (element.textContent === text) return;
    element.textContent = text;
    element.classList.toggle("long", text.length > 5 && text !== HIDDEN);
  }

  /** A name above a node; `above` that many radii, where a halo needs room. */
  name(node, text, above = 1.35) {
    this.nodes[node].label.textContent = text;
    this.nodes[node].label.setAttribute("y", String(-above * RADIUS));
  }

  mark(node, name, on = true) {
    this.nodes[node].group.classList.toggle(name, on);
  }

  /** Noise of this size: the halo's area grows with it. */
  halo(node, noise) {
    this.nodes[node].halo.style.transform = `scale(${1 + Math.min(0.95, 0.62 * Math.sqrt(Math.abs(noise)))})`;
    this.nodes[node].halo.style.opacity = Math.abs(noise) < 0.004 ? "0" : "1";
  }

  talk(edge) {
    this.edges.forEach((line, k) => line.classList.toggle("talking", k === edge));
  }

  /** Values and noise of all nodes at one moment of a run. */
  show({ values, outstanding, fired }, digits = 2) {
    values.forEach((value, node) => {
      this.hold(node, fixed(value, digits));
      this.halo(node, outstanding[node]);
    });
    this.talk(fired);
  }
}
