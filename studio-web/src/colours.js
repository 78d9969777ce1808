// Colours that colour-blind people can tell apart: viridis for values, Okabe and Ito's set for methods.

const VIRIDIS = (
  "440154 470d60 48186a 482374 472d7b 453781 424086 3e4989 3b528b 375b8d 33638d 2f6b8e 2c728e 297a8e 26828e 23898e 21918c " +
  "1f988b 1fa088 22a785 28ae80 32b67a 3fbc73 4ec36b 5ec962 70cf57 84d44b 98d83e addc30 c2df23 d8e219 ece51b fde725"
).split(" ");

export const LANES = ["#0072b2", "#d55e00", "#009e73"];
export const LANES_DARK = ["#56b4e9", "#ff8a3d", "#2fc79a"];
export const DASHES = [[], [8, 3], [3, 3]];

function channels(hex) {
  return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

function mix(from, to, share) {
  const a = channels(from), b = channels(to);
  return `rgb(${a.map((v, k) => Math.round(v + (b[k] - v) * share)).join(",")})`;
}

/** Colour of a share in [0, 1]; outside it is clamped. */
export function viridis(share) {
  const place = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
  return mix(VIRIDIS[low], VIRIDIS[low + 1], place - low);
}

/** Light or dark writing on a viridis colour. */
export function inkOn(share) {
  return share > 0.62 ? "#14161a" : "#ffffff";
}

/** From hidden (blue) to known (orange): `left` is the share of uncertainty that is left. */
export function exposure(left) {
  const share = Math.min(1, Math.max(0, left));
  return share > 0.5 ? mix("e3dccb", "0b5c94", (share - 0.5) * 2) : mix("d55e00", "e3dccb", share * 2);
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function laneColour(index) {
  return (isDark() ? LANES_DARK : LANES)[index];
}

/** A colour of the style sheet. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
