// Curves: relative error on a log axis with what theory says, and values converging.
import uPlot from "uplot";
import { decades } from "./axes.js";
import { DASHES, laneColour, lineColour, themed } from "./colours.js";
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

const power = (t) => (t === null ? "" : t === 1 ? "1" : `1e${Math.round(Math.log10(t))}`.replace("-", "−"));

/** Relative errors on a logarithmic axis; all curves share both axes. */
class LogChart extends Chart {
  constructor(element, readout) {
    super(element);
    this.readout = readout;
    this.tell = (_at) => {};
  }

  /**
   * @param {{x: ArrayLike<number>, y: (number | null)[], look: object}[]} curves
   * @param {{across: string, most: number, theme: boolean}} options
   */
  drawCurves(curves, { across, most, theme }) {
    const quiet = { spanGaps: true, points: { show: false } };
    const series = [{}, ...curves.map(({ look }) => ({ ...look, ...quiet }))];
    const { bottom, top, splits } = decades(curves.map(({ y }) => y));
    const at = (plot) => (plot.cursor.left >= 0 ? Math.max(0, plot.posToVal(plot.cursor.left, "x")) : null);
    const options = () => {
      const [below, beside] = axes(across, (_, ticks) => ticks.map(power));
      return {
        scales: { x: { time: false, range: [0, most] }, y: { distr: 3, log: 10, range: [bottom, top] } },
        axes: [below, { ...beside, splits: () => splits, filter: (_, found) => found }],
        hooks: { setCursor: [(plot) => this.tell(at(plot))] },
        series,
      };
    };
    const data = uPlot.join(/** @type {any} */ (curves.map(({ x, y }) => [x, y])));
    this.render(JSON.stringify([series, most, bottom, top, theme]), options, data);
  }
}

/** The last entry of `errors` whose place in `steps` is not above `step`. */
function errorAt(steps, errors, step) {
  const after = steps.findIndex((each) => each > step);
  return errors[after < 0 ? steps.length - 1 : Math.max(0, after - 1)];
}

const lineOf = (index) => ({ stroke: laneColour(index), width: 2, dash: DASHES[index % DASHES.length] });

/** This run's error by steps, with what theory says. */
export class ErrorChart extends LogChart {
  /** lanes: [{steps, errors, theory}]; shown: which of expected, corrected, printed. */
  update(lanes, shown, numSteps, theme) {
    const curves = [];
    lanes.forEach((lane, index) => {
      curves.push({ x: lane.steps, y: lane.errors.map(positive), look: lineOf(index) });
      for (const { name, width, dash } of THEORY) {
        const curve = shown[name] && lane.theory?.[name];
        if (!curve) continue;
        const look = { stroke: laneColour(index), width, dash, alpha: 0.85 };
        curves.push({ x: lane.theory.steps, y: curve.map((x) => positive(parse(x))), look });
      }
    });
    this.tell = (step) => {
      const parts = lanes.map((lane) => `${lane.label}: ${number(errorAt(lane.steps, lane.errors, step), 3)}`);
      this.readout.textContent = step === null ? "" : `at step ${Math.round(step)}: ${parts.join("; ")}`;
    };
    this.drawCurves(curves, { across: "steps", most: numSteps, theme });
  }
}

/** All methods by what they cost: errors after the same number of messages. */
export class ComparisonChart extends LogChart {
  /** comparison: the server's {messages, lanes: [{label, messages, errors}]}. */
  update({ messages, lanes }, theme) {
    const curves = lanes.map((lane, index) => ({
      x: lane.messages,
      y: lane.errors.map((x) => positive(parse(x))),
      look: lineOf(index),
    }));
    this.tell = (spent) => {
      const parts = lanes.map((lane) => `${lane.label}: ${number(errorAt(lane.messages, lane.errors, spent), 3)}`);
      this.readout.textContent = spent === null ? "" : `after ${Math.round(spent)} messages: ${parts.join("; ")}`;
    };
    this.drawCurves(curves, { across: "messages, of all nodes together", most: messages, theme });
  }
}

export class EstimatesChart extends Chart {
  /**
   * @param {import("./live-history.js").History} history
   * @param {number | null} row  the last one that is drawn, or null for all
   * @param {boolean} theme
   */
  update(history, row, theme) {
    const { times, rows } = history;
    const count = rows.at(-1).length,
      last = times.at(-1) ?? 1;
    const shown = (column, k) => (row === null || k <= row ? column : null);
    const data = [times, ...Array.from({ length: count }, (_, peer) => rows.map((each, k) => shown(each[peer], k)))];
    const look = (peer) => ({ stroke: lineColour((peer + 0.5) / count), width: 1.6, points: { show: false } });
    const whole = row === null ? {} : { range: [times[0], last] };
    this.render(
      JSON.stringify([count, theme, row === null ? null : last]),
      () => ({
        scales: { x: { time: false, ...whole }, y: row === null ? {} : { range: history.domain() } },
        axes: axes("seconds", (_, ticks) => ticks.map((t) => number(t, 4))),
        series: [{}, ...Array.from({ length: count }, (_, peer) => look(peer))],
      }),
      /** @type {any} */ (data),
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
            stroke: quantiles ? themed("ink-soft") : lineColour(shares[k]),
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
