// The live view: a running network of peers. It shows what peers say about themselves; they never tell private values.
import { EstimatesChart } from "./charts.js";
import { isDark } from "./colours.js";
import { announce, byId, make } from "./dom.js";
import { place } from "./layout.js";
import { Network } from "./network.js";
import { number, whole } from "./words.js";

const KEPT = 900;
const LOGGED = 12;

export class Live {
  constructor() {
    this.chart = new EstimatesChart(byId("live-chart"));
    this.history = { times: [], columns: [] };
    this.up = new Map();
    this.log = [];
  }

  receive(message) {
    byId("live-says").textContent = message.available ? this.summary(message) : message.message;
    byId("live-view").hidden = !message.available;
    if (!message.available) return;
    const names = message.peers.map((peer) => peer.name);
    if (JSON.stringify([names, message.edges]) !== this.shape) this.build(message, names);
    this.watchComings(message.peers);
    this.draw(message);
    this.table(message.peers);
  }

  summary({ network, peers, exchanges }) {
    const up = peers.filter((peer) => peer.up),
      settled = up.filter((peer) => peer.settled).length;
    const all = `${up.length} of ${peers.length} peers are up, ${settled} settled`;
    return `${network}: ${all}; about ${whole(exchanges)} exchanges so far.`;
  }

  build(message, names) {
    this.shape = JSON.stringify([names, message.edges]);
    this.began = performance.now();
    this.history = { times: [], columns: [] };
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
  }

  describe(node) {
    const peer = this.peers[node];
    if (!peer.up) return `${peer.name}: does not answer`;
    const estimate = peer.estimate ? `estimate ${number(peer.estimate[0], 5)}` : "no estimate yet";
    return `${peer.name}: ${estimate}, noise left ${number(peer.noise_left, 2)}`;
  }

  /** Peers lost and back, as they happen. */
  watchComings(peers) {
    for (const { name, up } of peers) {
      if (this.up.has(name) && this.up.get(name) !== up) {
        const text = up ? `${name} is back` : `${name} is lost`;
        this.log.unshift(`${new Date().toLocaleTimeString()}: ${text}`);
        announce(text);
      }
      this.up.set(name, up);
    }
    this.log.length = Math.min(this.log.length, LOGGED);
    byId("live-log").replaceChildren(...this.log.map((line) => make("li", {}, line)));
  }

  draw({ peers, edges }) {
    this.peers = peers;
    const estimates = peers.map((peer) => (peer.up && peer.estimate ? peer.estimate[0] : null));
    this.history.times.push((performance.now() - this.began) / 1000);
    this.history.columns.push(estimates);
    if (this.history.times.length > KEPT) {
      this.history.times.shift();
      this.history.columns.shift();
    }
    const known = this.history.columns.flat().filter((x) => x !== null);
    const low = Math.min(...known),
      high = Math.max(...known),
      pad = 0.02 * (high - low) || 0.5;
    const domain = known.length ? [low - pad, high + pad] : [0, 1];
    const index = new Map(peers.map((peer, k) => [peer.name, k]));
    const recent = edges
      .map(([i, j], k) => [
        k,
        Math.min(
          ...[
            [i, j],
            [j, i],
          ].map(([a, b]) => (peers[a].up ? (peers[a].neighbours?.[peers[b].name]?.lastHeard ?? Infinity) : Infinity)),
        ),
      ])
      .filter(([, heard]) => heard < 1)
      .sort((a, b) => b[1] - a[1])
      .map(([k]) => k);
    this.network.show(
      {
        values: estimates,
        outstanding: peers.map((peer) => (peer.up ? (peer.noise_left ?? 0) / (peer.noise_std || 1) : 0)),
        noiseScale: 1,
        domain,
        names: peers.map((peer) => peer.name),
        down: new Set(peers.filter((peer) => !peer.up).map((peer) => index.get(peer.name))),
        lost: new Set(
          edges.map(([i, j], k) =>
            [peers[i], peers[j]].some((peer) => !peer.up) ||
            ["unreachable", "parted"].includes(peers[i].neighbours?.[peers[j].name]?.state)
              ? k
              : -1,
          ),
        ),
      },
      { fired: recent },
    );
    if (known.length) this.chart.update(this.history, isDark());
  }

  table(peers) {
    byId("live-peers").replaceChildren(
      ...peers.map((peer) => {
        if (!peer.up)
          return make(
            "tr",
            { class: "down" },
            make("th", { scope: "row" }, peer.name),
            make("td", { colspan: "6" }, "does not answer"),
          );
        const estimate = peer.estimate
          ? peer.estimate.map((x) => number(x, 6)).join(", ") + (peer.dimension > peer.estimate.length ? ", …" : "")
          : "not yet";
        const budget = peer.budget_spent
          ? "spent"
          : peer.budgetLeft === null
            ? "no limit"
            : `${Math.round(100 * peer.budgetLeft)} % left`;
        return make(
          "tr",
          {},
          make("th", { scope: "row" }, peer.name),
          make("td", {}, estimate),
          make("td", {}, peer.plus_minus === null ? "–" : `±${number(peer.plus_minus, 2)}`),
          make("td", {}, `${number(peer.noise_left, 2)} of ${number(peer.noise_std, 2)}`),
          make("td", {}, budget),
          make("td", {}, whole(peer.exchanges ?? 0)),
          make("td", { class: "says" }, peer.statement ?? ""),
        );
      }),
    );
  }
}
