// Colours stay on their scales.
import assert from "node:assert/strict";
import test from "node:test";
import { exposureOf, viridis } from "../src/colours.js";

test("viridis ends in its own colours, also for shares outside of its range", () => {
  assert.equal(viridis(0), viridis(-3));
  assert.equal(viridis(1), viridis(7));
  assert.notEqual(viridis(0), viridis(1));
});

test("the kind decides the colour, as it decides the words", () => {
  assert.equal(exposureOf("known", 0.9), exposureOf("known", 0));
  assert.equal(exposureOf("hidden", 0.1), exposureOf("hidden", 1));
  assert.notEqual(exposureOf("partly", 0.97), exposureOf("hidden", 0.97));
  assert.notEqual(exposureOf("partly", 0.1), exposureOf("partly", 0.9));
});
