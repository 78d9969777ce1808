// What is known at a step, from the history that the server sent. Words and verdicts are the server's; here only the
// kind is looked up, so that colours are right while a run is under way and no guess has been asked for.

/**
 * One method of the server's `privacy` event.
 * @typedef {object} Lane
 * @property {string} label
 * @property {boolean} [analysed]
 * @property {(number | "inf" | null)[][]} [std]
 * @property {number[]} [steps]
 * @property {(number | null)[]} [knownFrom]
 * @property {number[]} [undecided]
 */

const UNMOVED = 0.995;
const ONLY_ANSWER = 0.99;

/** Index of the last entry of a sorted list that is not above `step`; −1 if there is none. */
export function lastBefore(steps, step) {
  let row = -1;
  for (let low = 0, high = steps.length - 1; low <= high;) {
    const middle = (low + high) >> 1;
    if (steps[middle] <= step) {
      row = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  return row;
}

export const deviation = (std) => (typeof std === "number" ? std : Infinity);

/**
 * Deviations, shares of the uncertainty left, and kinds of all nodes after a step.
 * @param {Lane} lane
 * @param {{steps: number[], own: number[], before: number | null, scale: number, answer: {std: number} | null}} data
 * @param {number} step
 * @param {number} count
 */
export function findings(lane, data, step, count) {
  const row = lastBefore(lane.steps ?? data.steps, step);
  const before = deviation(data.before);
  const std = row < 0 ? Array(count).fill(before) : lane.std[row].map(deviation);
  const own = new Set(data.own),
    undecided = new Set(lane.undecided ?? []);
  const answer = deviation(data.answer?.std);
  const kinds = std.map((each, node) => {
    if (own.has(node)) return "own";
    const from = lane.knownFrom?.[node] ?? null;
    if (from !== null && step >= from) return "known";
    if (undecided.has(node) && row >= 0 && each < UNMOVED * before) return "undecided";
    if (each === Infinity || each >= UNMOVED * before) return "hidden";
    return each >= ONLY_ANSWER * answer ? "answer" : "partly";
  });
  const left = std.map((each, node) => (own.has(node) ? 0 : Math.min(1, each / (data.scale || 1))));
  return { row, std, kinds, left };
}

/** How many of each kind, in a sentence; the observer's own are not counted. */
export function summary(kinds) {
  const others = kinds.filter((kind) => kind !== "own");
  const count = (...names) => others.filter((kind) => names.includes(kind)).length;
  const known = count("known"),
    partly = count("partly", "undecided");
  const values = others.length === 1 ? "value" : "values";
  const first = known === 0 ? "No value is known exactly" : `${known} of ${others.length} ${values} known exactly`;
  if (known === others.length) return `${first}.`;
  if (partly === 0) return `${first}; nothing is known beyond the answer.`;
  return `${first}; ${partly} partly; ${others.length - known - partly} not beyond the answer.`;
}
