// Numbers and findings in plain words.
import { format } from "d3-format";

/** So many significant digits; very small and very large numbers with a power of ten. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-3 && size < 1e6)) return format(`.${digits}~r`)(value);
  return format(`.${Math.max(0, digits - 2)}e`)(value)
    .replace("e-", "e−")
    .replace("e+", "e");
}

/** Decimals that a deviation allows: two digits of itself, or one from 3 on ("± 0.47", "± 6"). */
export function decimals(std) {
  if (!(std > 0) || !Number.isFinite(std)) return null;
  const power = Math.floor(Math.log10(std));
  return (std / 10 ** power < 3 ? 1 : 0) - power;
}

/** "293.1 ± 0.5": the guess has as many digits as its deviation allows. */
export function plusMinus(guess, std) {
  const places = decimals(std);
  if (places === null) return number(guess, 4);
  const size = Math.max(Math.abs(guess), std);
  if (size < 1e-3 || size >= 1e9) {
    const power = Math.floor(Math.log10(size));
    return `(${plusMinus(guess / 10 ** power, std / 10 ** power)})·10${superscript(power)}`;
  }
  const unit = 10 ** Math.max(0, -places);
  const write = (value) =>
    format(`.${Math.min(20, Math.max(0, places))}f`)(places > 0 ? value : Math.round(value / unit) * unit);
  return `${write(guess)} ± ${write(std)}`;
}

function superscript(power) {
  return String(power).replace(/[-\d]/g, (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)]));
}

/** A name that fits into a small circle. */
export function shortName(name) {
  return name.length > 5 ? `${name.slice(0, 4)}…` : name;
}

export function whole(value) {
  return value.toLocaleString("en");
}

/** A share just below one, with the digits that tell it from one: "0.904", "0.999967". */
export function belowOne(value) {
  const left = 1 - value;
  return left > 0 && left < 1e-3
    ? format(`.${Math.min(12, 1 - Math.floor(Math.log10(left)))}~f`)(value)
    : number(value);
}
