"""What happened in a run, recomputed from its seed: pure functions, no run needed.

(seed, replica, step) decides which edge fires (:mod:`.random.streams`), whatever the method and the private values
are. So whoever wants to know the edges of a run computes them and does not simulate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..foundation.arguments import whole
from ..graphs.graph import Graph
from .random.aliases import alias_table
from .random.streams import MAX_REPLICAS, check_seed

__all__ = ["fired_edges"]


def fired_edges(
    graph: Graph,
    *,
    num_steps: int,
    seed: int,
    replica: int = 0,
    start: int = 0,
    edge_probabilities: npt.ArrayLike | None = None,
) -> npt.NDArray[np.int64]:
    """The edges that :func:`sottovoce.simulate` fires with this seed, for any method in which one fires per step.

    Parameters
    ----------
    graph
        The network.
    num_steps
        How many steps, ≥ 0.
    seed, replica, edge_probabilities
        As in :func:`sottovoce.simulate`.
    start
        The first step, counted from 0.

    Returns
    -------
    ndarray
        ``(num_steps,)`` rows of ``graph.edges``.

    Examples
    --------
    >>> import sottovoce as sv
    >>> graph = sv.graphs.cycle(10)
    >>> fired = fired_edges(graph, num_steps=6, seed=1)
    >>> run = sv.simulate(graph, range(10), sv.StandardGossip(), num_steps=6, seed=1)
    >>> bool((fired == run.fired_edges()).all())
    True
    """
    from .random.kernels import edge_indices

    aliases = alias_table(edge_probabilities, graph.num_edges)
    out = np.empty(whole("num_steps", num_steps, low=0, high=2**62), dtype=np.int64)
    first = whole("start", start, low=0, high=2**62)
    which = whole("replica", replica, low=0, high=MAX_REPLICAS - 1)
    edge_indices(out, first, which, np.uint64(check_seed(seed)), graph.num_edges, aliases.accept, aliases.alias)
    return out
