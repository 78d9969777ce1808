// One's own data: graphs and private values from files or pasted text, with a preview of how they were understood.
import { post } from "./connection.js";
import { byId, make, notify } from "./dom.js";
import { whole } from "./words.js";

const LARGEST = 16_000_000;
const SHOWN_COLUMNS = 6;

const CHOICES = {
  delimiter: [
    ["", "auto"],
    [",", "comma"],
    [";", "semicolon"],
    ["\t", "tab"],
    [" ", "spaces"],
  ],
  decimal: [
    ["", "auto"],
    [".", "point: 0.5"],
    [",", "comma: 0,5"],
  ],
  header: [
    ["", "auto"],
    ["true", "names of columns"],
    ["false", "data"],
  ],
};
const TITLES = { delimiter: "between columns", decimal: "decimals", header: "the first line is" };

/** The largest number in pairs, without handing them all to one call. */
export function largestEnd(edges) {
  let most = -1;
  for (const [i, j] of edges) most = Math.max(most, i, j);
  return most;
}

/** Asks the server to read a text, shows how it was read, and asks again when a person knows better. */
class Reader {
  /**
   * @param {"edges" | "values"} kind
   * @param {(answer: any, name: string) => void} onRead
   */
  constructor(kind, onRead) {
    this.kind = kind;
    this.onRead = onRead;
    this.text = "";
    this.name = "";
    this.selects = Object.fromEntries(Object.keys(CHOICES).map((option) => [option, this.select(option)]));
    this.says = make("p", { class: "caption", "aria-live": "polite" });
    this.table = make("table", { class: "preview" });
    this.element = make(
      "details",
      { class: "read-as", id: `${kind}-preview`, hidden: true, open: true },
      make("summary", {}, "How it was read"),
      this.says,
      make("div", { class: "scroll", tabindex: "0", "aria-label": "the first lines" }, this.table),
      make(
        "div",
        { class: "fields" },
        ...Object.entries(this.selects).map(([option, select]) =>
          make("label", {}, make("span", {}, TITLES[option]), select),
        ),
      ),
    );
  }

  select(option) {
    const options = CHOICES[option].map(([value, text]) => make("option", { value }, text));
    return make("select", { id: `${this.kind}-${option}`, onchange: () => this.ask() }, ...options);
  }

  /** A new text; what was chosen for the last one is forgotten. */
  async read(text, name) {
    this.text = text;
    this.name = name;
    for (const select of Object.values(this.selects)) select.value = "";
    await this.ask();
  }

  async ask() {
    const query = new URLSearchParams({ name: this.name });
    for (const [option, select] of Object.entries(this.selects)) if (select.value) query.set(option, select.value);
    try {
      const answer = await (await post(`/api/read/${this.kind}?${query}`, this.text)).json();
      notify("");
      this.show(answer.preview);
      this.onRead(answer, this.name);
    } catch (error) {
      notify(error.message);
    }
  }

  show(preview) {
    this.element.hidden = !preview;
    if (!preview) return;
    this.says.textContent = inWords(this.name, preview);
    const rows = preview.rows.map((row, k) => {
      const cells = row.slice(0, SHOWN_COLUMNS).map((cell) => make(preview.header && k === 0 ? "th" : "td", {}, cell));
      if (row.length > SHOWN_COLUMNS) cells.push(make("td", {}, "…"));
      return make("tr", {}, ...cells);
    });
    this.table.replaceChildren(...rows);
  }
}

/** "weights.csv: 4 rows, semicolons between columns, decimal comma, the first line names the columns." */
export function inWords(name, preview) {
  const named = CHOICES.delimiter.find(([sign]) => sign === preview.delimiter)?.[1];
  const parts = [`${whole(preview.numRows)} ${preview.numRows === 1 ? "row" : "rows"}`];
  if (named) parts.push(named === "spaces" ? "spaces between columns" : `${named}s between columns`);
  if (preview.decimal) parts.push(preview.decimal === "," ? "decimal comma" : "decimal point");
  if (preview.header) parts.push("the first line names the columns");
  return `${name}: ${parts.join(", ")}.`;
}

export class DataForms {
  /**
   * @param {object} tell
   * @param {(graph: object) => void} tell.onGraph
   * @param {(values: number[] | object) => void} tell.onValues
   * @param {() => void} tell.onDraw
   */
  constructor({ onGraph, onValues, onDraw }) {
    this.edges = new Reader("edges", (answer, name) => onGraph(graphOf(answer, name)));
    this.values = new Reader("values", (answer) => onValues(valuesOf(answer)));
    this.buildGraph(onDraw);
    this.buildValues();
    const setup = byId("setup");
    setup.addEventListener("dragover", (event) => event.preventDefault());
    setup.addEventListener("drop", (event) => {
      event.preventDefault();
      const [file] = event.dataTransfer.files;
      if (file) this.readFile(file, this.edges);
    });
  }

  buildGraph(onDraw) {
    const file = this.file("edges-file", ".txt,.csv,.tsv,.edges,.edgelist,.graphml,.xml,text/*", this.edges);
    byId("own-graph").replaceChildren(
      make(
        "label",
        { class: "file" },
        make("span", {}, "edge list (names or numbers, weights if any) or GraphML"),
        file,
      ),
      make("button", { type: "button", id: "open-board", onclick: onDraw }, "Draw by clicking …"),
      this.edges.element,
    );
  }

  buildValues() {
    this.text = make("textarea", {
      id: "values-text",
      rows: "4",
      spellcheck: "false",
      placeholder: "one number per node, or a table: names and numbers",
      "aria-label": "private values",
    });
    const use = make("button", { type: "button", id: "values-use" }, "Use these");
    use.addEventListener("click", () => this.values.read(this.text.value, "the pasted text"));
    const file = this.file("values-file", ".txt,.csv,.tsv,text/*", this.values);
    byId("values-own").replaceChildren(
      this.text,
      make("div", { class: "row" }, use, make("label", { class: "file" }, make("span", {}, "or a file"), file)),
      this.values.element,
    );
  }

  file(id, accept, reader) {
    const input = make("input", { type: "file", id, accept });
    input.addEventListener("change", async () => {
      if (input.files[0]) await this.readFile(input.files[0], reader);
      input.value = "";
    });
    return input;
  }

  async readFile(file, reader) {
    if (file.size > LARGEST) {
      notify(`${file.name} has ${whole(file.size)} bytes; files of up to ${whole(LARGEST)} are read here`);
    } else await reader.read(await file.text(), file.name);
  }

  /** Values that came from elsewhere, for example from an address. */
  showValues(values) {
    const lines = Array.isArray(values) ? values : Object.entries(values).map(([name, value]) => `${name},${value}`);
    this.text.value = lines.join("\n");
  }
}

function graphOf({ edges, labels, weights }, name) {
  return { edges, name, ...(labels ? { labels } : {}), ...(weights ? { weights } : {}) };
}

/** With names, the server finds each node by its own. */
function valuesOf({ values, labels }) {
  return labels ? Object.fromEntries(labels.map((name, k) => [name, values[k]])) : values;
}
