"""Algorithm 1 in plain Python, to be read beside the paper and compared with the kernels.

It shares nothing with the compiled path but the addresses of the random numbers: amplitudes are
powers, not running products; logarithm, sine and cosine come from :mod:`math`. The other methods are
written out in the same way in their tests. :func:`run_plainly` is different: it runs a method's own functions,
those that get compiled, in the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from ..foundation.arguments import per_node
from ..graphs.graph import Graph
from ..methods.base import Array, Method
from ..methods.noise_insertion import NoiseInsertion
from ..simulation.changing import Stage
from ..simulation.changing.running import plain_steps
from ..simulation.changing.timetable import Timetable
from ..simulation.edge_noise import share_plainly
from ..simulation.kinds import kind_of, parameters_of
from ..simulation.kinds.pair import fired_edge
from ..simulation.random.streams import Stream, normals_of

__all__ = ["algorithm_1", "run_plainly"]


def algorithm_1(
    graph: Graph, private_values: Array, method: NoiseInsertion, num_steps: int, seed: int, *, replica: int = 0
) -> Iterator[tuple[Array, Array]]:
    """Yield (x, outstanding noise) after each step, as Algorithm 1 of the paper prescribes."""
    n, stream = graph.num_nodes, Stream(seed, replica)
    sigma = per_node("noise_std", method.noise_std, n)
    phi = per_node("noise_decay", method.noise_decay, n)
    x = np.array(private_values, dtype=np.float64)
    t = np.zeros(n, dtype=np.int64)
    u = np.zeros(n)  # φ^{t−1} v^{t−1}: what w subtracts
    for step in range(num_steps):
        i, j = graph.edges[fired_edge(graph, stream, step)]
        draws = normals_of(stream.words(step))
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
    graph: Graph,
    private_values: Array,
    method: Method,
    num_steps: int,
    seed: int,
    *,
    replica: int = 0,
    coordinate: int = 0,
    stages: Sequence[Stage] = (),
) -> Iterator[Array]:
    """Yield the node table after each step of any method, its own functions run by the interpreter.

    Tables of lazy methods are settled before they are shown. ``stages`` are those of a network that changes.
    """
    nodes, parameters = method.initial(graph, private_values), parameters_of(method, graph)
    stream = Stream(seed, replica, coordinate)
    share_plainly(nodes, method, graph, stream)
    if stages:
        steps = plain_steps(method, Timetable.of(stages, graph, private_values, None), nodes, parameters, stream)
    else:
        steps = kind_of(method).plain(method, graph, nodes, parameters, stream)
    for step, _ in enumerate(islice(steps, num_steps)):
        shown = nodes.copy()
        if method.lazy:
            type(method).settle(shown, step + 1, parameters)
        yield shown
