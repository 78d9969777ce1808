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

/** What an observer can say about a node, from its posterior deviation. */
export function inference(std, prior, guess = null) {
  if (std === "inf" || std === null) return { kind: "hidden", text: "nothing learned" };
  if (prior !== null && std > 0.995 * prior) return { kind: "hidden", text: "nothing learned" };
  if (std <= 1e-6 * (prior ?? 1)) return { kind: "known", text: "known exactly" };
  const digits = prior !== null && std > 0.9 * prior ? 3 : 2;
  if (guess !== null) return { kind: "partly", text: plusMinus(guess, std) };
  return { kind: "partly", text: `known to ±${number(std, digits)}` };
}
