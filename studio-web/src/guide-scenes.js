// The scenes of the guide, one idea each. A scene has beats; show(beat) draws one of them whole, whatever came before.
import { beliefs, errors, noise, uncertainties } from "./guide-plots.js";
import { HIDDEN, RADIUS, fixed, signed, svg, words } from "./guide-stage.js";

const LEFT = [140, 300];
const RIGHT = [460, 300];
const LARGE = 1.7;
const LONGEST_SHOWN = 1600;

/**
 * @typedef {object} Scene
 * @property {number} beats
 * @property {(beat: number) => number} pace milliseconds until the next beat; 0: the reader chooses
 * @property {(beat: number) => string} show
 * @property {number} [first] the beat to begin with
 */

/**
 * All scenes by name. show() returns the sentence that says what is to be seen.
 *
 * @param {import("./guide-stage.js").Stage} stage
 * @param {any} story what the server tells
 * @returns {Record<string, Scene>}
 */
export function scenes(stage, story) {
  return {
    secrets: secrets(stage, story),
    exchange: exchange(stage, story),
    neighbour: neighbour(stage, story),
    noise: withdrawal(stage, story),
    price: price(stage, story),
    seals: seals(stage, story),
    answer: answer(stage, story),
  };
}

function secrets(stage, { privateValues, you }) {
  return {
    beats: 2,
    pace: () => 3200,
    show(beat) {
      stage.ring();
      privateValues.forEach((value, node) => {
        const covered = beat === 1 && node !== you;
        stage.hold(node, covered ? HIDDEN : fixed(value, 3));
        stage.mark(node, "hidden", covered);
      });
      if (beat === 0) return "Ten numbers, as nobody in the network ever sees them.";
      return "This is what you see: your own number, and nine people who keep theirs to themselves.";
    },
  };
}

function exchange(stage, { exchanges, privateValues }) {
  const [mine, theirs] = exchanges[0].sides;
  const places = [
    [mine, LEFT],
    [theirs, RIGHT],
  ];
  const say = [
    `You hold ${fixed(mine.held, 3)}, your neighbour ${fixed(theirs.held, 3)}.`,
    `Each adds noise, a random number: you ${signed(mine.added, 3)}, your neighbour ${signed(theirs.added, 3)}.`,
    `Only then do you speak. You say ${fixed(mine.said, 3)} and hear ${fixed(theirs.said, 3)}.`,
    `Both keep the average of what was said: ${fixed(mine.after, 3)}.`,
  ];
  return {
    beats: 4,
    pace: () => 3000,
    show(beat) {
      stage.ring();
      privateValues.forEach((_, node) => stage.hold(node, HIDDEN));
      stage.fade([mine.node, theirs.node], 0);
      stage.lines.style.opacity = "0";
      stage.name(mine.node, "you", 2.1);
      stage.name(theirs.node, "your neighbour", 2.1);
      stage.behind.append(svg("line", { class: "wire", x1: LEFT[0], y1: LEFT[1], x2: RIGHT[0], y2: RIGHT[1] }));
      for (const [side, [x, y]] of places) {
        stage.place(side.node, x, y, { scale: LARGE });
        stage.hold(side.node, fixed(beat < 3 ? side.held : side.after, 3));
        stage.halo(side.node, beat > 0 ? side.added : 0);
        if (beat === 1) stage.front.append(sum(x, y, side));
        if (beat === 2) stage.front.append(message(side.said, side === mine));
      }
      return say[beat];
    },
  };
}

/** What a node is about to say, as a sum below it. */
function sum(x, y, { held, added, said }) {
  const below = y + LARGE * RADIUS * 1.95 + 30;
  const sign = added < 0 ? "−" : "+";
  const group = svg("g", { class: "sum" });
  group.append(words(x, below, `${fixed(held, 3)} ${sign} ${fixed(Math.abs(added), 3)}`, { class: "arithmetic" }));
  group.append(words(x, below + 28, `= ${fixed(said, 3)}`, { class: "arithmetic strong" }));
  return group;
}

/** A message on its way, yours above the wire and the other below it. */
function message(said, mine) {
  const [from, to] = mine ? [LEFT, RIGHT] : [RIGHT, LEFT];
  const y = LEFT[1] + (mine ? -26 : 26);
  const group = svg("g", { class: mine ? "message mine" : "message" });
  group.append(svg("rect", { x: -40, y: -18, width: 80, height: 36, rx: 18 }));
  group.append(words(0, 6, fixed(said, 3)));
  const start = from[0] + Math.sign(to[0] - from[0]) * 92;
  const end = to[0] - Math.sign(to[0] - from[0]) * 92;
  group.style.setProperty("--from", `translate(${start}px, ${y}px)`);
  group.style.setProperty("--to", `translate(${end}px, ${y}px)`);
  return group;
}

function neighbour(stage, { heard, you, curious, privateValues }) {
  const { before, noisy, plain } = heard;
  return {
    beats: 2,
    pace: () => 4200,
    show(beat) {
      stage.ring();
      const open = beat === 0;
      privateValues.forEach((_, node) => stage.hold(node, HIDDEN));
      stage.hold(you, open ? fixed(plain.mean, 3) : HIDDEN);
      stage.mark(you, "exposed", open);
      stage.mark(curious, "curious");
      stage.hold(curious, "");
      stage.name(curious, "curious");
      stage.fade([you, curious], 0.25);
      stage.lines.style.opacity = "0.3";
      const belief = { ...(open ? plain : noisy), kind: open ? "exact" : "noisy" };
      stage.behind.append(beliefs({ before, beliefs: [belief], truth: privateValues[you] }));
      stage.behind.append(words(300, 196, open ? "without noise" : "with noise", { class: "title" }));
      if (open)
        return `Without noise your first message is your number, ${fixed(plain.mean, 3)}: now it is known exactly.`;
      return (
        `With noise, after the whole run, its best guess is ${fixed(noisy.mean)} ± ${fixed(noisy.std)}. ` +
        `Beforehand it was ${fixed(before.mean)} ± ${fixed(before.std)} (dashed).`
      );
    },
  };
}

