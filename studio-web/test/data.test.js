// One's own data: sizes without large calls, and the sentence of the preview.
import assert from "node:assert/strict";
import test from "node:test";
import { inWords, largestEnd } from "../src/data.js";

test("the largest end of 300 000 edges is found", () => {
  const edges = Array.from({ length: 300_000 }, (_, k) => [k, k + 1]);
  assert.equal(largestEnd(edges), 300_000);
  assert.equal(largestEnd([]), -1);
});

test("the preview is said in words", () => {
  const preview = { delimiter: ";", decimal: ",", header: true, numRows: 1234, rows: [] };
  assert.equal(
    inWords("mine.csv", preview),
    "mine.csv: 1,234 rows, semicolons between columns, decimal comma, the first line names the columns.",
  );
  assert.equal(inWords("x", { delimiter: null, decimal: ".", header: false, numRows: 1 }), "x: 1 row, decimal point.");
});
