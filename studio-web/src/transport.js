// Run, pause, step, seek, speed: by button, slider and key. The server is asked; pictures come by themselves.
import { announce, byId, later, make } from "./dom.js";
import { whole } from "./words.js";

const SPEEDS = [1, 3, 10, 30, 60, 200, 1000, 10_000, 100_000, 1_000_000, "max"];
const PATIENCE = 900; // milliseconds without a picture before something is said

/** What takes the keys itself: fields in which people write or choose, and dialogs. */
const TAKES_KEYS = "input:not([type=checkbox], [type=radio]), select, textarea, dialog, canvas";
/** What Space presses. */
const PRESSED_BY_SPACE = "button, a, summary, input, label, [role=tab]";
const LET_GO = "button, canvas, summary, select, input[type=range], input[type=checkbox], input[type=radio]";

/** What the server may be busy with, in words. */
const WORK = {
  setup: "preparing the run",
  play: "running",
  theory: "what theory says",
  privacy: "what can be inferred",
  guess: "the best guesses",
  compare: "the comparison",
};

const words = (speed) => (speed === "max" ? "fastest" : `${whole(speed)} steps/s`);

export class Transport {
  /**
   * @param {object} page
   * @param {(message: object) => void} page.send
   * @param {() => number} page.lastStep
   * @param {(speed: number | "max") => void} page.onSpeed
   * @param {() => boolean} page.mayRun whether there is a run; if not, the page says why
   * @param {() => boolean} page.hears whether keys are meant for the run
   * @param {(text: string) => void} page.tell
   */
  constructor({ send, lastStep, onSpeed, mayRun, hears, tell }) {
    this.send = send;
    this.lastStep = lastStep;
    this.onSpeed = onSpeed;
    this.mayRun = mayRun;
    this.hears = hears;
    this.tell = tell;
    this.playing = false;
    this.pausing = false;
    this.patience = 0;
    this.working = new Map();
    this.prepareButtons();
    this.prepareKeys();
  }

  prepareButtons() {
    byId("speed").append(...SPEEDS.map((value) => make("option", { value: String(value) }, words(value))));
    byId("speed").addEventListener("change", () => {
      const { value } = byId("speed");
      this.speed = value === "max" ? "max" : Number(value);
      if (this.playing) this.send({ type: "speed", speed: this.stepsPerSecond() });
      this.onSpeed(this.speed);
    });
    byId("run").addEventListener("click", () => this.toggle());
    byId("one-step").addEventListener("click", () => this.stepOnce());
    byId("back").addEventListener("click", () => this.seek(0));
    byId("end").addEventListener("click", () => this.seek(this.lastStep()));
    const follow = later(60, () => this.seek(Number(byId("timeline").value)));
    byId("timeline").addEventListener("input", follow);
  }

  showSpeed(speed) {
    this.speed = speed;
    const choices = [...byId("speed").options].map((option) => option.value);
    if (!choices.includes(String(speed))) byId("speed").append(make("option", { value: String(speed) }, words(speed)));
    byId("speed").value = String(speed);
  }

  stepsPerSecond() {
    return this.speed === "max" ? null : this.speed;
  }

  // -- keys ------------------------------------------------------------------------------------

  prepareKeys() {
    let byPointer = false;
    addEventListener("pointerdown", () => (byPointer = true), { capture: true });
    addEventListener("keydown", () => (byPointer = false), { capture: true });
    addEventListener("keydown", (event) => this.shortcut(event));
    // After a click the keys are for the run again. Who uses Tab keeps the focus.
    const letGo = () => {
      const focused = /** @type {HTMLElement | null} */ (document.activeElement);
      if (byPointer && focused?.matches(LET_GO) && !focused.closest("dialog")) focused.blur();
    };
    for (const kind of ["click", "change"]) addEventListener(kind, letGo);
  }

  shortcut(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !this.hears()) return;
    if (event.target.closest(TAKES_KEYS) || (event.key === " " && event.target.closest(PRESSED_BY_SPACE))) return;
    if (event.target.closest("[role=tab], [type=radio]")) return;
    const actions = {
      " ": () => this.toggle(),
      ".": () => this.stepOnce(),
      ArrowRight: () => this.stepOnce(),
      Home: () => this.seek(0),
      End: () => this.seek(this.lastStep()),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  // -- asking ----------------------------------------------------------------------------------

  toggle() {
    if (!this.mayRun()) return;
    if (!this.playing) this.expectFrame();
    this.pausing = this.playing; // until the server confirms it, pictures may still arrive
    this.send(this.playing ? { type: "pause" } : { type: "play", speed: this.stepsPerSecond() });
    this.setPlaying(!this.playing);
  }

  stepOnce() {
    this.ask({ type: "step", count: 1 });
  }

  seek(step) {
    this.ask({ type: "seek", step });
  }

  ask(message) {
    if (!this.mayRun()) return;
    this.setPlaying(false);
    this.expectFrame();
    this.send(message);
  }

  /** The first run of a method compiles its kernel; say so if nothing comes for a while. */
  expectFrame() {
    clearTimeout(this.patience);
    this.patience = setTimeout(
      () => this.tell("Preparing the engine for this method (once, a few seconds) …"),
      PATIENCE,
    );
  }

  /** What the server is busy with for longer than a moment. */
  works({ about, share, over }) {
    const done = typeof share === "number" && share > 0 ? `, ${Math.round(100 * share)} %` : "";
    if (over) this.working.delete(about);
    else this.working.set(about, `${WORK[about] ?? about}${done}`);
    const under = [...new Set(this.working.values())].join("; ");
    byId("working").textContent = under ? `working: ${under} …` : "";
  }

  // -- hearing ---------------------------------------------------------------------------------

  arrived({ step, finished }) {
    clearTimeout(this.patience);
    byId("timeline").value = step;
    byId("step-count").textContent = `step ${whole(step)} of ${whole(this.lastStep())}`;
    if (!finished) return;
    if (this.playing) announce("The run is finished.");
    this.setPlaying(false);
  }

  /** Paused, refused or lost: nothing is running. */
  stopped() {
    clearTimeout(this.patience);
    this.pausing = false;
    this.setPlaying(false);
  }

  setPlaying(playing) {
    this.playing = playing;
    byId("run").querySelector("span").textContent = playing ? "Pause" : "Run";
    byId("run").setAttribute("aria-pressed", String(playing));
    document.documentElement.dataset.playing = String(playing);
  }
}
