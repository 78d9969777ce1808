// Densities: narrower means higher, what is known is a single line, and nothing leaves the picture.
import assert from "node:assert/strict";
import test from "node:test";
import { axisOf, curve, TALL, WIDE } from "../src/density.js";

const points = (path) => path.match(/-?[\d.]+,-?[\d.]+/g).map((pair) => pair.split(",").map(Number));
const highest = (path) => Math.min(...points(path).map(([, y]) => y));

test("the axis reaches equally far to both sides of what was believed", () => {
  const { low, high } = axisOf(293, 0.5);
  assert.equal((low + high) / 2, 293);
  assert.ok(high - 293 > 3 * 0.5);
});

test("a narrower belief is a higher curve, and both stay inside", () => {
  const axis = axisOf(0, 1);
  const wide = curve(0, 1, axis),
    narrow = curve(0.5, 0.4, axis);
  assert.ok(highest(narrow) < highest(wide));
  for (const [x, y] of [...points(wide), ...points(narrow)]) {
    assert.ok(x >= 0 && x <= WIDE, `x ${x}`);
    assert.ok(y >= 0 && y <= TALL, `y ${y}`);
  }
});

test("what is known is a line of full height at the value, however small the scale", () => {
  for (const scale of [1, 1e-9, 1e9]) {
    const path = curve(0, 0, axisOf(0, scale));
    assert.ok(path.startsWith(`M${(WIDE / 2 - 1.2).toFixed(1)},${TALL}V1`), path);
  }
});
