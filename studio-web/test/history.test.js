// The live view's memory.
import assert from "node:assert/strict";
import test from "node:test";
import { History } from "../src/live-history.js";

const peers = (...estimates) => estimates.map((x) => ({ up: x !== null, estimate: x === null ? null : [x] }));

test("each moment is kept once, and the range covers all estimates", () => {
  const history = new History();
  history.clear(["a", "b"]);
  history.add(1, peers(3, null));
  history.add(1, peers(4, null));
  history.add(2, peers(3, 5));
  assert.deepEqual(history.times, [1, 2]);
  assert.deepEqual(history.rows, [
    [3, null],
    [3, 5],
  ]);
  assert.deepEqual(history.up[0], [true, false]);
  const [low, high] = history.domain();
  assert.ok(low < 3 && high > 5);
});

test("what the server has seen comes first, and what came since is kept behind it", () => {
  const history = new History();
  history.clear(["a"]);
  history.add(9, peers(1));
  history.add(11, peers(2));
  history.take({ times: [0, 5, 9], names: ["a"], estimates: [[null], [7], [1]] });
  assert.deepEqual(history.times, [0, 5, 9, 11]);
  assert.deepEqual(history.up[0], [false]);
});

test("without an estimate the range is from 0 to 1", () => {
  assert.deepEqual(new History().domain(), [0, 1]);
});
