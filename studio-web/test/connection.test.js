// Binary frames: what the server packs is what the page reads.
import assert from "node:assert/strict";
import test from "node:test";
import { unpack } from "../src/connection.js";

test("pairs of index and length become arrays, nested ones too", () => {
  const header = { type: "frame", lanes: [{ values: [0, 3], bins: { counts: [1, 2], low: 0.5 }, error: 2 }] };
  const head = new TextEncoder().encode(JSON.stringify(header).padEnd(132));
  assert.equal((4 + head.length) % 8, 0);
  const buffer = new ArrayBuffer(4 + head.length + 40);
  new DataView(buffer).setUint32(0, head.length, true);
  new Uint8Array(buffer, 4).set(head);
  new Float64Array(buffer, 4 + head.length).set([1, 2, 3, 10, 20]);
  const [lane] = unpack(buffer).lanes;
  assert.deepEqual([...lane.values], [1, 2, 3]);
  assert.deepEqual([...lane.bins.counts], [10, 20]);
  assert.equal(lane.error, 2);
});
