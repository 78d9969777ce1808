// Observers in the address, and what clicks make of them.
import assert from "node:assert/strict";
import test from "node:test";
import { fits, kindOf, readObserver, withEdge, withNode, writeObserver } from "../src/observer.js";

test("every observer comes back from its words", () => {
  for (const observer of [
    { nodes: [3] },
    { nodes: [0, 5, 11] },
    { but: 2 },
    {
      edges: [
        [0, 1],
        [4, 2],
      ],
    },
  ])
    assert.deepEqual(readObserver(writeObserver(observer)), observer);
  assert.equal(writeObserver(null), null);
});

test("what says no observer is refused", () => {
  for (const text of ["", "x", "-1", "1,,2", "but-", "but-1,2", "wire-1", "wire-1-2-3", "wire-a-b", "1e3"])
    assert.equal(readObserver(text), undefined, text);
});

test("clicks choose one node, gather several, or the one that is looked at", () => {
  assert.deepEqual(withNode(null, "node", 4), { nodes: [4] });
  assert.deepEqual(withNode({ nodes: [4] }, "node", 5), { nodes: [5] });
  assert.equal(withNode({ nodes: [4] }, "node", 4), null);
  assert.deepEqual(withNode({ nodes: [4] }, "nodes", 1), { nodes: [1, 4] });
  assert.deepEqual(withNode({ nodes: [1, 4] }, "nodes", 4), { nodes: [1] });
  assert.deepEqual(withNode({ nodes: [1, 4] }, "but", 4), { but: 4 });
  assert.equal(withNode({ but: 4 }, "but", 4), null);
});

test("an edge is tapped once, whichever end is named first", () => {
  assert.deepEqual(withEdge(null, [0, 1]), { edges: [[0, 1]] });
  assert.equal(withEdge({ edges: [[0, 1]] }, [1, 0]), null);
});

test("an observer must be on the graph", () => {
  const graph = {
    numNodes: 3,
    edges: [
      [0, 1],
      [1, 2],
    ],
  };
  assert.ok(fits({ nodes: [2] }, graph));
  assert.ok(!fits({ nodes: [3] }, graph));
  assert.ok(fits({ edges: [[2, 1]] }, graph));
  assert.ok(!fits({ edges: [[0, 2]] }, graph));
  assert.equal(kindOf({ but: 1 }), "but");
});
