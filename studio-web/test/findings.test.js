// Kinds while a run is under way: they follow the report's own history.
import assert from "node:assert/strict";
import test from "node:test";
import { findings, lastBefore, summary } from "../src/findings.js";

const DATA = { steps: [2, 5], own: [0], before: 1, scale: 1, answer: { std: 0.9 } };
const LANE = {
  label: "x",
  std: [
    [0, 1, 0.95, 0.5],
    [0, 0, 0.9, 0.5],
  ],
  knownFrom: [0, 5, null, null],
};

test("before the first message everything is hidden", () => {
  const { kinds, std } = findings(LANE, DATA, 1, 4);
  assert.deepEqual(kinds, ["own", "hidden", "hidden", "hidden"]);
  assert.deepEqual(std, [1, 1, 1, 1]);
});

test("known is what the report says, from that step on, whatever the size of a deviation", () => {
  assert.deepEqual(findings(LANE, DATA, 4, 4).kinds, ["own", "hidden", "answer", "partly"]);
  assert.deepEqual(findings(LANE, DATA, 5, 4).kinds, ["own", "known", "answer", "partly"]);
  const tiny = { ...LANE, std: [[0, 1e-12, 1e-12, 1e-12]], knownFrom: [0, null, null, null], steps: [2] };
  assert.ok(!findings(tiny, DATA, 9, 4).kinds.includes("known"));
});

test("with a flat prior an infinite deviation is hidden, a finite one is not", () => {
  const flat = { ...DATA, before: null, answer: null };
  const lane = { ...LANE, std: [[0, "inf", 3, 0.1]], steps: [1], knownFrom: [] };
  assert.deepEqual(findings(lane, flat, 1, 4).kinds, ["own", "hidden", "partly", "partly"]);
});

test("the last row not after a step", () => {
  assert.equal(lastBefore([2, 5, 9], 1), -1);
  assert.equal(lastBefore([2, 5, 9], 5), 1);
  assert.equal(lastBefore([2, 5, 9], 100), 2);
});

test("the sentence counts each value once", () => {
  assert.equal(
    summary(["own", "known", "partly", "hidden", "answer"]),
    "1 of 4 values known exactly; 1 partly; 2 not beyond the answer.",
  );
  assert.equal(summary(["own", "hidden"]), "No value is known exactly; nothing is known beyond the answer.");
  assert.equal(summary(["own", "known"]), "1 of 1 value known exactly.");
});
