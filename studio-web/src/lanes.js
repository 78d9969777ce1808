// The pictures of a run: one lane for each method, with its network, its curves and its numbers, and the narrator.
import { commonDomain } from "./axes.js";
import { ErrorChart, ValuesChart } from "./charts.js";
import { isDark } from "./colours.js";
import { drawDistributions } from "./distribution.js";
import { announce, byId, make } from "./dom.js";
import { Network } from "./network.js";
import { drawScale } from "./scale.js";
import { number, shortName, whole } from "./words.js";

const MOST_COLUMNS = 1500;
const MOST_RECORDS = 6000;
const BETWEEN_CHARTS = 90; // milliseconds, while a run is playing
const CURVES = ["expected", "corrected", "sharpened", "printed"];

/** Long runs at low speed: keep every other point of what is older, so that curves stay quick to draw. */
function thin(lane) {
  const half = (list) => list.filter((_, k) => k % 2 === 0 || k === list.length - 1);
  if (lane.trace.steps.length > MOST_COLUMNS) {
    lane.trace.steps = half(lane.trace.steps);
    lane.trace.columns = half(lane.trace.columns);
  }
  if (lane.steps.length > MOST_RECORDS) {
    lane.steps = half(lane.steps);
    lane.errors = half(lane.errors);
  }
}

/** A number with as many decimals as that text has. */
function like(text, value) {
  const decimals = /^\S?\d+(?:\.(\d+))?$/.exec(text);
  return decimals ? value.toFixed(decimals[1]?.length ?? 0).replace("-", "−") : number(value, 4);
}

const nothingYet = () => ({ steps: [], errors: [], trace: { steps: [], columns: [] } });

export class Lanes {
  /** @param {{onPick: (node: number) => void, onPickEdge: (edge: number) => void}} listeners told of clicks */
  constructor({ onPick, onPickEdge }) {
    this.onPick = onPick;
    this.onPickEdge = onPickEdge;
    this.marks = { watched: [], tapped: [] };
    this.list = [];
    this.problem = null;
    this.fired = null;
    this.told = "";
    this.errorChart = new ErrorChart(byId("error-chart"), byId("error-readout"));
    for (const name of CURVES) byId(`show-${name}`).addEventListener("change", () => this.drawCharts());
  }

  /** A new problem: new cards, without pictures yet. */
  prepare(problem) {
    this.problem = problem;
    this.fired = null;
    const pad = 0.02 * (problem.highest - problem.lowest) || 0.5;
    this.domain = [problem.lowest - pad, problem.highest + pad];
    this.names = problem.graph.labels?.map(shortName) ?? null;
    this.list = problem.methods.map((label, index) => this.newLane(label, index));
    const stage = byId("stage");
    stage.dataset.lanes = problem.methods.length;
    stage.dataset.drawn = problem.drawn;
    stage.dataset.halos = this.takesBack().includes(true);
    byId("networks").replaceChildren(...this.list.map((lane) => lane.card));
    byId("values-charts").replaceChildren(...this.list.map((lane) => lane.chartCard));
    drawScale(byId("scale"), ...this.domain, problem.trueMean);
  }

  /** For each method, whether its noise is taken back: only then are halos drawn and spoken of. */
  takesBack() {
    return this.problem.takesBack ?? this.problem.methods.map(() => true);
  }

  newLane(label, index) {
    const { drawn, graph } = this.problem;
    const canvas = make("canvas", {
      role: "img",
      "aria-label": `network under ${label}; arrow keys move between nodes, Enter makes one curious`,
    });
    const stats = make("p", { class: "stats" });
    const swatch = () => make("i", { class: `swatch lane-${index}` });
    const card = make(
      "article",
      { class: "card lane", "data-lane": String(index) },
      make("h3", {}, swatch(), label),
      make("div", { class: "drawing" }, canvas, make("div", { class: "tip", hidden: true })),
      stats,
    );
    const box = make("div", {
      class: "chart",
      role: "img",
      "aria-label": `values of the nodes against steps under ${label}`,
    });
    const chartCard = make("article", { class: "card" }, make("h3", {}, swatch(), this.valuesTitle()), box);
    const lane = {
      label,
      index,
      canvas,
      card,
      stats,
      chartCard,
      chart: new ValuesChart(box),
      network: null,
      theory: null,
      ...nothingYet(),
    };
    if (drawn) {
      lane.network = new Network(canvas, {
        label: (node) => this.describeNode(lane, node),
        onPick: this.onPick,
        onPickEdge: this.onPickEdge,
        onFocus: (_, text) => announce(text),
      });
      lane.network.setGraph(graph);
    }
    return lane;
  }

  valuesTitle() {
    const { drawn, followed, graph } = this.problem;
    const title = "Values converge to the mean, noise and all";
    if (!drawn) return `${title}: the range, 80 % and half of all nodes`;
    return followed.length < graph.numNodes ? `${title}: ${followed.length} of ${whole(graph.numNodes)} nodes` : title;
  }

  setPositions(positions) {
    for (const lane of this.list) lane.network?.setPositions(positions);
  }

  /** What is new since the last frame. */
  take(message) {
    if (message.rewound) for (const lane of this.list) Object.assign(lane, nothingYet());
    this.fired = message.fired;
    message.lanes.forEach((picture, index) => {
      const lane = this.list[index];
      lane.picture = picture;
      lane.steps.push(...picture.steps);
      lane.errors.push(...picture.errors);
      const width = picture.traceSteps.length ? picture.trace.length / picture.traceSteps.length : 0;
      picture.traceSteps.forEach((step, k) => {
        lane.trace.steps.push(step);
        lane.trace.columns.push(picture.trace.slice(k * width, (k + 1) * width));
      });
      thin(lane);
    });
  }

