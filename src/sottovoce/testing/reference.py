"""Algorithm 1 in plain Python, to be read beside the paper and to hold the kernels to account.

It shares nothing with the compiled path but the addresses of the random numbers: amplitudes are
powers, not running products; logarithm, sine and cosine come from :mod:`math`. The other methods are
written out in the same way in :mod:`.equations`. :func:`run_plainly` is different: it runs a method's own functions,
those that get compiled, in the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..foundation.arguments import per_node
from ..graphs.graph import Graph
from ..methods.base import Array, BlockMethod, Method, PairMethod, PushMethod, RoundMethod
from ..methods.noise_insertion import NoiseInsertion
from ..simulation.random.aliases import AliasTable
from ..simulation.random.streams import EDGE_NOISE, block, edge_of, laplace_of, normals_of

__all__ = ["algorithm_1", "edge_draw", "fired_edge", "fired_set", "node_draw", "push_target", "run_plainly"]


def fired_edge(graph: Graph, seed: int, step: int, *, replica: int = 0, aliases: AliasTable | None = None) -> int:
    """The edge that fires at one step."""
    edge, rest = edge_of(block(seed, replica, step), graph.num_edges)
    if aliases is not None and len(aliases.accept) and rest >= aliases.accept[edge]:
        return int(aliases.alias[edge])
    return edge


def algorithm_1(
    graph: Graph, private_values: Array, method: NoiseInsertion, num_steps: int, seed: int, *, replica: int = 0
) -> Iterator[tuple[Array, Array]]:
    """Yield (x, outstanding noise) after each step, as Algorithm 1 of the paper prescribes."""
    n = graph.num_nodes
    sigma = per_node("noise_std", method.noise_std, n)
    phi = per_node("noise_decay", method.noise_decay, n)
    x = np.array(private_values, dtype=np.float64)
    t = np.zeros(n, dtype=np.int64)
    u = np.zeros(n)  # φ^{t−1} v^{t−1}: what w subtracts
    for step in range(num_steps):
        i, j = graph.edges[fired_edge(graph, seed, step, replica=replica)]
        draws = normals_of(block(seed, replica, step))
        for node, draw in zip((i, j), draws, strict=True):
            v = sigma[node] * draw
            w = phi[node] ** t[node] * v - u[node]
            u[node] += w
            x[node] += w
        x[i] = x[j] = (x[i] + x[j]) / 2
        t[i] += 1
        t[j] += 1
        yield x.copy(), u.copy()


def fired_set(graph: Graph, size: int, seed: int, step: int, *, replica: int = 0) -> list[int]:
    """The edges of the set that fires at one step, by Floyd's method."""
    chosen: list[int] = []
    for place in range(size):
        last = graph.num_edges - size + place
        edge, _ = edge_of(block(seed, replica, step * size + place), last + 1)
        chosen.append(last if edge in chosen else edge)
    return chosen


def push_target(graph: Graph, node: int, seed: int, step: int, *, replica: int = 0) -> int:
    """To whom a node sends in one round: one of its neighbours or itself."""
    neighbours = graph.neighbours_of(node)
    choice, _ = edge_of(block(seed, replica, step * graph.num_nodes + node), len(neighbours) + 1)
    return node if choice == len(neighbours) else int(neighbours[choice])


def node_draw(
    method: RoundMethod, graph: Graph, node: int, seed: int, step: int, *, replica: int = 0, coordinate: int = 0
) -> float:
    """A node's draw of unit scale in one round."""
    if not method.noise or step >= method.noisy_rounds(graph):
        return 0.0
    words = block(seed, replica, step * graph.num_nodes + node, coordinate)
    return laplace_of(words) if method.noise == "laplace" else normals_of(words)[0]


def edge_draw(edge: int, seed: int, *, replica: int = 0, coordinate: int = 0) -> float:
    """The standard normal that the ends of an edge share."""
    return normals_of(block(seed, replica, edge, coordinate, EDGE_NOISE))[0]


def run_plainly(
    graph: Graph,
    private_values: Array,
    method: Method,
    num_steps: int,
    seed: int,
    *,
    replica: int = 0,
    coordinate: int = 0,
) -> Iterator[Array]:
    """Yield the node table after each step of any method, its own functions run by the interpreter.

    Tables of lazy methods are settled before they are shown.
    """
    nodes = method.initial(graph, private_values)
    parameters = method.parameters(graph)
    address = {"replica": replica, "coordinate": coordinate}
    _share_edge_noise(nodes, graph, method, seed, address)
    if isinstance(method, RoundMethod):
        mixing = method.mixing(graph)
    for step in range(num_steps):
        if isinstance(method, PairMethod):
            i, j = graph.edges[fired_edge(graph, seed, step, replica=replica)]
            draw_i, draw_j = normals_of(block(seed, replica, step, coordinate))
            type(method).update(nodes, int(i), int(j), draw_i, draw_j, step, parameters)
        elif isinstance(method, BlockMethod):
            fired = fired_set(graph, method.block_size, seed, step, replica=replica)
            type(method).update(nodes, graph.edges[fired].astype(np.int64), step, parameters)
        elif isinstance(method, RoundMethod):
            draws = [node_draw(method, graph, i, seed, step, **address) for i in range(graph.num_nodes)]
            said = np.array([type(method).send(nodes, i, draws[i], step, parameters) for i in range(graph.num_nodes)])
            for i, combined in enumerate(mixing @ said):
                type(method).receive(nodes, i, said[i], combined, step, parameters)
        elif isinstance(method, PushMethod):
            for i in range(graph.num_nodes):
                type(method).push(nodes, i, push_target(graph, i, seed, step, replica=replica))
            for i in range(graph.num_nodes):
                type(method).collect(nodes, i)
        shown = nodes.copy()
        if method.lazy:
            type(method).settle(shown, step + 1, parameters)
        yield shown


def _share_edge_noise(nodes: Array, graph: Graph, method: Method, seed: int, address: dict[str, int]) -> None:
    if method.edge_noise_field is not None:
        for edge, (i, j) in enumerate(graph.edges):
            draw = method.edge_noise_std(graph) * edge_draw(edge, seed, **address)
            nodes[i, method.edge_noise_field] += draw
            nodes[j, method.edge_noise_field] -= draw
