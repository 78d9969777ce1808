// What a decay costs, between the decays for which the server says it.
import assert from "node:assert/strict";
import test from "node:test";
import { costAt } from "../src/decay.js";

const COSTS = [
  { decay: 0.5, ratio: 1 },
  { decay: 0.9, ratio: 2 },
  { decay: 0.99, ratio: 8 },
];

test("where the server says it, its number is taken", () => {
  for (const { decay, ratio } of COSTS) assert.equal(costAt(COSTS, decay), ratio);
});

test("between two, it lies between theirs", () => {
  const cost = costAt(COSTS, 0.95);
  assert.ok(cost > 2 && cost < 8);
});

test("below the first it is the first, beyond the last nothing is said", () => {
  assert.equal(costAt(COSTS, 0.1), 1);
  assert.equal(costAt(COSTS, 0.999), null);
  assert.equal(costAt([], 0.9), null);
});
