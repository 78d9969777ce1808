// What is on the page: the guide with the playground below it, the playground alone, or the live network; and colours.
import { GUIDE_STEPS, PLAYGROUND } from "./address.js";
import { isDark, useTheme } from "./colours.js";
import { byId, notify } from "./dom.js";
import { Guide } from "./guide.js";

const TABS = ["guide", "playground", "live"];
const THEME = "sottovoce-theme";

/** Light or dark as the person chose it last; before the first picture. */
export function recallTheme() {
  try {
    const theme = localStorage.getItem(THEME);
    if (theme === "light" || theme === "dark") useTheme(theme);
  } catch {
    // no storage here: the system's choice it is
  }
}

function chooseTheme(theme) {
  useTheme(theme);
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // it holds until the page is closed
  }
}

export class Views {
  /** It works by itself, before the rest of the page is there: the guide is alive on arrival. */
  constructor() {
    this.tab = "";
    this.listen({ onChange: () => {}, onTheme: () => {} });
    this.guide = new Guide({
      onStep: (step) => this.stepSeen(step),
      onJump: (step) => this.onChange("guide", step, true),
    });
    this.guide.load().catch((error) => notify(error.message));
    for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => this.choose(tab));
    byId("tabs").addEventListener("keydown", (event) => this.tabKey(event));
    byId("theme").addEventListener("click", () => {
      chooseTheme(isDark() ? "light" : "dark");
      this.onTheme();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.onTheme());
    byId("dark").addEventListener("load", () => this.onTheme());
    byId("how").addEventListener("click", () => byId("how-dialog").showModal());
    byId("how-close").addEventListener("click", () => byId("how-dialog").close());
    byId("notice")
      .querySelector("button")
      .addEventListener("click", () => notify(""));
    addEventListener("keydown", (event) => this.guideKey(event));
  }

  /**
   * @param {object} page
   * @param {(tab: string, step: string, far: boolean) => void} page.onChange `far`: worth an entry in the history
   * @param {() => void} page.onTheme
   */
  listen({ onChange, onTheme }) {
    this.onChange = onChange;
    this.onTheme = onTheme;
  }

  /** What is being looked at. */
  where() {
    return { tab: this.tab, step: this.guide.step ?? PLAYGROUND };
  }

  /** Somebody pressed a tab. */
  choose(tab) {
    const step = tab === "guide" ? GUIDE_STEPS[0] : PLAYGROUND;
    this.onChange(tab, step, true);
    this.show(tab, step);
  }

  /** Show what the state says. */
  show(tab, step) {
    this.tab = tab;
    document.documentElement.dataset.view = tab;
    const shown = { guide: ["guide", "playground"], playground: ["playground"], live: ["live"] }[tab];
    for (const name of TABS) byId(name).hidden = !shown.includes(name);
    byId("guide-steps").hidden = tab !== "guide";
    this.guide.setVisible(tab === "guide");
    if (tab === "guide") this.guide.go(step, { atOnce: true });
    else scrollTo(0, 0);
    this.select(tab === "guide" && step === PLAYGROUND ? "playground" : tab);
  }

  stepSeen(step) {
    this.select(step === PLAYGROUND ? "playground" : "guide");
    this.onChange("guide", step, false);
  }

  select(tab) {
    for (const name of TABS) {
      byId(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
      byId(`tab-${name}`).tabIndex = name === tab ? 0 : -1;
    }
  }

  tabKey(event) {
    const now = TABS.findIndex((name) => byId(`tab-${name}`) === document.activeElement);
    const places = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: TABS.length - 1 };
    if (now < 0 || !(event.key in places)) return;
    event.preventDefault();
    const tab = TABS[(places[event.key] + TABS.length) % TABS.length];
    byId(`tab-${tab}`).focus();
    this.choose(tab);
  }

  /** In the guide, keys turn the pages: arrows always, Page Down and Space where a step fits the window. */
  guideKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !this.guiding()) return;
    if (event.target.closest("input, select, textarea, dialog, canvas, [role=tab]")) return;
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? this.pageKey(event);
    if (!by) return;
    event.preventDefault();
    this.guide.move(by);
  }

  pageKey(event) {
    if (event.key === " " && event.target.closest("button, a, summary")) return 0;
    if (!this.guide.fits()) return 0;
    return { PageDown: 1, PageUp: -1, " ": event.shiftKey ? -1 : 1 }[event.key] ?? 0;
  }

  /** Whether a step of the guide is being read. */
  guiding() {
    return this.tab === "guide" && this.guide.step !== PLAYGROUND;
  }
}
