"""Who is exposed to whom: every node taken as the observer of one run, audited exactly.

What noise costs in time is :mod:`.frontiers`; what a node can promise without knowing the others is :mod:`.account`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from ..methods.base import Array, Method
from ..methods.standard import StandardGossip
from .analysers.exchanges import checked_edges, setting
from .auditing import checked_prior, gaussian_start
from .view import CuriousNodes, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Exposure", "exposure", "final_posterior", "fired_edges_of"]


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

    def plot(self) -> Figure:
        """The matrix and the graph; see :mod:`sottovoce.plotting.privacy`."""
        from ..plotting.privacy import exposure_matrix

        return exposure_matrix(self)

    def __repr__(self) -> str:
        victim = int(np.argmin(self.closest))
        return (
            f"<Exposure on {self.graph.name}, {self.num_steps} steps: most exposed is node {victim}, "
            f"±{self.closest[victim]:.3g} to node {int(self.most_knowing[victim])}>"
        )


def exposure(
    graph: Graph,
    method: Method,
    fired_edges: npt.ArrayLike | None = None,
    *,
    num_steps: int | None = None,
    seed: int = 0,
    prior_std: float | npt.ArrayLike = 1.0,
) -> Exposure:
    """Audit a run once for every node taken as the observer.

    Parameters
    ----------
    graph, method
        The network, and noise insertion or standard gossip.
    fired_edges
        The run to audit; or give ``num_steps`` and ``seed``, and the edges are those that
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
    prior = checked_prior(prior_std, graph)
    if prior is None:
        raise InvalidParameter("prior_std must be a number or one per node; an exposure matrix has no flat prior")
    edges = _fired(graph, fired_edges, num_steps, seed)
    rows = [final_posterior(graph, method, edges, CuriousNodes([node]), prior) for node in range(graph.num_nodes)]
    return Exposure(graph, method, len(edges), prior, np.array(rows))


def final_posterior(
    graph: Graph, method: Method, fired_edges: npt.NDArray[np.int64], view: View, prior: Array
) -> Array:
    """``(n,)`` posterior deviations at the end and nothing else: a third of the work of an audit."""
    prepared = setting(graph, method, view)
    known = [gaussian_start(prior[members]) for members in prepared.groups]
    for event in prepared.events(fired_edges):
        event.move(known[event.group], len(prepared.groups[event.group]))
    out = np.zeros(graph.num_nodes)
    for members, part in zip(prepared.groups, known, strict=True):
        out[members] = part.std(slice(0, len(members)))
    return out


def _fired(graph: Graph, fired_edges: npt.ArrayLike | None, num_steps: int | None, seed: int) -> npt.NDArray[np.int64]:
    if (fired_edges is None) == (num_steps is None):
        raise InvalidParameter("give either fired_edges, or num_steps with a seed")
    if fired_edges is not None:
        return checked_edges(fired_edges, graph)
    return fired_edges_of(graph, num_steps=int(num_steps or 0), seed=seed)


def fired_edges_of(graph: Graph, *, num_steps: int, seed: int) -> npt.NDArray[np.int64]:
    """The edges that :func:`sottovoce.simulate` fires with this seed, whatever the method."""
    from ..simulation import simulate

    return simulate(graph, np.zeros(graph.num_nodes), StandardGossip(), num_steps=num_steps, seed=seed).fired_edges()
