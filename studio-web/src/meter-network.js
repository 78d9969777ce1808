// The graph in the meter: on every node the density of what the observer believes of it, narrowing as it learns.
import { exposureOf, inkOnExposure } from "./colours.js";
import { Network } from "./network.js";

const MOST_CURVES = 160;

export class MeterNetwork extends Network {
  /** Drawn smaller than elsewhere: the curve needs room. */
  fittingRadius() {
    const radius = super.fittingRadius();
    return this.numNodes <= MOST_CURVES ? Math.min(11, 0.8 * radius) : radius;
  }

  /** @param {number} node */
  drawNode(node) {
    const { pen, picture } = this;
    const [x, y] = this.places[node];
    const kind = picture.kinds[node];
    const colour = exposureOf(kind, picture.left[node]);
    if (this.numNodes <= MOST_CURVES && kind !== "own") this.drawCurve(x, y, picture.left[node], colour);
    pen.fillStyle = colour;
    pen.strokeStyle = this.colours["node-line"];
    pen.lineWidth = 1;
    pen.beginPath();
    pen.arc(x, y, this.radius, 0, 2 * Math.PI);
    pen.fill();
    if (this.radius > 4) pen.stroke();
    if (this.radius < 6.5) return;
    if (kind === "own") this.drawEye(x, y);
    else this.drawName(node, kind === "known" ? "!" : (picture.names?.[node] ?? String(node)), kind);
  }

  drawName(node, text, kind) {
    const { pen } = this;
    pen.fillStyle = inkOnExposure(kind);
    pen.font = `600 ${Math.min(12, this.radius * (text.length > 2 ? 0.75 : 0.95))}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(text, this.places[node][0], this.places[node][1] + 0.5);
  }

  /** A bell as wide as the uncertainty that is left and as high as its area asks, standing on the node. */
  drawCurve(x, y, left, colour) {
    const { pen } = this;
    const share = Math.max(0.02, Math.min(1, left));
    const reach = 2.6 * this.radius,
      wide = reach * share,
      tall = Math.min(3.4 * this.radius, (1.15 * this.radius) / share);
    pen.fillStyle = colour;
    pen.globalAlpha = 0.42;
    pen.beginPath();
    pen.moveTo(x - wide, y);
    pen.bezierCurveTo(x - 0.45 * wide, y, x - 0.4 * wide, y - tall, x, y - tall);
    pen.bezierCurveTo(x + 0.4 * wide, y - tall, x + 0.45 * wide, y, x + wide, y);
    pen.fill();
    pen.globalAlpha = 0.9;
    pen.strokeStyle = colour;
    pen.lineWidth = 1.2;
    pen.stroke();
    pen.globalAlpha = 1;
  }
}
