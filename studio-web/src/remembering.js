// The state in the address, and in the browser's history: Back goes to what was shown before.
import { LONGEST, read, write } from "./address.js";

/** Stands in the address when the state is too long for one; the browser keeps it with this entry of its history. */
const KEPT = "#kept=here";
const ONE_EDIT = 2000; // milliseconds; what is typed within them is one change, not many

let lastEdit = -Infinity;

/**
 * Write the state into the address.
 * @param {object} state
 * @param {{why?: "progress" | "edit" | "jump"}} how an edit or a jump is a new entry, so that Back returns to the one
 *   before; progress of a run is not, and neither is the next letter of the same edit
 */
export function remember(state, { why = "progress" } = {}) {
  const text = write(state);
  const short = text.length <= LONGEST;
  const address = short ? `#${text}` : KEPT;
  const entry = short ? null : { text };
  const now = performance.now();
  const another = why === "jump" || (why === "edit" && now - lastEdit > ONE_EDIT);
  if (why === "edit") lastEdit = now;
  if (another && (address !== location.hash || !short)) history.pushState(entry, "", address);
  else history.replaceState(entry, "", address);
}

/** What the address says: the state, and sentences about what could not be read. */
export function recall() {
  if (location.hash !== KEPT) return read(location.hash);
  const text = history.state?.text;
  if (typeof text === "string") return read(text);
  const sentence = "this address stands for a graph that was too long for one; please load its file again";
  return { state: read("").state, problems: [sentence] };
}
