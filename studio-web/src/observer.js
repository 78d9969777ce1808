// Who looks: one node or several, everyone but one, or somebody who taps wires. The words of the address for it.

/**
 * As the server reads it.
 * @typedef {object} Observer
 * @property {number[]} [nodes]
 * @property {number} [but]
 * @property {number[][]} [edges]
 */

/** Kinds of observers, in the order in which they are offered. */
export const KINDS = ["node", "nodes", "but", "wire"];

const whole = (text) => (/^\d{1,9}$/.test(text) ? Number(text) : NaN);
const ordered = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

/**
 * "3", "3,5", "but-3", "wire-0-1,2-3"; nobody is null.
 * @param {Observer | null} observer
 */
export function writeObserver(observer) {
  if (!observer) return null;
  if (observer.nodes) return ordered(observer.nodes).join(",");
  if (observer.but !== undefined) return `but-${observer.but}`;
  return `wire-${observer.edges.map((edge) => edge.join("-")).join(",")}`;
}

/**
 * The other way; undefined for a text that says no observer.
 * @param {string} text
 * @returns {Observer | undefined}
 */
export function readObserver(text) {
  const [, kind, rest] = /^(but-|wire-)?(.+)$/s.exec(text) ?? [];
  if (rest === undefined) return undefined;
  if (kind === "but-") return Number.isNaN(whole(rest)) ? undefined : { but: whole(rest) };
  if (kind === "wire-") {
    const edges = rest.split(",").map((pair) => pair.split("-").map(whole));
    return edges.every((pair) => pair.length === 2 && !pair.some(Number.isNaN)) ? { edges } : undefined;
  }
  const nodes = rest.split(",").map(whole);
  return nodes.some(Number.isNaN) ? undefined : { nodes: ordered(nodes) };
}

/** Which of the kinds it is; a single node may also be the first of several. */
export function kindOf(observer) {
  if (observer?.edges) return "wire";
  if (observer?.but !== undefined) return "but";
  return observer && observer.nodes.length > 1 ? "nodes" : "node";
}

/**
 * Somebody clicked a node: it becomes the observer, joins, leaves, or is the one that all others look at.
 * @param {Observer | null} observer
 * @param {string} kind
 * @param {number} node
 * @returns {Observer | null}
 */
export function withNode(observer, kind, node) {
  if (kind === "but") return observer?.but === node ? null : { but: node };
  const before = observer?.nodes ?? [];
  if (kind === "nodes") {
    const nodes = before.includes(node) ? before.filter((each) => each !== node) : ordered([...before, node]);
    return nodes.length ? { nodes } : null;
  }
  return before.length === 1 && before[0] === node ? null : { nodes: [node] };
}

/**
 * Somebody clicked an edge: it is tapped, or no longer.
 * @param {Observer | null} observer
 * @param {number[]} edge
 * @returns {Observer | null}
 */
export function withEdge(observer, edge) {
  const before = observer?.edges ?? [];
  const rest = before.filter(([i, j]) => !(i === edge[0] && j === edge[1]) && !(i === edge[1] && j === edge[0]));
  const edges = rest.length < before.length ? rest : [...before, [...edge]];
  return edges.length ? { edges } : null;
}

/**
 * Whether it can be on this graph; of a graph that is too large to be drawn the page knows no edges.
 * @param {Observer} observer
 * @param {{numNodes: number, edges: number[][]}} graph
 */
export function fits(observer, graph) {
  if (observer.nodes) return observer.nodes.every((node) => node < graph.numNodes);
  if (observer.but !== undefined) return observer.but < graph.numNodes;
  return !graph.edges?.length || observer.edges.every((edge) => edgeIndex(graph.edges, edge) >= 0);
}

/**
 * Where an edge stands in a list, in either direction; −1 if it is not there.
 * @param {number[][]} edges
 * @param {number[]} edge
 */
export function edgeIndex(edges, edge) {
  const [i, j] = edge;
  return edges.findIndex(([a, b]) => (a === i && b === j) || (a === j && b === i));
}
