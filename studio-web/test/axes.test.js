// Axes: powers of ten around what is drawn, the same for all methods.
import assert from "node:assert/strict";
import test from "node:test";
import { commonDomain, decades } from "../src/axes.js";

test("the axis holds every error, also of long lists, and null counts for nothing", () => {
  const long = Array.from({ length: 300_000 }, (_, k) => 10 ** -(k / 50_000));
  const { bottom, top, splits } = decades([long, [null, 2e-9]]);
  assert.ok(bottom <= 2e-9 && bottom >= 1e-10);
  assert.ok(top >= 1);
  assert.ok(splits.includes(1) || splits.some((x) => x < 1));
});

test("values of all methods share one axis", () => {
  const traces = [
    {
      columns: [
        [0.1, 3],
        [0.4, 0.5],
      ],
    },
    { columns: [[-2, 0.5]] },
  ];
  assert.deepEqual(commonDomain(traces, [0, 1]), [-2, 3]);
  assert.deepEqual(commonDomain([], [0, 1]), [0, 1]);
});
