// Taking it away: link, Python, CSV, PNG, SVG.
import { LONGEST, write } from "./address.js";
import { post } from "./connection.js";
import { announce, byId, download, notify } from "./dom.js";

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`);
    return true;
  } catch {
    return false; // no permission: the text is selected for the person to copy
  }
}

/** page: {state, problem(), step, positions, name} */
export function prepareShare(page) {
  const busy = (button, work) => async () => {
    button.disabled = true;
    try {
      await work();
    } catch (error) {
      notify(error.message);
    } finally {
      button.disabled = false;
    }
  };
  const on = (id, work) => byId(id).addEventListener("click", busy(byId(id), work));
  const dialog = byId("text-dialog");
  const showText = async (title, note, text) => {
    byId("text-title").textContent = title;
    byId("text-note").textContent = note;
    byId("text-body").value = text;
    dialog.showModal();
    byId("text-body").select();
    byId("text-copied").textContent = (await copy(text, title)) ? "Copied." : "Press Ctrl-C to copy.";
  };
  byId("text-close").addEventListener("click", () => dialog.close());
  byId("text-copy").addEventListener("click", async () => {
    byId("text-body").select();
    byId("text-copied").textContent = (await copy(byId("text-body").value, "text"))
      ? "Copied."
      : "Press Ctrl-C to copy.";
  });
  on("share-link", async () => {
    const link = `${location.origin}${location.pathname}#${write(page.state)}`;
    if (link.length > LONGEST)
      throw new Error("this graph and these values are too long for an address; share the files instead");
    await showText(
      "Address of this page",
      "Graph, values, methods, seed and step: all of it is in the address. Values you pasted are in it too.",
      link,
    );
  });
  on("share-python", async () => {
    const { code } = await (await post("/api/python", { problem: page.problem() })).json();
    await showText("This run in Python", "Gives the same numbers, digit by digit.", code);
  });
  for (const kind of ["csv", "png", "svg"]) {
    on(`share-${kind}`, async () => {
      const response = await post(`/api/export/${kind}`, {
        problem: page.problem(),
        at: page.step,
        positions: page.positions,
      });
      download(`sottovoce.${kind}`, await response.blob());
    });
  }
}
