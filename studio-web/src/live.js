// The live view: a running network of peers. It shows what peers say about themselves; they never tell private values.
import { EstimatesChart } from "./charts.js";
import { isDark } from "./colours.js";
import { announce, byId, make } from "./dom.js";
import { place } from "./layout.js";
import { History } from "./live-history.js";
import { Network } from "./network.js";
import { number, whole } from "./words.js";

const LOGGED = 12;
const REPLAY = 6000; // milliseconds for the whole of it
const OVER = ["settled", "ended"];

export class Live {
  /** @param {{send: (message: object) => void}} page */
  constructor({ send }) {
    this.send = send;
    this.chart = new EstimatesChart(byId("live-chart"));
    this.history = new History();
    this.up = new Map();
    this.met = new Set();
    this.log = [];
    /** Row of the history that is shown, or null for what is now. */
    this.row = null;
    this.playing = 0;
    this.build();
  }

  build() {
    this.banner = make("div", { id: "live-settled", class: "card settled", role: "status", hidden: true });
    this.range = make("input", { type: "range", id: "live-time", min: "0", value: "0", "aria-label": "moment shown" });
    this.clock = make("output", { id: "live-clock" });
    this.replay = make("button", { type: "button", id: "live-replay" }, "Replay");
    this.now = make("button", { type: "button", id: "live-now", hidden: true }, "Now");
    this.range.addEventListener("input", () => {
      cancelAnimationFrame(this.playing);
      this.look(Number(this.range.value));
    });
    this.replay.addEventListener("click", () => this.play());
    this.now.addEventListener("click", () => this.backToNow());
    const bar = make("div", { class: "card replay", role: "group", "aria-label": "history" });
    bar.append(this.replay, this.range, this.clock, this.now);
    byId("live-view").prepend(this.banner, bar);
  }

  receive(message) {
    byId("live-says").textContent = message.available ? this.summary(message) : message.message;
    byId("live-view").hidden = !message.available;
    if (!message.available) return;
    const names = message.peers.map((peer) => peer.name);
    if (JSON.stringify([names, message.edges]) !== this.shape) this.start(message, names);
    this.last = message;
    this.watchComings(message);
    this.history.add(message.elapsed ?? (performance.now() - this.began) / 1000, message.peers);
    this.celebrate(message);
    this.range.max = String(Math.max(0, this.history.length - 1));
    if (this.row === null) this.showNow();
  }

  /** What was seen before this page was opened. */
  receiveHistory(message) {
    if (!message.times?.length) return;
    this.history.take(message);
    this.range.max = String(this.history.length - 1);
    if (this.last && this.row === null) this.showNow();
  }

  summary({ sentence, network, peers, exchanges }) {
    if (sentence) return sentence;
    const up = peers.filter((peer) => peer.up),
      settled = up.filter((peer) => peer.settled).length;
    const all = `${up.length} of ${peers.length} peers are up, ${settled} settled`;
    return `${network}: ${all}; about ${whole(exchanges)} exchanges so far.`;
  }

  /** A network that was not shown before: its drawing, and a new history. */
  start(message, names) {
    this.shape = JSON.stringify([names, message.edges]);
    this.began = performance.now();
    this.history.clear(names);
    this.row = null;
    const canvas = make("canvas", { role: "img", "aria-label": "the network of peers; arrow keys move between them" });
    byId("live-drawing").replaceChildren(canvas, make("div", { class: "tip", hidden: true }));
    this.network = new Network(canvas, {
      label: (node) => this.describe(node),
      onPick: () => {},
      onFocus: (_, text) => announce(text),
    });
    const graph = { numNodes: names.length, edges: message.edges, positions: null };
    this.network.setGraph(graph);
    this.stopLayout?.();
    this.stopLayout = place(graph, (positions) => this.network.setPositions(positions));
    this.send({ type: "history" });
  }

  describe(node) {
    const peer = this.last.peers[node];
    const estimate = peer.estimate ? `estimate ${number(peer.estimate[0], 5)}` : "no estimate yet";
    if (!peer.up && !OVER.includes(this.last.state)) return `${peer.name}: does not answer; ${estimate} at last`;
    return `${peer.name}: ${estimate}, noise left ${number(peer.noise_left, 2)}`;
  }

  /** Peers lost and back, as they happen; a network that has ended has lost nobody. */
  watchComings({ peers, state }) {
    for (const { name, up } of peers) {
      if (state !== "ended" && this.up.has(name) && this.up.get(name) !== up) {
        const text = !up ? `${name} is lost` : this.met.has(name) ? `${name} is back` : `${name} is there`;
        this.log.unshift(`${new Date().toLocaleTimeString()}: ${text}`);
        announce(text);
      }
      this.up.set(name, up);
      if (up) this.met.add(name);
    }
    this.log.length = Math.min(this.log.length, LOGGED);
    byId("live-log").replaceChildren(...this.log.map((line) => make("li", {}, line)));
  }

