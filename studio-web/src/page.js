// The page: state, connection, and who is told what when something changes.
import { prepareBoard } from "./board.js";
import { Comparison } from "./compare.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { byId, later, notify } from "./dom.js";
import { Lanes } from "./lanes.js";
import { place } from "./layout.js";
import { Live } from "./live.js";
import { Meter } from "./privacy.js";
import { recall, remember } from "./remembering.js";
import { prepareSetups } from "./setups.js";
import { prepareShare } from "./share.js";
import { Transport } from "./transport.js";

/** Commands that run something: when one of them is refused, nothing is running. */
const RUNS = ["setup", "play", "step", "seek"];

const MOST_DROPS = 2;

export class Page {
  /**
   * @param {any} catalogue
   * @param {import("./views.js").Views} views
   */
  constructor(catalogue, views) {
    const { state, problems } = recall();
    this.state = Object.assign(state, views.where());
    this.run = 0;
    this.step = 0;
    this.problemShown = null;
    this.refusal = "";
    this.answered = true; // whether the server said anything to the last setup
    this.dropped = 0; // how often it hung up instead
    this.positions = null;
    this.controls = new Controls(catalogue, (patch) => this.change(patch));
    this.pictures = new Lanes({
      onPick: (node) => this.meter.pickNode(node),
      onPickEdge: (edge) => this.meter.pickEdge(edge),
    });
    this.meter = this.newMeter();
    this.comparison = new Comparison({ send: (message) => this.connection.send(message) });
    this.live = new Live({ send: (message) => this.connection.send(message) });
    this.transport = this.newTransport();
    this.views = views;
    views.listen({
      onChange: (tab, step, far) => this.look(tab, step, far),
      onTheme: () => this.redraw(),
    });
    prepareBoard();
    prepareShare(this);
    prepareSetups({
      state: () => this.state,
      problem: () => this.problem(),
      onLoad: (loaded) => this.load(loaded),
    });
    this.showForms();
    byId("setup").addEventListener("submit", (event) => event.preventDefault());
    this.rememberSoon = later(250, () => this.writeAddress());
    this.connection = this.connect(problems.join("; "));
    addEventListener("popstate", () => this.readAddress());
  }

  newMeter() {
    return new Meter({
      send: (message) => this.connection.send(message),
      onChange: (watch, prior) => {
        Object.assign(this.state, { watch, prior });
        this.pictures.mark(this.meter.marks());
        this.rememberSoon();
      },
      now: () => ({ step: this.step, playing: this.playing, numSteps: this.problemShown.numSteps }),
    });
  }

  newTransport() {
    return new Transport({
      send: (message) => this.connection.send(message),
      lastStep: () => this.problemShown?.numSteps ?? 0,
      onSpeed: (speed) => {
        this.state.speed = speed;
        this.rememberSoon();
      },
      mayRun: () => {
        if (this.refusal) notify(this.refusal);
        return Boolean(this.problemShown) && !this.refusal;
      },
      hears: () => !this.views.guiding() && this.state.tab !== "live",
      tell: (text) => this.pictures.tell(text),
    });
  }

  connect(problems) {
    let first = problems;
    return new Connection({
      onOpen: () => {
        notify(first);
        this.keepNotice = Boolean(first);
        first = "";
        if (this.dropped >= MOST_DROPS) this.giveUp();
        else this.setup(this.state.at);
        this.askLive();
      },
      onMessage: (message) => this.receive(message),
      onLost: (refused) => {
        this.transport.stopped();
        this.dropped = this.answered ? 0 : this.dropped + 1;
        if (!refused) notify("The connection to the studio is lost; trying again …");
      },
    });
  }

  get lanes() {
    return this.pictures.list;
  }

  get playing() {
    return this.transport.playing;
  }

  get pausing() {
    return this.transport.pausing;
  }

  seek(step) {
    this.transport.seek(step);
  }

  // -- state and address -------------------------------------------------------------------------

  problem() {
    const { graph, values, methods, seed, steps } = this.state;
    return { graph, values, methods, seed, num_steps: steps };
  }

  /** The same question ended the talk again and again: it is not asked once more. */
  giveUp() {
    this.refused({ about: "setup", message: "The studio cannot take this set-up. Please change it on the left." });
  }

