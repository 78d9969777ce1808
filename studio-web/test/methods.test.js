// Methods as they stand in an address.
import assert from "node:assert/strict";
import test from "node:test";
import { readMethod } from "../src/methods.js";

test("a method has a name and parameters, or a name only", () => {
  assert.deepEqual(readMethod("standard"), ["standard", {}]);
  assert.deepEqual(readMethod("noise-insertion:noise_std=1,noise_decay=free"), [
    "noise-insertion",
    { noise_std: "1", noise_decay: "free" },
  ]);
  assert.deepEqual(readMethod("odd:a=b=c,,d"), ["odd", { a: "b=c", d: undefined }]);
});
