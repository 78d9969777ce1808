// The guided first minute: which scene is in view, its beats, its controls, and its numbers in the text.
import { GUIDE_STEPS, PLAYGROUND } from "./address.js";
import { byId, make } from "./dom.js";
import { scenes } from "./guide-scenes.js";
import { Stage, fixed } from "./guide-stage.js";

const NARROW = matchMedia("(max-width: 860px)");
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const sectionOf = (step) => byId(step === PLAYGROUND ? PLAYGROUND : `step-${step}`);

export class Guide {
  /**
   * @param {object} listeners
   * @param {(step: string) => void} listeners.onStep another step comes into view
   * @param {(step: string) => void} listeners.onJump somebody asks for a step, rather than scrolling there
   */
  constructor({ onStep, onJump }) {
    this.onStep = onStep;
    this.onJump = onJump;
    this.visible = false;
    this.bound = null; // the step to which the page is scrolling by itself
    this.scenes = null;
    this.story = null;
    this.playing = false;
    this.step = null;
    this.beat = 0;
    this.timer = 0;
    this.links = [...byId("guide-steps").querySelectorAll("a")];
    this.prepareWatching();
    this.prepareControls();
  }

  /** Ask the server for the numbers; until they come, the text stands alone. */
  async load() {
    const answer = await fetch("/api/guide");
    if (!answer.ok) throw new Error("the guide's numbers could not be loaded");
    const story = await answer.json();
    this.story = story;
    this.scenes = scenes(new Stage(/** @type {any} */ (byId("guide-picture")), story), story);
    this.fillIn(facts(story));
    this.prepareChoices(story);
    this.begin();
  }

  fillIn(known) {
    for (const element of byId("guide").querySelectorAll("[data-fact]")) {
      element.textContent = known[/** @type {HTMLElement} */ (element).dataset.fact];
    }
    byId("guide").dataset.ready = "true";
  }

  // -- which step ------------------------------------------------------------------------------

