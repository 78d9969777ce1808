// What the live view has seen: kept, so that the way to the answer can be watched again when it is over.

const KEPT = 3600;

const sameNames = (one, other) => one.length === other.length && one.every((name, k) => name === other[k]);

/** Rows of estimates by time, one number or null per peer. */
export class History {
  constructor() {
    this.clear([]);
  }

  clear(names) {
    this.names = names;
    /** @type {number[]} */
    this.times = [];
    /** @type {(number | null)[][]} */
    this.rows = [];
    /** @type {boolean[][]} */
    this.up = [];
  }

  /** One look at all peers; the same moment is not kept twice. */
  add(time, peers) {
    if (this.times.length && time <= this.times.at(-1)) return;
    this.times.push(time);
    this.rows.push(peers.map((peer) => peer.estimate?.[0] ?? null));
    this.up.push(peers.map((peer) => peer.up));
    if (this.times.length > KEPT) for (const list of [this.times, this.rows, this.up]) list.shift();
  }

  /**
   * Everything that the server has seen, which began before this page was opened.
   * @param {{times: number[], names: string[], estimates: (number | null)[][], up?: any[]}} seen
   */
  take({ times, names, estimates, up }) {
    const newer = this.times.findIndex((time) => time > (times.at(-1) ?? -Infinity));
    const later = newer < 0 || !sameNames(names, this.names) ? null : this.from(newer);
    this.clear(names);
    this.times = [...times];
    this.rows = estimates.map((row) => [...row]);
    this.up = rowsOfUp(up, estimates);
    if (!later) return;
    this.times.push(...later.times);
    this.rows.push(...later.rows);
    this.up.push(...later.up);
  }

  from(first) {
    return { times: this.times.slice(first), rows: this.rows.slice(first), up: this.up.slice(first) };
  }

  get length() {
    return this.times.length;
  }

  /** Lowest and highest estimate so far, with a little room; [0, 1] while there is none. */
  domain() {
    let low = Infinity,
      high = -Infinity;
    for (const row of this.rows) {
      for (const x of row) {
        if (x === null) continue;
        low = Math.min(low, x);
        high = Math.max(high, x);
      }
    }
    if (low > high) return [0, 1];
    const pad = 0.02 * (high - low) || 0.5;
    return [low - pad, high + pad];
  }
}

/** Whether each peer answered; where that was not said, one with an estimate did. */
function rowsOfUp(up, estimates) {
  return estimates.map((row, k) => (Array.isArray(up?.[k]) ? up[k] : row.map((x) => x !== null)));
}
