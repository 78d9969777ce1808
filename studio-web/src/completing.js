// What an older server leaves out of its answers about privacy, filled in from what it says.
import { plusMinus } from "./words.js";

export function completeHistory(message, ready) {
  if (message.observer || !message.lanes) return message;
  const scale = message.prior ?? (ready.spread || 1);
  for (const lane of message.lanes) {
    if (!lane.std) continue;
    const steps = lane.steps ?? message.steps;
    lane.knownFrom = ready.privateValues.map((_, node) => {
      const row = lane.std.findIndex((each) => each[node] !== "inf" && each[node] <= 1e-6 * scale);
      return row < 0 ? null : steps[row];
    });
  }
  const who = `node ${message.node}`;
  return { ...message, observer: { nodes: [message.node] }, own: [message.node], scale, before: message.prior, who };
}

export function completeGuess(message, cards) {
  if (message.observer) return message;
  const lanes = message.lanes.map((estimate, index) => {
    const now = cards.find((card) => card.index === index)?.now;
    if (!estimate || !now) return null;
    const text = estimate.map((guess, node) => (typeof guess === "number" ? plusMinus(guess, now.std[node]) : ""));
    const words = text.map((each, node) => (now.kinds[node] === "partly" ? each : undefined));
    return { estimate, words, kind: now.kinds };
  });
  return { ...message, observer: { nodes: [message.node] }, lanes };
}