  prepareWatching() {
    this.watchLine();
    NARROW.addEventListener("change", () => this.watchLine());
    // Who scrolls by hand is bound for nowhere in particular.
    for (const kind of ["wheel", "touchmove", "pointerdown", "keydown", "scrollend"]) {
      addEventListener(kind, () => (this.bound = null), { passive: true });
    }
    for (const link of byId("guide").querySelectorAll("a[data-step]")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.jump(/** @type {HTMLElement} */ (link).dataset.step);
      });
    }
  }

  /** The step that crosses a line is the one being read: the middle, or below the picture where that is on top. */
  watchLine() {
    this.watcher?.disconnect();
    const rootMargin = NARROW.matches ? "-72% 0px -27% 0px" : "-49% 0px -49% 0px";
    this.watcher = new IntersectionObserver((entries) => this.seen(entries), { rootMargin });
    for (const step of [...GUIDE_STEPS, PLAYGROUND]) this.watcher.observe(sectionOf(step));
  }

  /** Several looks may come together when the browser was busy: the last word about each step counts. */
  seen(entries) {
    const latest = new Map(entries.map((entry) => [entry.target, entry]));
    const found = [...latest.values()].find((entry) => entry.isIntersecting);
    if (!found || !this.visible) return;
    const step = found.target.id.replace("step-", "");
    if (this.bound && step !== this.bound) return; // only passing by
    this.bound = null;
    this.enter(step);
  }

  enter(step) {
    if (step === this.step) return;
    this.step = step;
    for (const link of this.links) {
      if (link.dataset.step === step) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
    this.begin();
    this.onStep(step);
  }

  /** Scroll to a step; with the keyboard, reading goes on there. */
  go(step, { focus = false, atOnce = false } = {}) {
    const section = sectionOf(step);
    this.bound = step;
    const behavior = atOnce || still() ? "instant" : "smooth";
    if (step === GUIDE_STEPS[0]) scrollTo({ top: 0, behavior });
    else section.scrollIntoView({ behavior, block: "start" });
    if (focus) section.querySelector("h2")?.focus({ preventScroll: true });
    this.enter(step);
  }

  /** Whether the step that is being read fits the window, so that nothing is missed by going on. */
  fits() {
    return sectionOf(this.step).scrollHeight <= 1.02 * innerHeight;
  }

  jump(step) {
    this.onJump(step);
    this.go(step, { focus: true });
  }

  /** Out of sight nothing moves. */
  setVisible(visible) {
    if (visible === this.visible) return;
    this.visible = visible;
    if (visible) this.begin();
    else this.stop();
  }

  /** The step before or after this one. */
  move(by) {
    const all = [...GUIDE_STEPS, PLAYGROUND];
    const next = all[all.indexOf(this.step) + by];
    if (next) this.jump(next);
  }

  // -- beats -----------------------------------------------------------------------------------

  get scene() {
    return this.scenes?.[this.step];
  }

  begin() {
    this.stop();
    if (!this.scene || !this.visible) return;
    byId("guide-controls").hidden = this.scene.pace(0) === 0;
    this.show(still() ? this.scene.beats - 1 : (this.scene.first ?? 0));
    if (!still()) this.play();
  }

  play() {
    const pace = this.scene.pace(this.beat);
    if (!pace || this.beat >= this.scene.beats - 1) return this.stop();
    this.setPlaying(true);
    this.timer = setTimeout(() => {
      this.show(this.beat + 1);
      this.play();
    }, pace);
    return undefined;
  }

  stop() {
    clearTimeout(this.timer);
    this.setPlaying(false);
  }

  setPlaying(playing) {
    this.playing = playing;
    const ended = this.scene && this.beat >= this.scene.beats - 1;
    byId("guide-play").textContent = playing ? "Pause" : ended ? "Again" : "Play";
  }

  show(beat) {
    this.beat = Math.max(0, Math.min(this.scene.beats - 1, beat));
    const said = this.scene.show(this.beat);
    byId("guide-caption").textContent = said;
    byId("guide-picture").setAttribute("aria-label", said);
    for (const input of byId("guide").querySelectorAll(`[data-choice="${this.step}"] input`)) {
      /** @type {HTMLInputElement} */ (input).checked = Number(/** @type {any} */ (input).value) === this.beat;
    }
    if (this.step === "price") this.describePrice();
    byId("guide-back").disabled = this.beat === 0;
    byId("guide-next").disabled = this.beat === this.scene.beats - 1;
  }

  prepareControls() {
    const by = (count) => () => {
      this.stop();
      this.show(this.beat + count);
      this.setPlaying(false);
    };
    byId("guide-back").addEventListener("click", by(-1));
    byId("guide-next").addEventListener("click", by(1));
    byId("guide-play").addEventListener("click", () => {
      if (this.playing) return this.stop();
      if (this.beat >= this.scene.beats - 1) this.show(0);
      return this.play();
    });
  }

  // -- choices of the reader -------------------------------------------------------------------

  prepareChoices({ price }) {
    const first = price.choices.findIndex(({ decay }) => decay === this.story.decay);
    this.scenes.price.first = first;
    byId("price-choices").replaceChildren(
      ...price.choices.map(({ decay }, k) => choice("price", k, `φ = ${decay}`, k === first)),
    );
    for (const input of byId("guide").querySelectorAll("[data-choice] input")) {
      input.addEventListener("change", () => {
        this.stop();
        this.show(Number(/** @type {HTMLInputElement} */ (input).value));
        this.setPlaying(false);
      });
    }
  }

  describePrice() {
    const { price, heard } = this.story;
    const { reached, knows } = price.choices[this.beat];
    byId("price-steps").textContent = `${reached}, not ${price.standard.reached}`;
    byId("price-knows").textContent = `± ${fixed(knows, 3)}, not ± ${fixed(heard.before.std, 3)}`;
  }
}

function choice(name, value, text, checked) {
  const input = make("input", { type: "radio", name: `guide-${name}`, value: String(value) });
  input.checked = checked;
  return make("label", {}, input, make("span", {}, text));
}

/** The numbers of the text, as words. */
function facts({ privateValues, you, trueMean, exchanges, heard, price, sealed, decay }) {
  const [mine, theirs] = exchanges[0].sides;
  const { noisy, plain, before } = heard;
  const { unlucky, anybody } = sealed;
  return {
    yours: fixed(privateValues[you], 3),
    added: fixed(mine.added, 3),
    said: fixed(mine.said, 3),
    heard: fixed(theirs.said, 3),
    after: fixed(mine.after, 3),
    plain: fixed(plain.mean, 3),
    noisy: `${fixed(noisy.mean)} ± ${fixed(noisy.std)}`,
    before: `${fixed(before.mean)} ± ${fixed(before.std)}`,
    back: fixed(exchanges[1].sides[0].takenBack, 3),
    decay: String(decay),
    really: fixed(price.really, 3),
    proved: fixed(price.proved, 3),
    unlucky: String(unlucky.node),
    observer: String(unlucky.observer),
    unluckyNoisy: `± ${fixed(unlucky.noisy)}`,
    leastHidden: `± ${fixed(sealed.leastHidden)}`,
    mean: fixed(trueMean, 4),
    anybody: `${fixed(anybody.mean)} ± ${fixed(anybody.std)}`,
    alone: `${fixed(anybody.answer.mean)} ± ${fixed(anybody.answer.std)}`,
  };
}
