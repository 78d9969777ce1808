// Colours that colour-blind people can tell apart: viridis for values, Okabe and Ito's set for methods.

import { interpolateRgb, piecewise } from "d3-interpolate";
import { interpolateViridis } from "d3-scale-chromatic";

export const LANES = ["#0072b2", "#d55e00", "#009e73"];
export const LANES_DARK = ["#56b4e9", "#ff8a3d", "#2fc79a"];
export const DASHES = [[], [8, 3], [3, 3]];

const exposed = piecewise(interpolateRgb, ["#d55e00", "#e3dccb", "#0b5c94"]);
const within = (share) => Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));

/** Colour of a share in [0, 1]; outside it is clamped. */
export function viridis(share) {
  return interpolateViridis(within(share));
}

/** Light or dark writing on a viridis colour. */
export function inkOn(share) {
  return share > 0.62 ? "#14161a" : "#ffffff";
}

/** From hidden (blue) to known (orange): `left` is the share of uncertainty that is left. */
export function exposure(left) {
  return exposed(within(left));
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
