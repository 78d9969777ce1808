// The forms on the left: graph, private values, methods, seed and length. They know words, not mathematics.
import { byId, later, make, notify } from "./dom.js";
import { openBoard } from "./board.js";
import { DataForms, largestEnd } from "./data.js";
import { MethodCards } from "./methods.js";
import { number, whole } from "./words.js";

export class Controls {
  /** onChange(patch of the state) */
  constructor(catalogue, onChange) {
    this.catalogue = catalogue;
    this.onChange = onChange;
    this.changed = later(200, () => this.onChange(this.collect()));
    this.methods = new MethodCards(catalogue, this.changed);
    this.build();
  }

  build() {
    this.data = new DataForms({
      onGraph: (graph) => this.useGraph(graph),
      onValues: (values) => this.useValues(values),
      onDraw: () => this.draw(),
    });
    const family = byId("family");
    for (const entry of this.catalogue.families) family.append(make("option", { value: entry.name }, entry.title));
    family.append(
      make("option", { value: "upload" }, "my own: upload an edge list"),
      make("option", { value: "draw" }, "my own: draw it"),
    );
    family.addEventListener("change", () => this.chooseFamily());
    const kind = byId("values-kind");
    for (const entry of this.catalogue.values) kind.append(make("option", { value: entry.name }, entry.title));
    kind.append(make("option", { value: "own" }, "my own: paste or CSV"));
    kind.addEventListener("change", () => {
      byId("values-own").hidden = kind.value !== "own";
      if (kind.value === "own") byId("values-text").focus();
      else {
        this.values = kind.value;
        this.changed();
      }
    });
    for (const id of ["seed", "steps"]) byId(id).addEventListener("input", this.changed);
    byId("another").addEventListener("click", () => {
      byId("seed").value = Number(byId("seed").value || 0) + 1;
      this.changed();
    });
  }

  // -- showing a state ---------------------------------------------------------------------------

  show(state) {
    this.graph = state.graph;
    this.values = state.values;
    byId("seed").value = state.seed;
    byId("steps").value = state.steps;
    if (typeof state.graph === "string") this.showFamily(state.graph);
    else this.showOwnGraph("upload");
    byId("values-kind").value = typeof state.values === "string" ? state.values : "own";
    byId("values-own").hidden = typeof state.values === "string";
    if (typeof state.values !== "string") this.data.showValues(state.values);
    this.methods.show(state.methods);
  }

  showFamily(spec) {
    const [name, ...parts] = spec.replace(/(\d)x(?=\d)/g, "$1:").split(":");
    const entry = this.catalogue.families.find((f) => f.name === (name === "random-geometric" ? "rgg" : name));
    if (!entry) return;
    byId("family").value = entry.name;
    const named = Object.fromEntries(parts.filter((p) => p.includes("=")).map((p) => p.split("=")));
    const positional = parts.filter((p) => !p.includes("="));
    const given = Object.fromEntries(entry.parameters.map((p, k) => [p.name, named[p.name] ?? positional[k] ?? ""]));
    this.familyForm(entry, { ...given, seed: named.seed ?? "" });
  }

  familyForm(entry, given) {
    const box = byId("family-parameters");
    box.replaceChildren();
    byId("own-graph").hidden = true;
    box.title = entry.about;
    const inputs = [...entry.parameters, ...(entry.seeded ? [{ name: "seed", whole: true }] : [])];
    for (const parameter of inputs) {
      const input = make("input", {
        type: "number",
        id: `graph-${parameter.name}`,
        step: parameter.whole ? "1" : "any",
        min: "0",
        value: String(given[parameter.name] ?? ""),
        placeholder: parameter.required ? "" : "auto",
        oninput: () => this.familyChanged(entry),
      });
      box.append(
        make(
          "label",
          {},
          make(
            "span",
            {},
            {
              n: "nodes",
              attach: "joins",
              k: "near neighbours",
              p: "probability",
              path_length: "bridge",
              seed: "graph seed",
            }[parameter.name] ?? parameter.name,
          ),
          input,
        ),
      );
    }
  }

  chooseFamily() {
    const name = byId("family").value;
    if (name === "upload" || name === "draw") {
      this.showOwnGraph(name);
      if (name === "draw") this.draw();
      return;
    }
    const entry = this.catalogue.families.find((f) => f.name === name);
    this.familyForm(entry, {
      ...Object.fromEntries(entry.parameters.map((p) => [p.name, p.start ?? ""])),
      seed: entry.seeded ? 1 : "",
    });
    this.familyChanged(entry);
  }

  familyChanged(entry) {
    const value = (name) => byId(`graph-${name}`)?.value.trim() ?? "";
    const required = entry.parameters.filter((p) => p.required).map((p) => value(p.name));
    if (required.includes("")) return;
    const optional = [...entry.parameters.filter((p) => !p.required).map((p) => p.name), "seed"].filter(
      (name) => value(name) !== "",
    );
    this.graph = [entry.name, ...required, ...optional.map((name) => `${name}=${value(name)}`)].join(":");
    this.changed();
  }

  showOwnGraph(kind) {
    byId("family").value = kind;
    byId("family-parameters").replaceChildren();
    byId("own-graph").hidden = false;
  }

  // -- files, drawing ----------------------------------------------------------------------------

  /** graph: {edges, name, labels, weights}; values that do not fit it any more are replaced. */
  useGraph(graph) {
    notify("");
    this.graph = graph;
    const count = graph.labels?.length ?? largestEnd(graph.edges) + 1;
    if (typeof this.values !== "string" && Object.keys(this.values).length !== count) {
      this.values = "uniform";
      byId("values-kind").value = "uniform";
      byId("values-own").hidden = true;
    }
    this.changed();
  }

  /** Numbers, or numbers by name: those of a graph with the same names are put in its order. */
  useValues(values) {
    const { labels } = typeof this.graph === "string" ? { labels: null } : this.graph;
    const named = labels && !Array.isArray(values) && labels.every((name) => name in values);
    this.values = named ? labels.map((name) => values[name]) : values;
    this.data.showValues(values);
    this.changed();
  }

  draw() {
    const start = typeof this.graph === "string" ? [] : this.graph.edges;
    openBoard(start, (edges) => {
      byId("family").value = "draw";
      this.useGraph({ edges, name: "my graph" });
    });
  }

  // -- length and thresholds ---------------------------------------------------------------------

  /** A run that is too short for its graph: the server says how long would do. */
  advise(advice) {
    byId("advice").hidden = !advice;
    if (!advice) return;
    byId("advice").querySelector("span").textContent = advice.message;
    byId("take-advice").onclick = () => {
      byId("steps").value = advice.steps;
      this.changed();
    };
  }

  // -- reading the forms -------------------------------------------------------------------------

  collect() {
    return {
      graph: this.graph,
      values: this.values,
      methods: this.methods.collect(),
      seed: Number(byId("seed").value),
      steps: Number(byId("steps").value),
    };
  }

  describe(graph) {
    const [low, high] = graph.degrees;
    const neighbours = low === high ? low : `${low} to ${high}`;
    byId("graph-facts").textContent =
      `${graph.name}: ${whole(graph.numNodes)} nodes, ${whole(graph.numEdges)} edges, ${neighbours} neighbours each`;
  }

  describeThreshold(answer) {
    byId("alpha").textContent =
      answer.algebraicConnectivity === undefined
        ? (answer.message ?? "")
        : `algebraic connectivity α = ${number(answer.algebraicConnectivity, 4)}`;
  }
}
