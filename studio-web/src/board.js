// The drawing board: click to add nodes, click two nodes to join them; or write the edges as text.
import { byId, notify } from "./dom.js";
import { themed } from "./colours.js";
import { largestEnd } from "./data.js";

let nodes = [],
  edges = [],
  chosen = -1,
  dragged = -1,
  moved = false,
  onUse = (_edges) => {};

const hit = (x, y) => nodes.findIndex(([px, py]) => (px - x) ** 2 + (py - y) ** 2 < 18 ** 2);
const same =
  (a, b) =>
  ([i, j]) =>
    (i === a && j === b) || (i === b && j === a);

export function openBoard(start, use) {
  onUse = use;
  chosen = -1;
  byId("board").showModal();
  fit();
  setEdges(start);
  draw();
}

/** As many points as are seen, so that a node is as large on a phone as elsewhere. */
function fit() {
  const canvas = byId("board-canvas");
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(ratio * canvas.clientWidth);
  canvas.height = Math.round(ratio * canvas.clientHeight);
  canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  nodes = [];
}

function setEdges(list) {
  edges = list.map((e) => [...e]);
  const count = largestEnd(edges) + 1;
  const { clientWidth: width, clientHeight: height } = byId("board-canvas");
  nodes = Array.from(
    { length: count },
    (_, k) =>
      nodes[k] ?? [
        width / 2 + 0.38 * width * Math.sin((2 * Math.PI * k) / count),
        height / 2 - 0.38 * height * Math.cos((2 * Math.PI * k) / count),
      ],
  );
  writeText();
}

function writeText() {
  byId("board-text").value = edges.map((e) => e.join("-")).join(" ");
}

function draw() {
  const canvas = byId("board-canvas"),
    pen = canvas.getContext("2d");
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.strokeStyle = themed("ink-soft");
  pen.lineWidth = 2;
  for (const [i, j] of edges) {
    pen.beginPath();
    pen.moveTo(...nodes[i]);
    pen.lineTo(...nodes[j]);
    pen.stroke();
  }
  nodes.forEach(([x, y], k) => {
    pen.fillStyle = k === chosen ? "#d55e00" : "#0072b2";
    pen.beginPath();
    pen.arc(x, y, 14, 0, 2 * Math.PI);
    pen.fill();
    pen.fillStyle = "#fff";
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(String(k), x, y);
  });
}

function point(event) {
  const box = byId("board-canvas").getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function press(x, y) {
  const node = hit(x, y);
  if (node < 0) {
    nodes.push([x, y]);
    if (chosen >= 0) edges.push([chosen, nodes.length - 1]);
    chosen = nodes.length - 1;
  } else if (chosen < 0) chosen = node;
  else if (chosen === node) chosen = -1;
  else {
    const known = edges.findIndex(same(chosen, node));
    if (known >= 0) edges.splice(known, 1);
    else edges.push([Math.min(chosen, node), Math.max(chosen, node)]);
    chosen = node;
  }
  writeText();
  draw();
}

function removeLast() {
  const gone = chosen >= 0 ? chosen : nodes.length - 1;
  if (gone < 0) return;
  nodes.splice(gone, 1);
  edges = edges.filter((e) => !e.includes(gone)).map((e) => e.map((k) => (k > gone ? k - 1 : k)));
  chosen = -1;
  writeText();
  draw();
}

/** Connect the board's buttons, once. */
export function prepareBoard() {
  const canvas = byId("board-canvas"),
    dialog = byId("board");
  canvas.addEventListener("pointerdown", (event) => {
    dragged = hit(...point(event));
    moved = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged < 0 || !event.buttons) return;
    const [x, y] = point(event);
    if (!moved && (nodes[dragged][0] - x) ** 2 + (nodes[dragged][1] - y) ** 2 < 36) return;
    moved = true;
    nodes[dragged] = [x, y];
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!moved) press(...point(event));
    dragged = -1;
  });
  byId("board-remove").addEventListener("click", removeLast);
  byId("board-clear").addEventListener("click", () => {
    nodes = [];
    setEdges([]);
    chosen = -1;
    draw();
  });
  byId("board-text").addEventListener("change", () => {
    const pairs = byId("board-text")
      .value.split(/[\s,;]+/)
      .filter(Boolean)
      .map((pair) => pair.split("-").map(Number));
    if (pairs.every((p) => p.length === 2 && p.every((k) => Number.isInteger(k) && k >= 0 && k < 500))) {
      setEdges(pairs);
      draw();
    } else byId("board-message").textContent = "write edges as 0-1 1-2 2-0";
  });
  byId("board-use").addEventListener("click", () => {
    const isolated = nodes.findIndex((_, k) => !edges.some((e) => e.includes(k)));
    if (!edges.length) byId("board-message").textContent = "draw at least two nodes and join them";
    else if (isolated >= 0) byId("board-message").textContent = `node ${isolated} is not joined to any other`;
    else {
      byId("board-message").textContent = "";
      dialog.close();
      notify("");
      onUse(edges);
    }
  });
  byId("board-cancel").addEventListener("click", () => dialog.close());
}
