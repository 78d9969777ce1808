// For graphs too large to draw: how values, and the noise still outstanding, are distributed over the nodes.
import { cleared } from "./canvas.js";
import { themed, viridis } from "./colours.js";
import { number } from "./words.js";

/** Two histograms, one above the other. */
export function drawDistributions(canvas, lane, domain, trueMean) {
  const place = cleared(canvas);
  if (!place) return;
  const { pen, width, height } = place;
  const half = height / 2;
  bars(pen, lane.valueBins, {
    top: 22,
    width,
    bottom: half - 24,
    title: "values of all nodes",
    mark: trueMean,
    colour: (x) => viridis((x - domain[0]) / (domain[1] - domain[0])),
  });
  bars(pen, lane.noiseBins, {
    top: half + 22,
    width,
    bottom: height - 24,
    title: "noise still outstanding",
    mark: 0,
    colour: () => "#e69f00",
  });
}

function bars(pen, bins, { top, width, bottom, title, mark, colour }) {
  const { counts, low, high } = bins;
  const most = Math.max(...counts, 1),
    step = (width - 24) / counts.length;
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = themed("ink");
  pen.textAlign = "left";
  pen.fillText(title, 12, top - 8);
  counts.forEach((count, k) => {
    pen.fillStyle = colour(low + ((k + 0.5) / counts.length) * (high - low));
    const tall = ((bottom - top) * count) / most;
    pen.fillRect(12 + k * step, bottom - tall, Math.max(1, step - 1), tall);
  });
  pen.fillStyle = themed("ink");
  pen.fillRect(12, bottom, width - 24, 1);
  const at = 12 + ((mark - low) / (high - low)) * (width - 24);
  if (at >= 12 && at <= width - 12) pen.fillRect(at - 0.75, top, 1.5, bottom - top + 4);
  pen.fillText(number(low, 2), 12, bottom + 15);
  pen.textAlign = "right";
  pen.fillText(number(high, 2), width - 12, bottom + 15);
}
