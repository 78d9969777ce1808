"""Who is exposed to whom: every node taken as the observer of one run, audited exactly.

What noise costs in time is :mod:`.frontiers`; what a node can promise alone is :mod:`.gaussian.account`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..graphs.graph import Graph, check_graph
from ..graphs.naming import NodeNumber
from ..methods.base import Array, Method
from .auditing import find_analyser, simulated_run
from .prior import checked_prior
from .view import CuriousNodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

__all__ = ["Exposure", "exposure"]


@dataclass(frozen=True, eq=False, repr=False)
class Exposure:
    """Who knows what about whom at the end of one run; returned by :func:`exposure`."""

    graph: Graph
    method: Method
    num_steps: int
    prior_std: Array
    posterior_std: Array
    """``(n, n)``: entry [a, i] is how closely curious node a knows the value of node i; zero on the diagonal."""

    @property
    def variance_leaked(self) -> Array:
        """``(n, n)`` share of the prior variance that a's view removed; one on the diagonal."""
        return 1.0 - (self.posterior_std / self.prior_std) ** 2

    @property
    def most_knowing(self) -> npt.NDArray[np.int64]:
        """``(n,)`` for each value the other node that knows it best."""
        others = self.posterior_std + np.diag(np.full(self.graph.num_nodes, math.inf))
        return np.asarray(np.argmin(others, axis=0))

    @property
    def closest(self) -> Array:
        """``(n,)`` how closely each value is known to the node that knows it best."""
        return self.posterior_std[self.most_knowing, np.arange(self.graph.num_nodes)]

    def plot(self, axes: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
        """The matrix and the graph; see :func:`sottovoce.plotting.plot_matrix`."""
        from ..plotting.privacy import plot_matrix

        return plot_matrix(self, axes)

    def __repr__(self) -> str:
        victim = int(np.argmin(self.closest))
        return (
            f"<Exposure on {self.graph.name}, {self.num_steps} steps: most exposed is {self.graph.label(victim)}, "
            f"±{self.closest[victim]:.3g} to {self.graph.label(int(self.most_knowing[victim]))}>"
        )


def exposure(
    graph: Graph,
    method: Method,
    fired_edges: npt.ArrayLike | None = None,
    *,
    num_steps: int | None = None,
    seed: int = 0,
    prior_std: float | npt.ArrayLike | Mapping[Any, Any] = 1.0,
) -> Exposure:
    """Audit a run once for every node taken as the observer.

    Parameters
    ----------
    graph, method
        The network, and any method that :func:`audit` covers.
    fired_edges
        The run to audit, as :func:`audit` takes it; or give ``num_steps`` and ``seed``, and the edges are those that
        :func:`sottovoce.simulate` fires with them.
    prior_std
        What every observer believes beforehand.

    Examples
    --------
    >>> import sottovoce as sv
    >>> who = exposure(sv.graphs.path(3), sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5), [0, 1, 0])
    >>> who.posterior_std[0].round(6).tolist()
    [0.0, 0.645497, 0.816497]
    """
    check_graph(graph)
    prior = checked_prior(prior_std, graph)
    if prior is None:
        raise InvalidParameter("prior_std must be a number or one per node; an exposure matrix has no flat prior")
    if (fired_edges is None) == (num_steps is None):
        raise InvalidParameter("give either fired_edges, or num_steps with a seed")
    views = [CuriousNodes([NodeNumber(node)]) for node in range(graph.num_nodes)]
    analyser, released = find_analyser(graph, method, views[0])
    if fired_edges is None:
        fired_edges = simulated_run(graph, method, num_steps=num_steps or 0, seed=seed)
    run = analyser.checked_run(fired_edges, graph)
    rows = [analyser.final_posterior(graph, released, run, view, prior) for view in views]
    return Exposure(graph, method, run if isinstance(run, int) else len(run), prior, np.array(rows))