function withdrawal(stage, { run, exchanges, you, trueMean, decay }) {
  const mine = exchanges.map(({ step, sides }) => ({ step, ...sides.find((side) => side.node === you) }));
  const last = run.steps.length - 1;
  return {
    beats: run.steps.length,
    pace: (beat) => (run.steps[beat] < 16 ? 420 : run.steps[beat] < 41 ? 160 : 70),
    show(beat) {
      stage.clear();
      if (beat === 0) stage.ring();
      stage.show({ values: run.values[beat], outstanding: run.outstanding[beat], fired: run.fired[beat] });
      const done = mine.filter(({ step }) => step <= run.steps[beat]);
      stage.behind.append(words(300, 212, `step ${run.steps[beat]}`, { class: "title" }));
      stage.behind.append(
        noise(
          mine.map(({ added }) => added),
          done.length,
          decay,
        ),
      );
      stage.behind.append(words(300, 424, "your noise, one conversation after the other", { class: "tick" }));
      if (beat < last) return "Orange is noise that is still in. Each conversation takes out the old and puts in less.";
      return `Nothing is left of the noise, and all ten hold ${fixed(trueMean, 4)}.`;
    },
  };
}

function price(stage, { price: { standard, choices, accuracy } }) {
  return {
    beats: choices.length,
    pace: () => 0, // the reader chooses
    show(beat) {
      const chosen = choices[beat];
      stage.ring();
      stage.fade([], 0);
      stage.lines.style.opacity = "0";
      stage.behind.append(errors({ standard, chosen, accuracy, longest: LONGEST_SHOWN }));
      const { reached } = chosen;
      return (
        `With φ = ${chosen.decay} the error is expected to fall to a millionth after ${reached} steps; ` +
        `gossip without any noise needs ${standard.reached} (grey).`
      );
    },
  };
}

function seals(stage, { sealed, graph, privateValues, you, trueMean, heard }) {
  const { unlucky } = sealed;
  const held = [(node) => (node === you ? fixed(privateValues[you], 3) : HIDDEN), (node) => fixed(sealed.start[node])];
  return {
    beats: 3,
    pace: () => 4200,
    show(beat) {
      stage.ring();
      privateValues.forEach((_, node) => stage.hold(node, held[beat]?.(node) ?? HIDDEN));
      if (beat < 2) graph.edges.forEach(([i, j], edge) => stage.front.append(...seal(stage, i, j, sealed.seals[edge])));
      if (beat === 0) {
        stage.behind.append(words(300, 306, "one adds, one subtracts", { class: "title" }));
        return "Before anything is said, two neighbours share a random number: one adds it, the other subtracts it.";
      }
      if (beat === 1) {
        stage.behind.append(words(300, 290, "the average is still", { class: "tick" }));
        stage.behind.append(words(300, 326, fixed(trueMean, 4), { class: "title" }));
        return "These are the numbers with which they begin to talk. All seals cancel in the sum.";
      }
      stage.mark(unlucky.observer, "curious");
      stage.hold(unlucky.observer, "");
      stage.fade([unlucky.node, unlucky.observer], 0.25);
      stage.lines.style.opacity = "0.3";
      stage.name(unlucky.node, `node ${unlucky.node}`);
      stage.behind.append(
        uncertainties(
          [
            { name: "before the run", std: heard.before.std, kind: "before" },
            { name: "noise alone", std: unlucky.noisy, kind: "exposed" },
            { name: "sealed edges and noise", std: unlucky.sealed, kind: "sealed" },
            { name: "from the average alone", std: heard.answer.std, kind: "before" },
          ],
          heard.before.std,
        ),
      );
      return (
        `How uncertain somebody else stays about node ${unlucky.node}: with noise alone ± ${fixed(unlucky.noisy)}, ` +
        `with sealed edges ± ${fixed(unlucky.sealed)}.`
      );
    },
  };
}

/** The shared number at both ends of an edge, inside the ring. */
function seal(stage, i, j, amount) {
  const [x1, y1] = stage.spot(i);
  const [x2, y2] = stage.spot(j);
  const at = (share) => [300 + 0.86 * (x1 + share * (x2 - x1) - 300), 300 + 0.86 * (y1 + share * (y2 - y1) - 300) + 5];
  const one = words(...at(0.28), signed(amount, 1), { class: "seal" });
  const other = words(...at(0.72), signed(-amount, 1), { class: "seal" });
  return [one, other];
}

function answer(stage, { sealed, you, privateValues, heard, trueMean }) {
  const { anybody } = sealed;
  const last = sealed.values.at(-1);
  return {
    beats: 1,
    pace: () => 0,
    show() {
      stage.ring();
      last.forEach((value, node) => stage.hold(node, fixed(value, 4)));
      stage.behind.append(
        beliefs({ before: heard.before, beliefs: [{ ...anybody, kind: "noisy" }], truth: privateValues[you] }),
      );
      stage.behind.append(words(300, 212, "what anybody knows of yours", { class: "title small" }));
      return (
        `All ten hold ${fixed(trueMean, 4)}. ` +
        `Nobody can say more of yours than ${fixed(anybody.mean)} ± ${fixed(anybody.std)}; ` +
        `the average alone already gives ${fixed(anybody.answer.mean)} ± ${fixed(anybody.answer.std)}.`
      );
    },
  };
}
