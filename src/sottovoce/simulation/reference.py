"""Algorithm 1 in plain Python, to be read beside the paper and to hold the kernels to account.

It shares nothing with the compiled path but the addresses of the random numbers: amplitudes are
powers, not running products; logarithm, sine and cosine come from :mod:`math`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..graphs.graph import Graph
from ..methods.base import Array, PairMethod, per_node
from ..methods.noise_insertion import NoiseInsertion
from .aliases import AliasTable
from .streams import block, edge_of, normals_of

__all__ = ["algorithm_1", "fired_edge", "run_plainly"]


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


def run_plainly(
    graph: Graph, private_values: Array, method: PairMethod, num_steps: int, seed: int, *, replica: int = 0
) -> Iterator[Array]:
    """Yield the node table after each step of any pair method, its update run by the interpreter."""
    nodes = method.initial(graph, private_values)
    parameters = method.parameters(graph)
    for step in range(num_steps):
        i, j = graph.edges[fired_edge(graph, seed, step, replica=replica)]
        draw_i, draw_j = normals_of(block(seed, replica, step))
        type(method).update(nodes, int(i), int(j), draw_i, draw_j, step, parameters)
        yield nodes.copy()
