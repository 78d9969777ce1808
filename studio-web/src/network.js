// A drawing of the network that people point at: tooltips, clicks on nodes and edges, and the keyboard.
import { Painting } from "./painting.js";

export class Network extends Painting {
  /**
   * `label(node)` describes a node for tooltips and screen readers; `onPick(node)` when one is chosen,
   * `onPickEdge(edge)` when an edge is clicked.
   * @param {any} canvas
   * @param {{label: Function, onPick: Function, onPickEdge?: Function, onFocus?: Function}} tell
   */
  constructor(canvas, { label, onPick, onPickEdge = null, onFocus = null }) {
    super(canvas);
    this.label = label;
    this.onPick = onPick;
    this.onPickEdge = onPickEdge;
    this.onFocus = onFocus;
    canvas.tabIndex = 0;
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("click", (event) => {
      const node = this.nodeAt(event);
      if (node >= 0) this.onPick(node);
      else if (this.onPickEdge) this.pickEdge(event);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => {
      if (!canvas.matches(":hover")) this.point(-1);
    });
  }

  show(picture, marks) {
    super.show(picture, marks);
    this.retell();
  }

  /** What the tooltip says follows the run. */
  retell() {
    if (this.focus < 0 || this.focus >= this.numNodes) return;
    const tip = this.canvas.parentElement?.querySelector(".tip");
    if (tip) tip.textContent = this.label(this.focus);
  }

  nodeAt(event) {
    if (!this.places) return -1;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left,
      y = event.clientY - box.top;
    return this.tree.find(x, y, Math.max(this.radius + 4, 14)) ?? -1;
  }

  /** The edge under the pointer, if one is near enough. */
  pickEdge(event) {
    const box = this.canvas.getBoundingClientRect();
    const edge = nearestEdge(this.edges, this.places ?? [], event.clientX - box.left, event.clientY - box.top);
    if (edge >= 0) this.onPickEdge(edge);
  }

  hover(event) {
    const node = this.nodeAt(event);
    this.canvas.style.cursor = node >= 0 ? "pointer" : "default";
    this.point(node);
  }

  point(node) {
    if (node === this.focus) return;
    this.focus = node;
    this.draw();
    const tip = this.canvas.parentElement.querySelector(".tip");
    if (!tip) return;
    tip.hidden = node < 0;
    if (node < 0) return;
    tip.textContent = this.label(node);
    const [x, y] = this.places[node];
    tip.style.left = `${Math.min(Math.max(x, 90), this.width - 90)}px`;
    tip.style.top = `${y + this.radius + 10}px`;
    this.onFocus?.(node, tip.textContent);
  }

  key(event) {
    if (!this.places) return;
    const directions = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in directions) {
      event.preventDefault();
      this.point(this.focus < 0 ? 0 : this.neighbourTowards(directions[event.key]));
    } else if ((event.key === "Enter" || event.key === " ") && this.focus >= 0) {
      event.preventDefault();
      this.onPick(this.focus);
    } else if (event.key === "Escape") this.point(-1);
  }

  /** The nearest node in a direction; if there is none, the focus stays. */
  neighbourTowards([dx, dy]) {
    const [x, y] = this.places[this.focus];
    let best = this.focus,
      cost = Infinity;
    this.places.forEach(([px, py], node) => {
      const along = (px - x) * dx + (py - y) * dy,
        across = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
      if (node !== this.focus && along > 1 && along + 2 * across < cost) {
        best = node;
        cost = along + 2 * across;
      }
    });
    return best;
  }
}

const NEAR = 7;

/**
 * Index of the edge nearest to a point of the drawing, within a few pixels; −1 if there is none.
 * @param {number[][]} edges
 * @param {number[][]} places
 * @param {number} x
 * @param {number} y
 */
export function nearestEdge(edges, places, x, y) {
  let best = -1,
    reach = NEAR ** 2;
  edges.forEach(([i, j], edge) => {
    if (!places[i] || !places[j]) return;
    const [px, py] = places[i],
      [qx, qy] = places[j];
    const long = (qx - px) ** 2 + (qy - py) ** 2 || 1;
    const along = Math.min(1, Math.max(0, ((x - px) * (qx - px) + (y - py) * (qy - py)) / long));
    const distance = (px + along * (qx - px) - x) ** 2 + (py + along * (qy - py) - y) ** 2;
    if (distance < reach) {
      best = edge;
      reach = distance;
    }
  });
  return best;
}
