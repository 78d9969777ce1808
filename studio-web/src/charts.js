// Curves: relative error on a log axis with what theory says, and values converging.
import uPlot from "uplot";
import { DASHES, laneColour, themed, viridis } from "./colours.js";
import { number } from "./words.js";

const FLOOR = 1e-32;
const positive = (x) => (x > FLOOR && x < 1e200 ? x : null);
const finite = (x) => (Math.abs(x) < 1e200 ? x : null);
const parse = (x) => (x === "inf" ? null : x);

function axes(xLabel, values) {
  const look = {
    stroke: themed("ink-soft"),
    grid: { stroke: themed("line"), width: 1 },
    ticks: { stroke: themed("line") },
    font: "11px system-ui, sans-serif",
  };
  return [
    {
      ...look,
      label: xLabel,
      labelSize: 18,
      size: 34,
      labelFont: "11px system-ui, sans-serif",
      values: (_, ticks) => ticks.map((t) => (t >= 1e4 ? number(t, 3) : t)),
    },
    { ...look, size: 52, values },
  ];
}

const THEORY = [
  { name: "expected", width: 2.5, dash: [1, 4] },
  { name: "corrected", width: 1.2, dash: [10, 4, 2, 4] },
  { name: "sharpened", width: 1.2, dash: [14, 5] },
  { name: "printed", width: 1.2, dash: [2, 2] },
];

class Chart {
  constructor(element) {
    this.element = element;
    this.plot = null;
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(element);
  }

  size() {
    return { width: Math.max(120, this.element.clientWidth), height: Math.max(120, this.element.clientHeight) };
  }

  /** Draw anew with these options, or only put in new data when the look is the same as before. */
  render(key, makeOptions, data) {
    if (this.plot && this.key === key) {
      this.plot.setData(data);
      return;
    }
    this.plot?.destroy();
    this.key = key;
    this.plot = new uPlot(
      { ...this.size(), legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } }, ...makeOptions() },
      data,
      this.element,
    );
  }
}

export class ErrorChart extends Chart {
  constructor(element, readout) {
    super(element);
    this.readout = readout;
  }

  /** The run's error under the pointer, in words. */
  tell(lanes, step) {
    if (step === null) {
      this.readout.textContent = "";
      return;
    }
    const parts = lanes.map((lane) => {
      let k = lane.steps.findIndex((s) => s > step);
      k = k < 0 ? lane.steps.length - 1 : Math.max(0, k - 1);
      return `${lane.label}: ${number(lane.errors[k], 3)}`;
    });
    this.readout.textContent = `at step ${Math.round(step)}: ${parts.join("; ")}`;
  }

  /** lanes: [{steps, errors, theory}]; shown: which of expected, corrected, printed. */
  update(lanes, shown, numSteps, theme) {
    const tables = [],
      series = [{}];
    this.lanes = lanes;
    lanes.forEach((lane, index) => {
      const colour = laneColour(index);
      tables.push([lane.steps, lane.errors.map(positive)]);
      series.push({ stroke: colour, width: 2, dash: DASHES[index], spanGaps: true, points: { show: false } });
      for (const { name, width, dash } of THEORY) {
        const curve = shown[name] && lane.theory?.[name];
        if (!curve) continue;
        tables.push([lane.theory.steps, curve.map((x) => positive(parse(x)))]);
        series.push({ stroke: colour, width, dash, alpha: 0.85, spanGaps: true, points: { show: false } });
      }
    });
    const data = uPlot.join(tables);
    const lowest = Math.min(...tables.flatMap((t) => t[1].filter((x) => x !== null)), 1);
    const highest = Math.max(...tables.flatMap((t) => t[1].filter((x) => x !== null)), 1);
    const bottom = 10 ** Math.floor(Math.log10(Math.max(lowest, 1e-17)) - 0.2),
      top = 10 ** Math.ceil(Math.log10(Math.min(highest, 1e20)) + 0.05);
    const decades = Math.log10(top / bottom),
      every = Math.max(1, Math.ceil(decades / 7));
    const splits = [];
    for (let power = Math.round(Math.log10(bottom)); power <= Math.round(Math.log10(top)); power += 1)
      if (power % every === 0) splits.push(10 ** power);
    const key = JSON.stringify([series, numSteps, bottom, top, theme]);
    this.render(
      key,
      () => ({
        scales: { x: { time: false, range: [0, numSteps] }, y: { distr: 3, log: 10, range: [bottom, top] } },
        axes: axes("steps", (_, ticks) =>
          ticks.map((t) => (t === null ? "" : t === 1 ? "1" : `1e${Math.round(Math.log10(t))}`.replace("-", "−"))),
        ).map((axis, k) => (k ? { ...axis, splits: () => splits, filter: (_, s) => s } : axis)),
        hooks: {
          setCursor: [
            (plot) =>
              this.tell(this.lanes, plot.cursor.left >= 0 ? Math.max(0, plot.posToVal(plot.cursor.left, "x")) : null),
          ],
        },
        series,
      }),
      data,
    );
  }
}

export class EstimatesChart extends Chart {
  /** history: {times, columns}: one estimate per peer and moment, null where there is none. */
  update(history, theme) {
    const count = history.columns.at(-1).length;
    const data = [
      history.times,
      ...Array.from({ length: count }, (_, k) => history.columns.map((column) => column[k])),
    ];
    this.render(
      JSON.stringify([count, theme]),
      () => ({
        scales: { x: { time: false } },
        axes: axes("seconds", (_, ticks) => ticks.map((t) => number(t, 4))),
        series: [
          {},
          ...Array.from({ length: count }, (_, k) => ({
            stroke: viridis((k + 0.5) / count),
            width: 1.6,
            points: { show: false },
          })),
        ],
      }),
      data,
    );
  }
}

export class ValuesChart extends Chart {
  /** trace: {steps: [], columns: [[...], mean last]}; colours one per followed node, or null for quantiles. */
  update(trace, { shares, trueMean, numSteps, quantiles, theme, domain }) {
    const count = trace.columns[0].length - 1;
    const rows = Array.from({ length: count + 1 }, (_, k) => trace.columns.map((column) => finite(column[k])));
    const data = [trace.steps, ...rows, trace.steps.map(() => trueMean)];
    const fine = quantiles ? 1.2 : Math.max(0.8, Math.min(1.6, 24 / count));
    const key = JSON.stringify([count, numSteps, shares, theme, trueMean, domain]);
    const span = domain[1] - domain[0];
    this.render(
      key,
      () => ({
        scales: {
          x: { time: false, range: [0, numSteps] },
          y: {
            range: (_, low, high) => [
              Math.min(low ?? domain[0], domain[0]) - 0.04 * span,
              Math.max(high ?? domain[1], domain[1]) + 0.04 * span,
            ],
          },
        },
        axes: axes("steps", (_, ticks) => ticks.map((t) => number(t, 3))),
        bands: quantiles
          ? [
              { series: [7, 1], fill: "rgba(86,180,233,.15)" },
              { series: [6, 2], fill: "rgba(86,180,233,.25)" },
              { series: [5, 3], fill: "rgba(86,180,233,.35)" },
            ]
          : [],
        series: [
          {},
          ...Array.from({ length: count }, (_, k) => ({
            stroke: quantiles ? themed("ink-soft") : viridis(shares[k]),
            width: fine,
            alpha: quantiles ? 0.6 : 0.85,
            points: { show: false },
          })),
          { stroke: themed("ink"), width: 2.2, points: { show: false } },
          { stroke: themed("ink"), width: 1, dash: [4, 4], points: { show: false } },
        ],
      }),
      data,
    );
  }
}
