// Small plots inside the guide's picture: what somebody believes as a bell curve, errors on a logarithmic axis, noise.
import { fixed, svg, words } from "./guide-stage.js";

/** The numbers that are drawn: secrets are between 0 and 1, beliefs reach a little further. */
const LOW = -0.4;
const HIGH = 1.4;

/** The bell of a belief as a path; a certain one is a single line. */
function bell({ mean, std }, x, height, base) {
  if (std < 1e-9) return `M${x(mean)} ${base}V${base - height}`;
  const points = [];
  for (let value = LOW; value <= HIGH + 1e-9; value += 0.02) {
    const tall = height * Math.exp(-0.5 * ((value - mean) / std) ** 2);
    points.push(`${x(value).toFixed(1)} ${(base - tall).toFixed(1)}`);
  }
  return `M${points.join("L")}`;
}

/**
 * Beliefs about one number, one above the other. Heights follow the densities, up to what fits.
 *
 * @param {{before: object, beliefs: {mean: number, std: number, kind: string}[], truth: number}} given
 */
export function beliefs({ before, beliefs: list, truth }) {
  const left = 136;
  const right = 464;
  const base = 360;
  const x = (value) => left + ((value - LOW) / (HIGH - LOW)) * (right - left);
  const unit = 78;
  const height = ({ std }) => (std < 1e-9 ? 150 : Math.min(150, (unit * before.std) / std));
  const group = svg("g", { class: "beliefs" });
  group.append(svg("line", { class: "axis", x1: left, x2: right, y1: base, y2: base }));
  for (const tick of [0, 0.5, 1]) group.append(words(x(tick), base + 20, fixed(tick, 1), { class: "tick" }));
  group.append(svg("line", { class: "truth", x1: x(truth), x2: x(truth), y1: base, y2: base + 8 }));
  group.append(words(x(truth), base + 38, `the truth: ${fixed(truth, 3)}`, { class: "tick strong" }));
  group.append(svg("path", { class: "bell before", d: bell(before, x, height(before), base) }));
  for (const belief of list) {
    group.append(svg("path", { class: `bell ${belief.kind}`, d: bell(belief, x, height(belief), base) }));
  }
  return group;
}

/** Noise makes the error larger at first: the axis begins at ten. */
const FIRST = -1;
const WIDE = { left: 84, right: 560, top: 70, bottom: 440 };

/**
 * Expected error against steps on a logarithmic axis, for standard gossip and for the chosen decay.
 *
 * @param {{standard: object, chosen: object, accuracy: number, longest: number}} given
 */
export function errors({ standard, chosen, accuracy, longest }) {
  const { left, right, top, bottom } = WIDE;
  const last = -Math.log10(accuracy) + 2;
  const decade = (bottom - top) / (last - FIRST);
  const x = (step) => left + (step / longest) * (right - left);
  const y = (error) => top + (Math.min(last, -Math.log10(Math.max(error, 1e-300))) - FIRST) * decade;
  const path = ({ steps, errors: list }) => {
    const points = [];
    for (let k = 0; k < steps.length && steps[k] <= longest; k += 1) {
      points.push(`${x(steps[k]).toFixed(1)} ${y(list[k]).toFixed(1)}`);
      if (-Math.log10(list[k]) > last) break;
    }
    return `M${points.join("L")}`;
  };
  const group = svg("g", { class: "errors" });
  for (let power = 0; power <= last; power += 2) {
    const level = y(10 ** -power);
    group.append(svg("line", { class: "grid", x1: left, x2: right, y1: level, y2: level }));
    group.append(words(left - 10, level + 5, power ? `10${superscript(-power)}` : "1", { class: "tick end" }));
  }
  for (let step = 0; step <= longest; step += 400) {
    group.append(words(x(step), bottom + 24, String(step), { class: "tick" }));
  }
  group.append(words((left + right) / 2, bottom + 52, "steps", { class: "tick" }));
  group.append(words(left - 44, top - 14, "expected error, relative to the start", { class: "tick start" }));
  group.append(svg("line", { class: "goal", x1: left, x2: right, y1: y(accuracy), y2: y(accuracy) }));
  group.append(words(right, y(accuracy) - 8, "a millionth", { class: "tick end" }));
  group.append(svg("path", { class: "curve plain", d: path(standard) }));
  group.append(svg("path", { class: "curve chosen", d: path(chosen) }));
  for (const [kind, { reached }] of Object.entries({ plain: standard, chosen })) {
    if (reached && reached <= longest) {
      group.append(svg("circle", { class: `arrival ${kind}`, cx: x(reached), cy: y(accuracy), r: 6 }));
    }
  }
  return group;
}

function superscript(power) {
  return [...String(power)].map((digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)]).join("");
}

/** Your noise, exchange by exchange, up to one of them. */
export function noise(amounts, shown, decay) {
  const left = 150;
  const right = 450;
  const middle = 320;
  const scale = 34;
  const x = (k) => left + ((k + 0.5) / amounts.length) * (right - left);
  const group = svg("g", { class: "noise" });
  const edge = (sign) => amounts.map((_, k) => `${x(k)} ${middle - sign * 2 * scale * decay ** k}`).join("L");
  group.append(svg("path", { class: "envelope", d: `M${edge(1)}L${edge(-1).split("L").reverse().join("L")}Z` }));
  group.append(svg("line", { class: "axis", x1: left, x2: right, y1: middle, y2: middle }));
  amounts.slice(0, shown).forEach((amount, k) => {
    const kind = k === shown - 1 ? "amount now" : "amount back";
    const tall = Math.max(1.5, Math.abs(amount) * scale);
    group.append(
      svg("rect", { class: kind, x: x(k) - 4, width: 8, y: amount > 0 ? middle - tall : middle, height: tall, rx: 2 }),
    );
  });
  return group;
}

/** Horizontal bars with a name and a ± each. */
export function uncertainties(rows, longest) {
  const left = 150;
  const width = 300;
  const group = svg("g", { class: "uncertainties" });
  rows.forEach(({ name, std, kind }, k) => {
    const top = 218 + 52 * k;
    group.append(words(left, top, name, { class: "tick start" }));
    group.append(svg("rect", { class: "room", x: left, y: top + 8, width, height: 12, rx: 6 }));
    group.append(
      svg("rect", { class: `left ${kind}`, x: left, y: top + 8, width: (width * std) / longest, height: 12, rx: 6 }),
    );
    group.append(words(left + width, top, `± ${fixed(std)}`, { class: "tick end strong" }));
  });
  return group;
}
