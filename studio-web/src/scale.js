// The strip of colours that explains the colours of nodes.
import { cleared } from "./canvas.js";
import { themed, viridis } from "./colours.js";
import { number } from "./words.js";

/** From the lowest value to the highest, with the true mean. */
export function drawScale(canvas, low, high, mean) {
  const place = cleared(canvas);
  if (!place) return;
  const { pen, width, height } = place;
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
  pen.fillText(`true mean ${number(mean)}`, Math.min(Math.max(at, 98), width - 98), height - 2);
  pen.fillRect(at - 1, 0, 2, height - 13);
}
