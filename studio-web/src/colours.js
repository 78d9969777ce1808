// Colours that colour-blind people can tell apart: viridis for values, Okabe and Ito's set for methods (style.css).

import { interpolateRgb } from "d3-interpolate";
import { interpolateViridis } from "d3-scale-chromatic";

export const DASHES = [[], [8, 3], [3, 3]];

const partly = interpolateRgb("#d98200", "#f0cf85");
const within = (share) => Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));

/** Colour of a share in [0, 1]; outside it is clamped. */
export function viridis(share) {
  return interpolateViridis(within(share));
}

/** The same for a thin line: on dark paper it begins where a line can be seen. */
export function lineColour(share) {
  return viridis(isDark() ? 0.25 + 0.75 * within(share) : share);
}

/** Light or dark writing on a viridis colour. */
export function inkOn(share) {
  return share > 0.62 ? "#14161a" : "#ffffff";
}

const EXPOSURE = {
  own: "#14161a",
  known: "#c8400a",
  undecided: "#8c8577",
  answer: "#4d94c4",
  sum: "#4d94c4",
  hidden: "#0b5c94",
};

/**
 * What is known of a value, as a colour: the kind decides, as it decides the words. Known is red-orange, partly known
 * amber (paler where more is left), and what is only known from the answer, or not at all, blue.
 * @param {string} kind
 * @param {number} left  share of the uncertainty that is left
 */
export function exposureOf(kind, left) {
  if (kind === "partly") return partly(within(left));
  return EXPOSURE[kind] ?? EXPOSURE.hidden;
}

/** Writing on those colours. */
export function inkOnExposure(kind) {
  return kind === "partly" || kind === "answer" || kind === "sum" ? "#14161a" : "#ffffff";
}

/** The style sheet of dark colours: its `media` says when they hold. */
const darkSheet = () => /** @type {HTMLLinkElement} */ (document.getElementById("dark"));

export function isDark() {
  return matchMedia(darkSheet().media).matches;
}

/** @param {"light" | "dark"} theme whatever the system has */
export function useTheme(theme) {
  darkSheet().media = theme === "dark" ? "all" : "not all";
}

export function laneColour(index) {
  return themed(`lane-${index}`);
}

/** A colour of the style sheet. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
