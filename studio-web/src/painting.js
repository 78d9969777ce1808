// One drawing of the network: nodes coloured by value, halos of noise, the firing edge. Only painting: who points where
// is the business of network.js.
import { quadtree } from "d3-quadtree";
import { inkOn, themed, viridis } from "./colours.js";

const HALO = "230, 159, 0";
const FIRING = "#d55e00";
/** Colours of the style sheet that a drawing needs: read once for each picture, not for each node. */
const THEMED = ["edge", "warn", "card", "line", "ink", "node-line", "accent"];
const SHADES = Array.from({ length: 257 }, (_, k) => viridis(k / 256));

/** Viridis in steps finer than the eye sees, ready made. */
const shade = (share) => SHADES[Math.round(256 * Math.min(1, Math.max(0, share || 0)))];

export class Painting {
  /** @param {any} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.positions = [];
    this.edges = [];
    this.focus = -1;
    /** @type {number[]} */
    this.watched = [];
    /** @type {number[]} */
    this.tapped = [];
    this.fired = [];
    /** @type {Record<string, string>} */
    this.colours = {};
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
  }

  draw() {
    const { pen, picture } = this;
    if (!this.places || !picture || this.places.length !== this.numNodes || !this.width) return;
    this.colours = Object.fromEntries(THEMED.map((name) => [name, themed(name)]));
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
    const key = `${this.width}×${this.height}×${this.colours.edge}`;
    if (!this.lines || this.linesKey !== key) {
      const layer = document.createElement("canvas");
      layer.width = this.canvas.width;
      layer.height = this.canvas.height;
      const pen = layer.getContext("2d");
      pen.scale(this.ratio, this.ratio);
      pen.strokeStyle = this.colours.edge;
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
    pen.strokeStyle = this.colours.warn;
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
    pen.fillStyle = `rgba(${HALO}, 0.32)`;
    pen.strokeStyle = `rgba(${HALO}, 0.9)`;
    pen.lineWidth = 1;
    for (let node = 0; node < this.numNodes; node += 1) {
      const noise = Math.abs(picture.outstanding[node]) / picture.noiseScale;
      if (noise < 0.004) continue;
      const [x, y] = this.places[node];
      pen.beginPath();
      pen.arc(x, y, this.radius * (1 + Math.min(1.9, 1.25 * Math.sqrt(noise))), 0, 2 * Math.PI);
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
    pen.strokeStyle = pen.fillStyle = this.colours.ink;
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
    const colour = picture.values[node] === null ? this.colours.line : shade(share);
    if (picture.down?.has(node)) return this.drawDown(x, y, node);
    pen.fillStyle = colour;
    pen.strokeStyle = this.colours["node-line"];
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
    pen.fillStyle = this.colours.card;
    pen.strokeStyle = this.colours.warn;
    pen.lineWidth = 2;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = this.colours.warn;
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
    for (const node of this.watched) if (node < this.numNodes) ring(node, this.colours.ink, 2.5, 4);
    if (this.focus >= 0 && this.focus < this.numNodes) ring(this.focus, this.colours.accent, 2.5, 7);
  }
}
