// Clicking an edge: the nearest one within a few pixels.
import assert from "node:assert/strict";
import test from "node:test";
import { nearestEdge } from "../src/network.js";

const PLACES = [
  [0, 0],
  [100, 0],
  [100, 100],
];
const EDGES = [
  [0, 1],
  [1, 2],
];

test("the nearest edge is found, beside it and not beyond its ends", () => {
  assert.equal(nearestEdge(EDGES, PLACES, 50, 5), 0);
  assert.equal(nearestEdge(EDGES, PLACES, 96, 50), 1);
  assert.equal(nearestEdge(EDGES, PLACES, -20, 0), -1);
  assert.equal(nearestEdge(EDGES, PLACES, 50, 50), -1);
});
