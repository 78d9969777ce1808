// Numbers and findings in plain words.

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return "∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(Math.max(0, digits - 2)).replace("e-", "e−").replace("e+", "e");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
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
  if (guess !== null) return { kind: "partly", text: `${number(guess, 2)} ± ${number(std, digits)}` };
  return { kind: "partly", text: `known to ±${number(std, digits)}` };
}