  change(patch) {
    this.keepNotice = false;
    this.dropped = 0;
    Object.assign(this.state, patch, { at: 0 });
    this.setup(0, { why: "edit" });
  }

  /** A set-up from a file. */
  load(state) {
    this.keepNotice = false;
    Object.assign(this.state, state);
    this.step = state.at;
    this.showState();
    this.setup(state.at, { why: "jump" });
  }

  setup(at, how = {}) {
    this.run += 1;
    this.step = at;
    this.transport.stopped();
    this.answered = false;
    try {
      this.connection.send({ type: "setup", run: this.run, problem: this.problem(), at });
    } catch (error) {
      notify(error.message);
    }
    if (at > 0) this.transport.expectFrame();
    this.writeAddress(how);
  }

  writeAddress(how = {}) {
    this.state.at = this.step;
    remember(this.state, how);
  }

  readAddress() {
    const { state, problems } = recall();
    this.state = state;
    this.step = state.at;
    this.showState();
    notify(problems.join("; "));
    this.keepNotice = problems.length > 0;
    this.setup(state.at);
    this.askLive();
  }

  showState() {
    this.showForms();
    this.views.show(this.state.tab, this.state.step);
  }

  showForms() {
    this.controls.show(this.state);
    this.transport.showSpeed(this.state.speed);
  }

  /** Another tab, or another step of the guide. */
  look(tab, step, far) {
    Object.assign(this.state, { tab, step });
    if (!this.connection) return;
    if (far) this.askLive();
    this.writeAddress({ why: far ? "jump" : "progress" });
  }

  askLive() {
    this.connection.send({ type: "live", on: this.state.tab === "live" });
  }

  // -- what the server says ----------------------------------------------------------------------

  receive(message) {
    if (message.run !== undefined && message.run !== this.run) return;
    if (message.run === this.run || message.about === "setup") this.answered = true;
    const handlers = {
      ready: () => this.ready(message),
      frame: () => this.frame(message),
      threshold: () => {
        this.controls.methods.setThreshold(message);
        this.controls.describeThreshold(message);
      },
      theory: () => {
        this.pictures.takeTheory(message);
        this.controls.methods.setCost(message.lane, message.cost);
      },
      privacy: () => this.meter.receive(message),
      guess: () => this.meter.receiveGuess(message),
      comparison: () => this.comparison.receive(message),
      paused: () => {
        this.transport.stopped();
        if (message.message) notify(message.message, "note");
      },
      live: () => this.live.receive(message),
      history: () => this.live.receiveHistory(message),
      working: () => this.transport.works(message),
      error: () => this.refused(message),
    };
    handlers[message.type]?.();
  }

  /** A sentence of the server about what it could not do. */
  refused({ about, message }) {
    notify(message);
    if (RUNS.includes(about)) this.transport.stopped();
    if (about !== "setup") return;
    this.refusal = message;
    byId("stage").classList.add("stale");
  }

  ready(message) {
    this.problemShown = message;
    this.refusal = "";
    byId("stage").classList.remove("stale");
    if (!this.keepNotice) notify("");
    this.controls.methods.setThreshold(null);
    this.controls.describe(message.graph);
    this.controls.advise(message.advice);
    this.transport.working.clear();
    byId("alpha").textContent = "";
    byId("timeline").max = message.numSteps;
    this.pictures.prepare(message);
    this.stopLayout?.();
    this.positions = null;
    if (message.drawn) this.stopLayout = place(message.graph, (positions) => this.moved(positions));
    this.meter.prepare(message, this.state);
    this.comparison.prepare();
  }

  moved(positions) {
    this.positions = positions;
    this.pictures.setPositions(positions);
    this.meter.setPositions(positions);
  }

  frame(message) {
    this.step = message.step;
    this.pictures.take(message);
    this.meter.askGuess();
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.draw();
      });
    }
    this.transport.arrived(message);
    this.rememberSoon();
  }

  draw() {
    this.pictures.draw({ step: this.step, playing: this.playing, speed: this.state.speed });
    this.meter.update(this.step);
  }

  redraw() {
    this.pictures.redraw();
    this.meter.redraw();
    this.comparison.draw();
  }
}
