// Where nodes are drawn: the server's positions where the family has a customary picture, otherwise forces.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";

/** Calls `onMove(positions)` now and, while forces settle, a few more times. Returns a function that stops it. */
export function place(graph, onMove) {
  if (graph.positions) {
    onMove(graph.positions);
    return () => {};
  }
  /** @type {import("d3-force").SimulationNodeDatum[]} */
  const nodes = Array.from({ length: graph.numNodes }, () => ({}));
  const links = graph.edges.map(([source, target]) => ({ source, target }));
  const forces = forceSimulation(nodes)
    .force(
      "link",
      forceLink(links)
        .distance(30)
        .strength(graph.numNodes > 300 ? 0.5 : 0.8),
    )
    .force(
      "charge",
      forceManyBody()
        .strength(-60)
        .distanceMax(graph.numNodes > 300 ? 300 : 1000),
    )
    .force("collide", forceCollide(8))
    .force("x", forceX().strength(0.03))
    .force("y", forceY().strength(0.03))
    .stop();
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let timer = 0;
  const go = () => {
    const until = performance.now() + (still ? 1500 : 14);
    do forces.tick();
    while (performance.now() < until && forces.alpha() > forces.alphaMin());
    onMove(nodes.map(({ x, y }) => [x, y]));
    if (forces.alpha() > forces.alphaMin()) timer = setTimeout(go, 16);
  };
  for (let k = 0; k < (graph.numNodes > 300 ? 10 : 60); k += 1) forces.tick();
  go();
  return () => clearTimeout(timer);
}
