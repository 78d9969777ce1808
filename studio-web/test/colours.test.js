// Colours stay on their scales.
import assert from "node:assert/strict";
import test from "node:test";
import { exposure, viridis } from "../src/colours.js";

test("viridis ends in its own colours, also for shares outside of its range", () => {
  assert.equal(viridis(0), viridis(-3));
  assert.equal(viridis(1), viridis(7));
  assert.notEqual(viridis(0), viridis(1));
});

test("what is known is orange, what is hidden blue", () => {
  assert.equal(exposure(0), "rgb(213, 94, 0)");
  assert.equal(exposure(1), "rgb(11, 92, 148)");
  assert.equal(exposure(0.5), "rgb(227, 220, 203)");
});
