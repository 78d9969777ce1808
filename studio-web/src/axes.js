// What axes span, for lists of any length.

/** Lowest and highest number of lists that may be long; what is null does not count. */
function extremes(lists, low, high) {
  for (const list of lists) {
    for (const x of list) {
      if (x === null) continue;
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
  }
  return [low, high];
}

/** Whole powers of ten around what is drawn, and which of them are written at the axis. */
export function decades(lists) {
  const [lowest, highest] = extremes(lists, 1, 1);
  const first = Math.floor(Math.log10(Math.max(lowest, 1e-17)) - 0.2),
    last = Math.ceil(Math.log10(Math.min(highest, 1e20)) + 0.05);
  const every = Math.max(1, Math.ceil((last - first) / 7));
  const powers = Array.from({ length: last - first + 1 }, (_, k) => first + k).filter((power) => power % every === 0);
  return { bottom: 10 ** first, top: 10 ** last, splits: powers.map((power) => 10 ** power) };
}

/** What all value curves lie in, so that several methods are drawn on the same axis. */
export function commonDomain(traces, domain) {
  const columns = traces.flatMap((trace) => trace.columns);
  return extremes(columns, domain[0], domain[1]).map((x, k) => (Math.abs(x) < 1e200 ? x : domain[k]));
}
