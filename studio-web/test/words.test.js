// Numbers as people read them.
import assert from "node:assert/strict";
import test from "node:test";
import { belowOne, decimals, number, plusMinus, shortName } from "../src/words.js";

test("a number has so many significant digits, and no zeros that say nothing", () => {
  assert.equal(number(0.46321), "0.463");
  assert.equal(number(12), "12");
  assert.equal(number(-2.5), "−2.5");
  assert.equal(number(0), "0");
  assert.equal(number(123456), "123000");
});

test("very small and very large numbers have a power of ten", () => {
  assert.equal(number(1.74e-11, 2), "2e−11");
  assert.equal(number(6.9e-5, 3), "6.9e−5");
  assert.equal(number(2.5e7), "2.5e7");
});

test("what is not a number is said in a sign", () => {
  assert.equal(number(null), "–");
  assert.equal(number(Infinity), "∞");
  assert.equal(number(-Infinity), "−∞");
});

test("a guess is rounded to what its deviation allows, however large it is", () => {
  assert.equal(plusMinus(293.137, 0.5), "293.1 ± 0.5");
  assert.equal(plusMinus(0.46321, 0.0123), "0.463 ± 0.012");
  assert.equal(plusMinus(293.137, 12.3), "293 ± 12");
  assert.equal(plusMinus(48213, 640), "48200 ± 600");
  assert.equal(plusMinus(-0.004, 0.25), "0.00 ± 0.25");
});

test("tiny scales keep the digits of the guess", () => {
  assert.equal(plusMinus(4.6321e-9, 1.2e-10), "(4.63 ± 0.12)·10⁻⁹");
  assert.equal(plusMinus(1234567.27, 0.5), "1234567.3 ± 0.5");
  assert.equal(plusMinus(293, 1.3e-9), "293.0000000000 ± 0.0000000013");
});

test("a deviation of zero or infinity allows no decimals", () => {
  assert.equal(decimals(0), null);
  assert.equal(decimals(Infinity), null);
  assert.equal(decimals(0.5), 1);
  assert.equal(decimals(0.12), 2);
  assert.equal(decimals(640), -2);
});

test("a long name is cut to fit into a circle", () => {
  assert.equal(shortName("Ada"), "Ada");
  assert.equal(shortName("Dora S."), "Dora…");
});

test("a share just below one is never rounded to one", () => {
  assert.equal(belowOne(0.9040228), "0.904");
  assert.equal(belowOne(0.99996912), "0.999969");
  assert.equal(belowOne(0.9999999999), "0.9999999999");
  assert.equal(belowOne(1), "1");
});
