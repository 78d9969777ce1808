// Small helpers for the page's elements.

/**
 * An element of the page. Which kind it is, the page says; so it is not checked here.
 * @type {(id: string) => any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * make("p", {class: "note"}, "text", child)
 * @param {string} tag
 * @param {Record<string, any>} attributes
 * @param {...(string | Node)} children
 * @returns {any}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/**
 * Do it once, `wait` milliseconds after the last call.
 * @template {any[]} Given
 * @param {number} wait
 * @param {(...given: Given) => void} work
 * @returns {(...given: Given) => void}
 */
export function later(wait, work) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
}

export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A sentence at the top of the page; kind is "error" or "note". */
export function notify(message, kind = "error") {
  const box = byId("notice");
  box.className = kind;
  box.querySelector("span").textContent = message;
  box.hidden = !message;
}

/** Said to screen readers, without moving anything. */
export const announce = later(400, (text) => {
  byId("announcer").textContent = text;
});