  /** The moment for which everybody came: it is said once, and stays. */
  celebrate({ state, settledAfter, sentence }) {
    const over = OVER.includes(state) && typeof settledAfter === "number";
    if (over && this.banner.hidden) {
      const text = "Settled: every peer is as close to the answer as was asked for.";
      this.banner.replaceChildren(make("b", {}, "✓ "), text);
      announce(sentence ?? text);
    }
    this.banner.hidden = !over;
  }

  // -- then and now ----------------------------------------------------------------------------

  showNow() {
    const { peers, edges, state } = this.last;
    const gone = state !== "ended";
    this.range.value = this.range.max;
    this.clock.textContent = state === "ended" ? "the last state" : "now";
    this.now.hidden = true;
    this.draw({
      estimates: peers.map((peer) => peer.estimate?.[0] ?? null),
      up: peers.map((peer) => peer.up || !gone),
      noise: peers.map((peer) => (peer.up ? (peer.noise_left ?? 0) / (peer.noise_std || 1) : 0)),
      fired: recentlyHeard(peers, edges),
    });
    this.table(peers);
  }

  /** A moment of the history. */
  look(row) {
    if (!this.history.length) return;
    this.row = Math.min(Math.max(0, row), this.history.length - 1);
    this.range.value = String(this.row);
    this.clock.textContent = `after ${number(this.history.times[this.row], 3)} s`;
    this.now.hidden = false;
    this.draw({ estimates: this.history.rows[this.row], up: this.history.up[this.row], noise: null, fired: [] });
  }

  /** From the first look to the last one, in a few seconds. */
  play() {
    cancelAnimationFrame(this.playing);
    const began = performance.now();
    const frame = () => {
      const share = Math.min(1, (performance.now() - began) / REPLAY);
      this.look(Math.round(share * (this.history.length - 1)));
      if (share < 1) this.playing = requestAnimationFrame(frame);
      else this.backToNow();
    };
    frame();
  }

  backToNow() {
    cancelAnimationFrame(this.playing);
    this.row = null;
    this.showNow();
  }

  draw({ estimates, up, noise, fired }) {
    const { peers, edges, state } = this.last;
    const broken = ([i, j]) =>
      !up[i] ||
      !up[j] ||
      (state !== "ended" && ["unreachable", "parted"].includes(peers[i].neighbours?.[peers[j].name]?.state));
    this.network.show(
      {
        values: estimates,
        outstanding: noise ?? estimates.map(() => 0),
        noiseScale: 1,
        domain: this.history.domain(),
        names: peers.map((peer) => peer.name),
        down: new Set(up.flatMap((is, k) => (is ? [] : [k]))),
        lost: new Set(edges.flatMap((edge, k) => (broken(edge) ? [k] : []))),
      },
      { fired },
    );
    if (this.history.length) this.chart.update(this.history, this.row, isDark());
  }

  table(peers) {
    byId("live-peers").replaceChildren(...peers.map((peer) => this.tableRow(peer)));
  }

  tableRow(peer) {
    const away = !peer.up && this.last.state !== "ended";
    const name = make("th", { scope: "row" }, peer.name);
    if (away && !peer.estimate)
      return make("tr", { class: "down" }, name, make("td", { colspan: "6" }, "does not answer"));
    const more = peer.dimension > (peer.estimate?.length ?? 0) ? ", …" : "";
    const estimate = peer.estimate ? peer.estimate.map((x) => number(x, 6)).join(", ") + more : "not yet";
    const left = peer.budgetLeft ?? null;
    const budget = peer.budget_spent ? "spent" : left === null ? "no limit" : `${Math.round(100 * left)} % left`;
    const seen = typeof peer.lastSeen !== "number" ? "" : `, last seen ${number(peer.lastSeen, 2)} s ago`;
    const cells = [
      estimate,
      typeof peer.plus_minus === "number" ? `±${number(peer.plus_minus, 2)}` : "–",
      `${number(peer.noise_left, 2)} of ${number(peer.noise_std, 2)}`,
      budget,
      whole(peer.exchanges ?? 0),
    ];
    const says = away ? `does not answer${seen}` : (peer.statement ?? "");
    return make(
      "tr",
      away ? { class: "down" } : {},
      name,
      ...cells.map((text) => make("td", {}, text)),
      make("td", { class: "says" }, says),
    );
  }
}

/** Edges over which something was heard within a second, the last one last. */
function recentlyHeard(peers, edges) {
  const heard = (a, b) => (peers[a].up ? (peers[a].neighbours?.[peers[b].name]?.lastHeard ?? Infinity) : Infinity);
  return edges
    .map(([i, j], edge) => ({ edge, ago: Math.min(heard(i, j), heard(j, i)) }))
    .filter(({ ago }) => ago < 1)
    .sort((a, b) => b.ago - a.ago)
    .map(({ edge }) => edge);
}
