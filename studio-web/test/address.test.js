// The state in the address: there and back again, and sentences for what cannot be read.
import assert from "node:assert/strict";
import test from "node:test";
import { DEFAULTS, read, write } from "../src/address.js";

test("the default state comes back from its own address", () => {
  const { state, problems } = read(`#${write(DEFAULTS)}`);
  assert.deepEqual(problems, []);
  for (const key of ["graph", "values", "methods", "seed", "steps", "at", "speed", "watch", "prior", "tab"])
    assert.deepEqual(state[key], DEFAULTS[key], key);
});

test("own graphs and values come back digit by digit", () => {
  const mine = structuredClone({
    ...DEFAULTS,
    graph: {
      edges: [
        [0, 1],
        [1, 2],
      ],
      name: "my graph",
    },
    values: [0.1, -2, 1e-9],
    at: 7,
  });
  const { state, problems } = read(write(mine));
  assert.deepEqual(problems, []);
  assert.deepEqual(state.graph.edges, mine.graph.edges);
  assert.deepEqual(state.values, mine.values);
  assert.equal(state.at, 7);
});

test("a part that cannot be read is named, and the rest is kept", () => {
  const { state, problems } = read("#graph=star:5&steps=many&graph=%E0%A4%A");
  assert.equal(state.graph, "star:5");
  assert.equal(problems.length, 2);
  assert.match(problems[0], /steps/);
});

test("names that are no text are named, and the page goes on", () => {
  for (const names of ["%25ED%25A0%2580", "%25_b"]) {
    const { state, problems } = read(`#edges=0-1&names=${names}`);
    assert.equal(problems.length, 1);
    assert.match(problems[0], /names/);
    assert.deepEqual(state.graph.edges, [[0, 1]]);
  }
});