  takeTheory(message) {
    const lane = this.list[message.lane];
    if (!lane) return;
    lane.theory = message;
    const notes = new Set(this.list.map(({ theory }) => theory?.message).filter(Boolean));
    byId("theory-note").textContent = [...notes].join("; ");
    this.drawCharts();
  }

  // -- drawing ---------------------------------------------------------------------------------

  /** Who is curious, and which edges are tapped. */
  mark(marks) {
    this.marks = marks;
    for (const lane of this.list) this.drawLane(lane);
  }

  /** @param {{step: number, playing: boolean, speed: number | "max"}} now */
  draw(now) {
    for (const lane of this.list) this.drawLane(lane);
    this.narrate(now);
    if (!now.playing || performance.now() - (this.chartsDrawn ?? 0) > BETWEEN_CHARTS) this.drawCharts();
  }

  drawLane(lane) {
    const { picture, index } = lane;
    if (!picture) return;
    const { spread, trueMean, inRounds } = this.problem;
    if (lane.network)
      lane.network.show(
        {
          values: picture.values,
          outstanding: picture.outstanding,
          domain: this.domain,
          noiseScale: spread || 1,
          names: this.names,
        },
        { fired: this.fired?.[index] ?? [], ...this.marks },
      );
    else drawDistributions(lane.canvas, picture, this.domain, trueMean);
    lane.stats.replaceChildren(
      "relative error ",
      make("b", { class: "error", "data-value": String(picture.error) }, number(picture.error)),
      " · mean off by ",
      make("b", {}, number(Math.abs(picture.meanOffset), 2)),
      ...(this.takesBack()[index] ? [" · noise outstanding ", make("b", {}, number(picture.noise, 2))] : []),
      inRounds[index] ? " · each step is a round of all nodes" : "",
      picture.status === "completed" ? "" : ` · ${picture.status.replace("completed ", "")}`,
    );
  }

  drawCharts() {
    this.chartsDrawn = performance.now();
    if (!this.problem || !this.list[0]?.steps.length) return;
    const shown = Object.fromEntries(CURVES.map((name) => [name, byId(`show-${name}`).checked]));
    const theme = isDark();
    const { privateValues, followed, trueMean, numSteps, drawn } = this.problem;
    this.errorChart.update(this.list, shown, numSteps, theme);
    const shares = followed.map((node) => (privateValues[node] - this.domain[0]) / (this.domain[1] - this.domain[0]));
    const domain = commonDomain(
      this.list.map(({ trace }) => trace),
      this.domain,
    );
    for (const { trace, chart } of this.list)
      if (trace.steps.length) chart.update(trace, { shares, trueMean, numSteps, quantiles: !drawn, theme, domain });
  }

  /** After a change of colours. */
  redraw() {
    for (const lane of this.list) {
      if (lane.network) lane.network.lines = null;
      this.drawLane(lane);
    }
    if (this.problem) drawScale(byId("scale"), ...this.domain, this.problem.trueMean);
    this.drawCharts();
  }

  // -- in words --------------------------------------------------------------------------------

  describeNode(lane, node) {
    const { values, outstanding } = lane.picture;
    const noise = Math.abs(outstanding[node]);
    const { privateValues, valueTexts, graph } = this.problem;
    const truth = valueTexts?.[node];
    const who = graph.labels?.[node] ?? `node ${node}`;
    const now = truth ? like(truth, values[node]) : number(values[node]);
    return (
      `${who}: value ${now}, private ${truth ?? number(privateValues[node])}` +
      (noise > 1e-12 && this.takesBack()[lane.index] ? `, noise out ${number(noise, 2)}` : "")
    );
  }

  narrate({ step, playing, speed }) {
    this.tell(this.sentence(step, !playing || Number(speed) <= 10));
  }

  tell(text) {
    if (text === this.told) return;
    this.told = text;
    byId("narrator").textContent = text;
  }

  sentence(step, slow) {
    const { trueMean, trueMeanText, numSteps, drawn } = this.problem;
    if (step === 0)
      return "Every node holds its private value. Press Run: at each step one edge fires and its two ends talk.";
    if (step >= numSteps) {
      const worst = this.list.map((lane) => lane.picture).reduce((a, b) => (a.error > b.error ? a : b));
      return (
        `After ${whole(numSteps)} steps the relative error is ${number(worst.error, 2)}; ` +
        `the true mean is ${trueMeanText ?? number(trueMean, 4)}, ` +
        `and the mean of all values is off by ${number(Math.abs(worst.meanOffset), 2)}.`
      );
    }
    const pairwise = this.list.filter((_, k) => this.fired?.[k].length);
    if (drawn && slow && pairwise.length) return this.meeting(step, pairwise);
    if (!this.takesBack().includes(true)) return "Nodes are averaging with their neighbours.";
    const where = drawn ? "halos are" : "the lower picture is";
    return `Nodes are averaging with their neighbours; ${where} the noise each has still to take back.`;
  }

  meeting(step, pairwise) {
    const { graph } = this.problem;
    const ends = graph.edges[this.fired[pairwise[0].index].at(-1)];
    const [one, other] = ends.map((node) => graph.labels?.[node] ?? node);
    const met = `Step ${whole(step)}: ${graph.labels ? "" : "nodes "}${one} and ${other} met`;
    if (!pairwise.some(({ index, picture }) => this.takesBack()[index] && picture.noise > 0))
      return `${met} and both kept the average.`;
    return `${met}; each took back its old noise, put in new and smaller noise, and both kept the average.`;
  }
}
