// The page: state, connection, and who is told what when something changes.
import "uplot/dist/uPlot.min.css";
import { read, write } from "./address.js";
import { prepareBoard } from "./board.js";
import { ErrorChart, ValuesChart } from "./charts.js";
import { isDark } from "./colours.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { drawDistributions } from "./distribution.js";
import { announce, byId, later, make, notify } from "./dom.js";
import { place } from "./layout.js";
import { Live } from "./live.js";
import { drawScale, Network } from "./network.js";
import { Meter } from "./privacy.js";
import { prepareShare } from "./share.js";
import { number, whole } from "./words.js";

const SPEEDS = [1, 3, 10, 30, 60, 200, 1000, 10_000, 100_000, 1_000_000, "max"];

const MOST_COLUMNS = 1500;
const MOST_RECORDS = 6000;

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

class Page {
  constructor(catalogue) {
    const { state, problems } = read(location.hash);
    this.state = state;
    this.run = 0;
    this.step = 0;
    this.playing = false;
    this.lanes = [];
    this.positions = null;
    this.controls = new Controls(catalogue, (patch) => this.change(patch));
    this.meter = new Meter({
      onWatch: (node, prior) => this.watch(node, prior),
      onPick: (node) => this.watch(node, this.meter.prior()),
    });
    this.live = new Live();
    this.errorChart = new ErrorChart(byId("error-chart"), byId("error-readout"));
    this.controls.show(state);
    this.transport();
    prepareBoard();
    prepareShare(this);
    this.tabs();
    byId("setup").addEventListener("submit", (event) => event.preventDefault());
    if (problems.length) this.addressProblem = problems.join("; ");
    this.askGuess = later(350, () => {
      if (this.playing || !this.meter.data || this.step < 1) return;
      const centre = Number(this.problemShown.trueMean.toPrecision(1));
      this.connection.send({
        type: "guess",
        node: this.state.watch,
        prior: this.meter.data.prior,
        centre,
        step: this.step,
      });
    });
    this.remember = later(250, () => this.writeAddress());
    this.connection = new Connection({
      onOpen: () => {
        notify(this.addressProblem ?? "");
        this.keepNotice = Boolean(this.addressProblem);
        this.addressProblem = undefined;
        this.setup(this.state.at);
        this.showTab();
      },
      onMessage: (message) => this.receive(message),
      onLost: (refused) => {
        this.setPlaying(false);
        if (!refused) notify("The connection to the studio is lost; trying again …");
      },
    });
    addEventListener("hashchange", () => this.readAddress());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  // -- state and address -------------------------------------------------------------------------

  problem() {
    const { graph, values, methods, seed, steps } = this.state;
    return { graph, values, methods, seed, num_steps: steps };
  }

  change(patch) {
    this.keepNotice = false;
    Object.assign(this.state, patch, { at: 0 });
    this.setup(0);
  }

  setup(at) {
    this.run += 1;
    this.step = at;
    this.setPlaying(false);
    try {
      this.connection.send({ type: "setup", run: this.run, problem: this.problem(), at });
    } catch (error) {
      notify(error.message);
    }
    if (at > 0) this.expectFrame();
    this.writeAddress();
  }

  writeAddress() {
    this.state.at = this.step;
    const text = write(this.state);
    if (text.length < 2_000_000) history.replaceState(null, "", `#${text}`);
    this.address = location.hash;
  }

  readAddress() {
    if (location.hash === this.address) return;
    const { state, problems } = read(location.hash);
    this.state = state;
    this.controls.show(state);
    notify(problems.join("; "));
    this.keepNotice = problems.length > 0;
    this.setup(state.at);
    this.showTab();
  }

  // -- what the server says ----------------------------------------------------------------------

  receive(message) {
    if (message.run !== undefined && message.run !== this.run) return;
    const handlers = {
      ready: () => this.ready(message),
      frame: () => this.frame(message),
      threshold: () => {
        this.controls.setThreshold(message);
        this.controls.describeThreshold(message);
      },
      theory: () => {
        if (this.lanes[message.lane]) {
          this.lanes[message.lane].theory = message;
          this.drawCharts();
          this.theoryNote();
        }
      },
      privacy: () => {
        this.meter.receive(message, this.positions ?? []);
        this.meter.update(this.step);
        this.askGuess();
      },
      guess: () => {
        this.meter.receiveGuesses(message);
        this.meter.update(this.step);
      },
      paused: () => {
        this.pausing = false;
        this.setPlaying(false);
        if (message.message) notify(message.message, "note");
      },
      live: () => this.live.receive(message),
      error: () => {
        notify(message.message);
        if (message.about === "setup") byId("stage").classList.add("stale");
      },
    };
    handlers[message.type]?.();
  }

  ready(message) {
    this.problemShown = message;
    byId("stage").classList.remove("stale");
    if (!this.keepNotice) notify("");
    this.controls.setThreshold(null);
    this.controls.describe(message.graph);
    byId("alpha").textContent = "";
    byId("timeline").max = message.numSteps;
    const pad = 0.02 * (message.highest - message.lowest) || 0.5;
    this.domain = [message.lowest - pad, message.highest + pad];
    this.lanes = message.methods.map((label) => ({
      label,
      steps: [],
      errors: [],
      trace: { steps: [], columns: [] },
      theory: null,
    }));
    this.buildLanes(message);
    drawScale(byId("scale"), ...this.domain, message.trueMean);
    this.stopLayout?.();
    this.positions = null;
    if (message.drawn) this.stopLayout = place(message.graph, (positions) => this.moved(positions));
    this.meter.prepare(message, this.state.prior);
    const node = this.state.watch !== null && this.state.watch < message.graph.numNodes ? this.state.watch : null;
    byId("privacy").hidden = !message.drawn;
    this.watch(message.drawn ? node : null, this.meter.prior());
  }

  buildLanes(message) {
    const stage = byId("stage");
    stage.dataset.lanes = message.methods.length;
    stage.dataset.drawn = message.drawn;
    const networks = [],
      charts = [];
    this.lanes.forEach((lane, index) => {
      const canvas = make("canvas", {
        role: "img",
        "aria-label": `network under ${lane.label}; arrow keys move between nodes, Enter makes one curious`,
      });
      lane.stats = make("p", { class: "stats" });
      networks.push(
        make(
          "article",
          { class: "card lane", "data-lane": String(index) },
          make("h3", {}, make("i", { class: `swatch lane-${index}` }), lane.label),
          make("div", { class: "drawing" }, canvas, make("div", { class: "tip", hidden: true })),
          lane.stats,
        ),
      );
      if (message.drawn) {
        lane.network = new Network(canvas, {
          label: (node) => this.describeNode(lane, node),
          onPick: (node) => this.watch(node, this.meter.prior()),
          onFocus: (_, text) => announce(text),
        });
        lane.network.setGraph(message.graph);
      } else lane.canvas = canvas;
      const box = make("div", {
        class: "chart",
        role: "img",
        "aria-label": `values of the nodes against steps under ${lane.label}`,
      });
      charts.push(
        make(
          "article",
          { class: "card" },
          make("h3", {}, make("i", { class: `swatch lane-${index}` }), this.valuesTitle(message)),
          box,
        ),
      );
      lane.chart = new ValuesChart(box);
    });
    byId("networks").replaceChildren(...networks);
    byId("values-charts").replaceChildren(...charts);
  }

  valuesTitle({ drawn, followed, graph }) {
    const title = "Values converge to the mean, noise and all";
    if (!drawn) return `${title}: the range, 80 % and half of all nodes`;
    return followed.length < graph.numNodes ? `${title}: ${followed.length} of ${whole(graph.numNodes)} nodes` : title;
  }

  moved(positions) {
    this.positions = positions;
    for (const lane of this.lanes) lane.network?.setPositions(positions);
    this.meter.setPositions(positions);
  }

  frame(message) {
    if (message.rewound) {
      for (const lane of this.lanes) Object.assign(lane, { steps: [], errors: [], trace: { steps: [], columns: [] } });
    }
    clearTimeout(this.patience);
    this.step = message.step;
    this.fired = message.fired;
    message.lanes.forEach((picture, index) => {
      const lane = this.lanes[index];
      lane.picture = picture;
      lane.steps.push(...picture.steps);
      lane.errors.push(...picture.errors);
      const width = picture.traceSteps.length ? picture.trace.length / picture.traceSteps.length : 0;
      picture.traceSteps.forEach((step, k) => {
        lane.trace.steps.push(step);
        lane.trace.columns.push(picture.trace.slice(k * width, (k + 1) * width));
      });
    });
    for (const lane of this.lanes) thin(lane);
    if (message.finished) this.finish();
    if (this.meter.data) this.askGuess();
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.draw();
      });
    }
    this.remember();
  }

  // -- drawing -----------------------------------------------------------------------------------

  draw() {
    byId("timeline").value = this.step;
    byId("step-count").textContent = `step ${whole(this.step)} of ${whole(this.problemShown.numSteps)}`;
    for (const lane of this.lanes) this.drawLane(lane);
    this.narrate();
    this.meter.update(this.step);
    const now = performance.now();
    if (!this.playing || now - (this.chartsDrawn ?? 0) > 90) this.drawCharts();
  }

  drawLane(lane) {
    const { picture } = lane;
    if (!picture) return;
    const noiseScale = this.problemShown.spread || 1;
    if (lane.network)
      lane.network.show(
        { values: picture.values, outstanding: picture.outstanding, domain: this.domain, noiseScale },
        { fired: this.fired?.[this.lanes.indexOf(lane)] ?? [], watched: this.state.watch },
      );
    else drawDistributions(lane.canvas, picture, this.domain, this.problemShown.trueMean);
    lane.stats.replaceChildren(
      "relative error ",
      make("b", { class: "error", "data-value": String(picture.error) }, number(picture.error)),
      " · mean off by ",
      make("b", {}, number(Math.abs(picture.meanOffset), 2)),
      " · noise outstanding ",
      make("b", {}, number(picture.noise, 2)),
      this.problemShown.inRounds[this.lanes.indexOf(lane)] ? " · each step is a round of all nodes" : "",
      picture.status === "completed" ? "" : ` · ${picture.status.replace("completed ", "")}`,
    );
  }

  drawCharts() {
    this.chartsDrawn = performance.now();
    if (!this.problemShown || !this.lanes[0]?.steps.length) return;
    const shown = Object.fromEntries(
      ["expected", "corrected", "sharpened", "printed"].map((name) => [name, byId(`show-${name}`).checked]),
    );
    const theme = isDark();
    this.errorChart.update(this.lanes, shown, this.problemShown.numSteps, theme);
    const { privateValues, followed, trueMean, numSteps, drawn } = this.problemShown;
    const shares = followed.map((node) => (privateValues[node] - this.domain[0]) / (this.domain[1] - this.domain[0]));
    for (const lane of this.lanes)
      if (lane.trace.steps.length)
        lane.chart.update(lane.trace, { shares, trueMean, numSteps, quantiles: !drawn, theme, domain: this.domain });
  }

  redraw() {
    for (const lane of this.lanes) {
      if (lane.network) lane.network.lines = null;
      this.drawLane(lane);
    }
    if (this.problemShown) drawScale(byId("scale"), ...this.domain, this.problemShown.trueMean);
    this.meter.step = null;
    this.meter.update(this.step);
    this.drawCharts();
  }

  theoryNote() {
    const notes = new Set(this.lanes.map((lane) => lane.theory?.message).filter(Boolean));
    byId("theory-note").textContent = [...notes].join("; ");
  }

  describeNode(lane, node) {
    const { values, outstanding } = lane.picture;
    const noise = Math.abs(outstanding[node]);
    return (
      `node ${node}: value ${number(values[node])}, private ${number(this.problemShown.privateValues[node])}` +
      (noise > 1e-12 ? `, noise out ${number(noise, 2)}` : "")
    );
  }

  narrate() {
    const { graph, trueMean, numSteps, drawn } = this.problemShown;
    const worst = this.lanes.map((lane) => lane.picture).reduce((a, b) => (a.error > b.error ? a : b));
    let text;
    if (this.step === 0)
      text = "Every node holds its private value. Press Run: at each step one edge fires and its two ends talk.";
    else if (this.step >= numSteps)
      text =
        `After ${whole(numSteps)} steps the relative error is ${number(worst.error, 2)}; ` +
        `the true mean is ${number(trueMean, 4)}, ` +
        `and the mean of all values is off by ${number(Math.abs(worst.meanOffset), 2)}.`;
    else if (drawn && this.fired?.some((edges) => edges.length) && (!this.playing || Number(this.state.speed) <= 10)) {
      const pairwise = this.lanes.filter((_, k) => this.fired[k].length);
      const [i, j] = graph.edges[this.fired[this.lanes.indexOf(pairwise[0])].at(-1)];
      const noisy = pairwise.some((lane) => lane.picture.noise > 0);
      text =
        `Step ${whole(this.step)}: nodes ${i} and ${j} met` +
        (noisy
          ? "; each took back its old noise, put in new and smaller noise, and both kept the average."
          : " and both kept the average.");
    } else text = "Nodes are averaging with their neighbours; halos are the noise each has still to take back.";
    if (text !== this.told) {
      this.told = text;
      byId("narrator").textContent = text;
    }
  }

  // -- running -----------------------------------------------------------------------------------

  transport() {
    const speed = byId("speed");
    for (const value of SPEEDS)
      speed.append(make("option", { value: String(value) }, value === "max" ? "fastest" : `${whole(value)} steps/s`));
    if (!SPEEDS.includes(this.state.speed))
      speed.append(make("option", { value: String(this.state.speed) }, `${whole(this.state.speed)} steps/s`));
    speed.value = String(this.state.speed);
    speed.addEventListener("change", () => {
      this.state.speed = speed.value === "max" ? "max" : Number(speed.value);
      if (this.playing) this.connection.send({ type: "speed", speed: this.speed() });
      this.remember();
    });
    byId("run").addEventListener("click", () => this.toggle());
    byId("one-step").addEventListener("click", () => this.stepOnce());
    byId("back").addEventListener("click", () => this.seek(0));
    byId("end").addEventListener("click", () => this.seek(this.problemShown?.numSteps ?? 0));
    byId("timeline").addEventListener(
      "input",
      later(60, () => this.seek(Number(byId("timeline").value))),
    );
    for (const name of ["expected", "corrected", "sharpened", "printed"])
      byId(`show-${name}`).addEventListener("change", () => this.drawCharts());
    byId("theme").addEventListener("click", () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      this.redraw();
    });
    byId("how").addEventListener("click", () => byId("how-dialog").showModal());
    byId("how-close").addEventListener("click", () => byId("how-dialog").close());
    byId("notice")
      .querySelector("button")
      .addEventListener("click", () => notify(""));
    addEventListener("keydown", (event) => this.shortcut(event));
  }

  shortcut(event) {
    if (
      event.target.closest("input, select, textarea, dialog, button, canvas, a, summary") ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    const actions = {
      " ": () => this.toggle(),
      ".": () => this.stepOnce(),
      ArrowRight: () => this.stepOnce(),
      Home: () => this.seek(0),
      End: () => this.seek(this.problemShown?.numSteps ?? 0),
    };
    if (event.key in actions) {
      event.preventDefault();
      actions[event.key]();
    }
  }

  speed() {
    return this.state.speed === "max" ? null : this.state.speed;
  }

  toggle() {
    if (!this.playing) this.expectFrame();
    this.pausing = this.playing; // until the server confirms it, pictures may still arrive
    this.connection.send(this.playing ? { type: "pause" } : { type: "play", speed: this.speed() });
    this.setPlaying(!this.playing);
  }

  /** The first run of a method compiles its kernel; say so if nothing comes for a while. */
  expectFrame() {
    clearTimeout(this.patience);
    this.patience = setTimeout(() => {
      byId("narrator").textContent = this.told = "Preparing the engine for this method (once, a few seconds) …";
    }, 900);
  }

  stepOnce() {
    this.setPlaying(false);
    this.expectFrame();
    this.connection.send({ type: "step", count: 1 });
  }

  seek(step) {
    this.setPlaying(false);
    this.expectFrame();
    this.connection.send({ type: "seek", step });
  }

  setPlaying(playing) {
    this.playing = playing;
    byId("run").querySelector("span").textContent = playing ? "Pause" : "Run";
    byId("run").setAttribute("aria-pressed", String(playing));
    document.documentElement.dataset.playing = playing;
  }

  finish() {
    if (this.playing) announce("The run is finished.");
    this.setPlaying(false);
  }

  // -- curious node ------------------------------------------------------------------------------

  watch(node, prior) {
    if (!this.problemShown) return;
    const again = node !== null && node === this.state.watch && this.meter.data && prior === this.meter.data.prior;
    if (again) node = null; // a second click lets go
    if (node !== null && !(Number.isInteger(node) && node >= 0 && node < this.problemShown.graph.numNodes))
      return notify(`node must be 0 to ${this.problemShown.graph.numNodes - 1}`);
    this.state.watch = node;
    const usual = Number((this.problemShown.spread || 1).toPrecision(3));
    this.state.prior = prior === null ? "none" : prior === usual ? "" : String(prior);
    this.meter.setNode(node);
    this.connection.send({ type: "watch", node, prior });
    for (const lane of this.lanes) this.drawLane(lane);
    this.remember();
  }

  // -- tabs --------------------------------------------------------------------------------------

  tabs() {
    for (const name of ["playground", "live"])
      byId(`tab-${name}`).addEventListener("click", () => {
        this.state.tab = name;
        this.showTab();
        this.remember();
      });
  }

  showTab() {
    for (const name of ["playground", "live"]) {
      byId(name).hidden = this.state.tab !== name;
      byId(`tab-${name}`).setAttribute("aria-selected", String(this.state.tab === name));
    }
    this.connection.send({ type: "live", on: this.state.tab === "live" });
  }
}

try {
  const catalogue = await (await fetch("/api/catalogue")).json();
  byId("version").textContent = catalogue.version;
  /** @type {any} */ (window).studio = new Page(catalogue);
} catch (error) {
  notify(`The page could not start: ${error.message}`);
  throw error;
}
