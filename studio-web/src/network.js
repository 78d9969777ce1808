// One drawing of the network: nodes coloured by value or by what is known of them, halos of noise, the firing edge.
import { quadtree } from "d3-quadtree";
import { inkOn, themed, viridis } from "./colours.js";
import { number } from "./words.js";

const HALO = "230, 159, 0";
const FIRING = "#d55e00";

export class Network {
  /**
   * `label(node)` describes a node for tooltips and screen readers; `onPick(node)` when one is chosen,
   * `onPickEdge(edge)` when an edge is clicked.
   * @param {any} canvas
   * @param {{label: Function, onPick: Function, onPickEdge?: Function, onFocus?: Function}} tell
   */
  constructor(canvas, { label, onPick, onPickEdge = null, onFocus = null }) {
    this.canvas = canvas;
    this.label = label;
    this.onPick = onPick;
    this.onPickEdge = onPickEdge;
    this.onFocus = onFocus;
    this.pen = canvas.getContext("2d");
    this.positions = [];
    this.edges = [];
    this.focus = -1;
    /** @type {number[]} */
    this.watched = [];
    /** @type {number[]} */
    this.tapped = [];
    this.fired = [];
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
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  setGraph(graph) {
    this.edges = graph.edges;
    this.numNodes = graph.numNodes;
    this.focus = -1;
    this.lines = null;
  }

  setPositions(positions) {
    this.positions = positions;
    this.fit();
    this.draw();
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    if (!width || (this.width === width && this.height === height && this.ratio === ratio)) return;
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.fit();
    this.draw();
  }

  /** Scale positions into the canvas; the picture keeps its proportions. */
  fit() {
    if (!this.width || !this.positions.length) return;
    const xs = this.positions.map((p) => p[0]),
      ys = this.positions.map((p) => p[1]);
    const left = Math.min(...xs),
      right = Math.max(...xs),
      low = Math.min(...ys),
      high = Math.max(...ys);
    const margin = Math.min(46, 0.1 * this.width + 8);
    const scale = Math.min(
      (this.width - 2 * margin) / (right - left || 1),
      (this.height - 2 * margin) / (high - low || 1),
    );
    const x0 = this.width / 2 - (scale * (left + right)) / 2,
      y0 = this.height / 2 + (scale * (low + high)) / 2;
    this.places = this.positions.map(([x, y]) => [x0 + scale * x, y0 - scale * y]);
    this.tree = quadtree(
      this.places.map((_, node) => node),
      (node) => this.places[node][0],
      (node) => this.places[node][1],
    );
    this.radius = this.fittingRadius();
    this.lines = null;
  }

  /** As large as room allows: half the usual distance to the nearest node, within reason. */
  fittingRadius() {
    const roomy = Math.max(2.2, Math.min(15, 0.26 * Math.sqrt((this.width * this.height) / this.numNodes)));
    if (this.numNodes > 400) return Math.min(roomy, 4.5);
    const nearest = this.places.map(([x, y], i) =>
      Math.min(...this.places.map(([px, py], j) => (i === j ? Infinity : (px - x) ** 2 + (py - y) ** 2))),
    );
    nearest.sort((a, b) => a - b);
    return Math.max(Math.min(roomy, 5.5), Math.min(roomy, 0.55 * Math.sqrt(nearest[Math.floor(nearest.length / 3)])));
  }

  /** picture: {values, outstanding, domain: [low, high], noiseScale}; watched: curious nodes; tapped: edges. */
  show(picture, { fired = [], watched = [], tapped = [] } = {}) {
    this.picture = picture;
    this.fired = fired;
    this.watched = watched;
    this.tapped = tapped;
    this.draw();
    this.retell();
  }

  /** What the tooltip says follows the run. */
  retell() {
    const tip = this.canvas.parentElement?.querySelector(".tip");
    if (tip && this.focus >= 0 && this.focus < this.numNodes) tip.textContent = this.label(this.focus);
  }

  draw() {
    const { pen, picture } = this;
    if (!this.places || !picture || this.places.length !== this.numNodes || !this.width) return;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    this.drawEdges();
    if (picture.lost) this.drawLost();
    if (picture.outstanding) this.drawHalos();
    this.drawFiring();
    this.drawTaps();
    for (let node = 0; node < this.numNodes; node += 1) this.drawNode(node);
    this.drawMarks();
  }

  /** Edges do not change: they are drawn once and copied. */
  drawEdges() {
    const key = `${this.width}×${this.height}×${themed("edge")}`;
    if (!this.lines || this.linesKey !== key) {
      const layer = document.createElement("canvas");
      layer.width = this.canvas.width;
      layer.height = this.canvas.height;
      const pen = layer.getContext("2d");
      pen.scale(this.ratio, this.ratio);
      pen.strokeStyle = themed("edge");
      pen.lineWidth = this.edges.length > 1500 ? 0.5 : 1.2;
      pen.globalAlpha = this.edges.length > 1500 ? 0.5 : 1;
      pen.beginPath();
      for (const [i, j] of this.edges) {
        pen.moveTo(this.places[i][0], this.places[i][1]);
        pen.lineTo(this.places[j][0], this.places[j][1]);
      }
      pen.stroke();
      this.lines = layer;
      this.linesKey = key;
    }
    this.pen.drawImage(this.lines, 0, 0, this.width, this.height);
  }

  drawLost() {
    const { pen } = this;
    pen.strokeStyle = themed("warn");
    pen.lineWidth = 2;
    pen.setLineDash([4, 5]);
    for (const edge of this.picture.lost) {
      if (edge < 0) continue;
      pen.beginPath();
      pen.moveTo(...this.places[this.edges[edge][0]]);
      pen.lineTo(...this.places[this.edges[edge][1]]);
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  drawHalos() {
    const { pen, picture } = this;
    for (let node = 0; node < this.numNodes; node += 1) {
      const noise = Math.abs(picture.outstanding[node]) / picture.noiseScale;
      if (noise < 0.004) continue;
      pen.fillStyle = `rgba(${HALO}, 0.32)`;
      pen.strokeStyle = `rgba(${HALO}, 0.9)`;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.arc(...this.places[node], this.radius * (1 + Math.min(1.9, 1.25 * Math.sqrt(noise))), 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
    }
  }

  drawFiring() {
    const { pen } = this;
    const last = this.fired.length - 1;
    const trail = this.numNodes > 150 ? this.fired.length : Math.min(4, this.fired.length);
    for (let k = last - trail + 1; k <= last; k += 1) {
      const [i, j] = this.edges[this.fired[k]];
      pen.globalAlpha = k === last ? 1 : 0.35 * (1 - (last - k) / trail);
      pen.strokeStyle = FIRING;
      pen.lineWidth = k === last ? Math.max(3, this.radius * 0.45) : 2.5;
      pen.lineCap = "round";
      pen.beginPath();
      pen.moveTo(...this.places[i]);
      pen.lineTo(...this.places[j]);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  /** Tapped wires: a dark dashed line and a mark in the middle. */
  drawTaps() {
    const { pen } = this;
    pen.strokeStyle = pen.fillStyle = themed("ink");
    pen.lineWidth = 2.5;
    for (const edge of this.tapped) {
      if (!this.edges[edge]) continue;
      const [[x, y], [u, v]] = this.edges[edge].map((node) => this.places[node]);
      pen.setLineDash([6, 4]);
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(u, v);
      pen.stroke();
      pen.setLineDash([]);
      pen.beginPath();
      pen.arc((x + u) / 2, (y + v) / 2, 4.5, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  drawNode(node) {
    const { pen, picture } = this;
    const [x, y] = this.places[node];
    const [low, high] = picture.domain;
    const share = (picture.values[node] - low) / (high - low);
    const colour = picture.values[node] === null ? themed("line") : viridis(share);
    if (picture.down?.has(node)) return this.drawDown(x, y, node);
    pen.fillStyle = colour;
    pen.strokeStyle = themed("node-line");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.arc(x, y, this.radius, 0, 2 * Math.PI);
    pen.fill();
    if (this.radius > 4) pen.stroke();
    if (this.radius >= 8.5) {
      if (this.watched.includes(node)) return this.drawEye(x, y);
      const text = picture.names?.[node] ?? String(node);
      pen.fillStyle = inkOn(share);
      pen.font = `600 ${Math.min(12, this.radius * (text.length > 2 ? 0.75 : 0.95))}px system-ui, sans-serif`;
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillText(text, x, y + 0.5);
    }
  }

  /** A peer that does not answer. */
  drawDown(x, y, node) {
    const { pen } = this,
      r = this.radius;
    pen.fillStyle = themed("card");
    pen.strokeStyle = themed("warn");
    pen.lineWidth = 2;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = themed("warn");
    pen.font = `600 ${Math.min(12, r * 0.75)}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(this.picture.names?.[node] ?? "✕", x, y + 0.5);
  }

  /** The mark of the curious node. */
  drawEye(x, y) {
    const { pen } = this,
      r = this.radius * 0.68;
    pen.fillStyle = "#fff";
    pen.beginPath();
    pen.moveTo(x - r, y);
    pen.quadraticCurveTo(x, y - 1.2 * r, x + r, y);
    pen.quadraticCurveTo(x, y + 1.2 * r, x - r, y);
    pen.fill();
    pen.fillStyle = "#14161a";
    pen.beginPath();
    pen.arc(x, y, r * 0.38, 0, 2 * Math.PI);
    pen.fill();
  }

  /** Rings around the two ends that just met, the curious node and the one in focus. */
  drawMarks() {
    const ring = (node, colour, width, gap) => {
      this.pen.strokeStyle = colour;
      this.pen.lineWidth = width;
      this.pen.beginPath();
      this.pen.arc(...this.places[node], this.radius + gap, 0, 2 * Math.PI);
      this.pen.stroke();
    };
    const last = this.fired.at(-1);
    if (last !== undefined) for (const node of this.edges[last]) ring(node, FIRING, 2, 1);
    for (const node of this.watched) if (node < this.numNodes) ring(node, themed("ink"), 2.5, 4);
    if (this.focus >= 0 && this.focus < this.numNodes) ring(this.focus, themed("accent"), 2.5, 7);
  }

  // -- picking ---------------------------------------------------------------------------------

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

/** The strip of colours that explains node colours. */
export function drawScale(canvas, low, high, mean) {
  const ratio = devicePixelRatio || 1,
    { width, height } = canvas.getBoundingClientRect();
  if (!width) return;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  for (let x = 0; x < width; x += 1) {
    pen.fillStyle = viridis(x / (width - 1));
    pen.fillRect(x, 0, 1.5, height - 15);
  }
  const at = Math.min(Math.max((mean - low) / (high - low || 1), 0), 1) * width;
  pen.fillStyle = themed("ink");
  pen.font = "11px system-ui, sans-serif";
  pen.fillText(number(low, 2), 0, height - 2);
  pen.textAlign = "right";
  pen.fillText(number(high, 2), width, height - 2);
  pen.textAlign = "center";
  pen.fillText(`true mean ${number(mean)}`, Math.min(Math.max(at, 75), width - 75), height - 2);
  pen.fillRect(at - 1, 0, 2, height - 13);
}
