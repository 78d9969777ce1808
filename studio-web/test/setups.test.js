// Set-ups as files.
import assert from "node:assert/strict";
import test from "node:test";
import { stateOf } from "../src/setups.js";

test("a set-up becomes the state of the page; what it does not say is left as at the start", () => {
  const problem = { graph: "cycle:10", values: "uniform", methods: ["standard"], seed: 3, num_steps: 70 };
  const state = stateOf(problem, { at: 5, watch: "but-3" });
  assert.deepEqual(state, {
    graph: "cycle:10",
    values: "uniform",
    methods: ["standard"],
    seed: 3,
    steps: 70,
    at: 5,
    watch: "but-3",
    prior: "",
  });
});
