// Small helpers for the page's elements.

export const byId = (id) => document.getElementById(id);

/** make("p", {class: "note"}, "text", child) */
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
export const announce = later(400, (text) => { byId("announcer").textContent = text; });
