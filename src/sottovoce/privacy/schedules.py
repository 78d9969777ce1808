"""What neighbours will know, before anything runs: exposure over random schedules.

How much a neighbour learns depends on which edges happen to fire first. Here the schedule is random, as it will be, and
the question is how much of every value is left in at least a given share of runs. On small graphs all schedules are
gone through, so the answer is exact; otherwise some are drawn, and the answer comes with a confidence interval that
needs no assumption (order statistics; Clopper and Pearson 1934). Each schedule is audited exactly, by the
analyser that :func:`~sottovoce.privacy.audit` uses.

Who is exposed to whom in one run is :mod:`.exposures`; what everyone but one node together knows needs no schedule but
only counts (:mod:`sottovoce.theory.gossip.counts`); edges that are sealed make the schedule irrelevant
(:mod:`.gaussian.seals`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, Unsupported
from ..foundation.arguments import number, whole
from ..foundation.progress import Progress
from ..graphs.chances import Chances
from ..graphs.graph import Graph, check_graph
from ..graphs.naming import NodeNumber, node_number
from ..methods.base import Array, Method
from .auditing import find_analyser
from .prior import checked_prior
from .view import CuriousNodes

__all__ = ["ExposureQuantile", "exposure_quantile"]

MOST_AUDITS = 20_000
"""Schedules times coalitions up to which all schedules are gone through."""
MOST_COALITIONS = 20_000

Coalition = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ExposureQuantile:
    """What is left of the values over random schedules; returned by :func:`exposure_quantile`."""

    graph: Graph
    method: Method
    num_steps: int
    nodes: npt.NDArray[np.int64]
    """``(v,)`` the nodes asked about."""
    probability: float
    confidence: float
    exact: bool
    """Whether every schedule was gone through."""
    chances: Array
    """``(r,)`` how likely each schedule is; all equal if they were drawn."""
    left: Array
    """``(r, v)`` deviation that the coalition which knows most leaves of each value, in each schedule."""

    @property
    def std(self) -> float:
        """In at least ``probability`` of runs every coalition is left with this deviation of every value, or more."""
        return _quantile(self.left.min(axis=1), self.chances, self.probability)

    @property
    def std_interval(self) -> tuple[float, float]:
        """:attr:`std` of all schedules lies here with ``confidence``; one number if the answer is exact."""
        if self.exact:
            return self.std, self.std
        return quantile_interval(self.left.min(axis=1), self.probability, self.confidence)

    @property
    def node_std(self) -> Array:
        """``(v,)`` the same for each node alone: no promise for all of them at once."""
        return np.array([_quantile(column, self.chances, self.probability) for column in self.left.T])

    @property
    def mean(self) -> float:
        """Expected deviation of the most exposed value."""
        return float(self.chances @ self.left.min(axis=1))

    @property
    def mean_interval(self) -> tuple[float, float]:
        """:attr:`mean` of all schedules lies here with about ``confidence`` (normal approximation)."""
        if self.exact:
            return self.mean, self.mean
        from scipy.special import ndtri

        sample = self.left.min(axis=1)
        reach = float(ndtri(0.5 + 0.5 * self.confidence)) * float(sample.std(ddof=1)) / math.sqrt(len(sample))
        return self.mean - reach, self.mean + reach

    def kept(self, std: float) -> tuple[float, float]:
        """How often every value keeps at least this deviation: an interval with ``confidence``; one number if exact."""
        hits = float(self.chances @ (self.left.min(axis=1) >= std))
        if self.exact:
            return hits, hits
        return _share_interval(round(hits * len(self.left)), len(self.left), self.confidence)

    def __repr__(self) -> str:
        how = "all schedules" if self.exact else f"{len(self.left)} schedules drawn"
        low, high = self.std_interval
        between = "" if self.exact else f" (between {low:.3g} and {high:.3g} with {self.confidence:.4g})"
        return (
            f"<ExposureQuantile on {self.graph.name}, {self.num_steps} steps, {how}: in {self.probability:.4g} of runs "
            f"at least ±{self.std:.3g} is left{between}, ±{self.mean:.3g} on average>"
        )


def exposure_quantile(
    graph: Graph,
    method: Method,
    *,
    num_steps: int,
    size: int = 1,
    nodes: Iterable[int | str] | None = None,
    coalitions: Iterable[Iterable[int | str]] | None = None,
    probability: float = 0.95,
    prior_std: float | npt.ArrayLike | Mapping[Any, Any] = 1.0,
    edge_probabilities: npt.ArrayLike | None = None,
    schedules: int = 200,
    seed: int = 0,
    confidence: float = 0.95,
    progress: Callable[[int, int], object] | bool | None = None,
) -> ExposureQuantile:
    """How much of every value a random schedule leaves, in at least ``probability`` of runs, against small coalitions.

    Parameters
    ----------
    graph, method
        The network, and any method of exchanges that :func:`audit` covers.
    num_steps
        How many edges fire.
    size
        A node is exposed to every set of so many of its neighbours that pool what they know (all of them, if it has
        fewer). 1: single curious neighbours.
    nodes
        Whose values are asked about, by number or name; ``None``: all.
    coalitions
        Instead of ``size``: these sets of nodes, against every node that is asked about and not in them.
    probability
        In (0, 1): the share of runs in which the answer holds for all nodes and coalitions at once.
    prior_std
        What every coalition believes beforehand, τ > 0.
    edge_probabilities
        ``(m,)`` chance of each edge, or ``None`` for equal ones.
    schedules, seed
        How many schedules are drawn where they cannot all be gone through, and from which seed: they are those of
        the replicas of :func:`sottovoce.simulate` with that seed.
    confidence
        Of the intervals.
    progress
        As in :func:`audit`.

    Returns
    -------
    ExposureQuantile
        It takes one audit for every schedule and coalition: ask about few nodes of a large graph.

    Raises
    ------
    Unsupported
        If there are more than :data:`MOST_COALITIONS` coalitions.

    Examples
    --------
    A triangle and two steps, of which node 0 hears both, one or none. It reads node 1 best when their edge fires
    twice (one schedule of nine): then ± 1/√(1 + 1 + 1/0.25) is left.

    >>> import sottovoce as sv
    >>> noisy = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)
    >>> found = exposure_quantile(sv.graphs.complete(3), noisy, num_steps=2, coalitions=[[0]], nodes=[1])
    >>> found.exact, round(found.std, 6), round(found.kept(0.5)[0], 6)
    (True, 0.408248, 0.888889)
    """
    check_graph(graph)
    prior = checked_prior(prior_std, graph)
    if prior is None:
        raise InvalidParameter("prior_std must be a number or one per node; there is no flat prior here")
    for name, value in (("probability", probability), ("confidence", confidence)):
        number(name, value, low=0.0, high=1.0, low_open=True, high_open=True)
    asked = _asked(nodes, graph)
    exposed = _exposed(graph, asked, size, coalitions)
    analyser, released = find_analyser(graph, method, _view(next(iter(exposed))))
    if released.in_rounds or released.by_nodes:
        raise Unsupported(f"{method.name} works in rounds or node by node and has no schedule of edges; audit it")
    edges = Chances(graph, edge_probabilities).edges
    steps = whole("num_steps", num_steps, low=0, high=2**40)
    firing = int(np.count_nonzero(edges))
    exact = firing ** min(steps, 64) * len(exposed) <= MOST_AUDITS and (firing == 1 or steps <= 64)
    count = firing**steps if exact else whole("schedules", schedules, low=2, high=2**32)
    runs = _all_schedules(edges, steps) if exact else _drawn(graph, steps, seed, count, edge_probabilities)
    chances, left = np.empty(count), np.full((count, len(asked)), math.inf)
    with Progress(count, "going through schedules", report=progress) as bar:
        for row, (run, chance) in enumerate(runs):
            chances[row] = chance
            for coalition, columns in exposed.items():
                known = analyser.final_posterior(graph, released, run, _view(coalition), prior)
                left[row, columns] = np.minimum(left[row, columns], known[asked[columns]])
            bar.at(row + 1)
    return ExposureQuantile(graph, method, steps, asked, probability, confidence, exact, chances, left)


def _all_schedules(edges: Array, steps: int) -> Iterator[tuple[npt.NDArray[np.int64], float]]:
    for fired in itertools.product(np.flatnonzero(edges).tolist(), repeat=steps):
        run = np.array(fired, dtype=np.int64)
        yield run, float(np.prod(edges[run]))


def _drawn(
    graph: Graph, steps: int, seed: int, count: int, edge_probabilities: npt.ArrayLike | None
) -> Iterator[tuple[npt.NDArray[np.int64], float]]:
    from ..simulation.replay import fired_edges

    for replica in range(count):
        run = fired_edges(graph, num_steps=steps, seed=seed, replica=replica, edge_probabilities=edge_probabilities)
        yield run, 1.0 / count


def _view(coalition: Coalition) -> CuriousNodes:
    return CuriousNodes(NodeNumber(node) for node in coalition)


def _asked(nodes: Iterable[int | str] | None, graph: Graph) -> npt.NDArray[np.int64]:
    if nodes is None:
        return np.arange(graph.num_nodes)
    found = sorted({node_number(graph, node, "nodes") for node in nodes})
    if not found:
        raise InvalidParameter("nodes must name at least one node, got none")
    return np.array(found, dtype=np.int64)


def _exposed(
    graph: Graph, asked: npt.NDArray[np.int64], size: int, coalitions: Iterable[Iterable[int | str]] | None
) -> dict[Coalition, list[int]]:
    """Which places of ``asked`` each coalition looks at."""
    exposed: dict[Coalition, list[int]] = {}
    if coalitions is not None:
        for given in coalitions:
            members = tuple(np.flatnonzero(CuriousNodes(given).observers(graph)).tolist())
            exposed[members] = [place for place, node in enumerate(asked.tolist()) if node not in members]
    else:
        whole("size", size, low=1, high=graph.num_nodes - 1)
        for place, node in enumerate(asked.tolist()):
            near = sorted(graph.neighbours_of(node).tolist())
            few = min(size, len(near))
            if len(exposed) + math.comb(len(near), few) > MOST_COALITIONS:
                raise Unsupported(
                    f"there are more than {MOST_COALITIONS:,} coalitions of {size} neighbours; ask about fewer nodes, "
                    "or name the coalitions"
                )
            for members in itertools.combinations(near, few):
                exposed.setdefault(members, []).append(place)
    if not any(exposed.values()):
        raise InvalidParameter("coalitions must leave at least one of the nodes outside, got none that does")
    return exposed


def _quantile(values: Array, chances: Array, probability: float) -> float:
    """The largest number that is reached or exceeded with at least this probability."""
    order = np.argsort(values)
    below = np.concatenate([[0.0], np.cumsum(chances[order])[:-1]])
    # What lies below a number may have the chance 1 − probability at most, up to rounding of the sum.
    return float(values[order][np.flatnonzero(below <= 1.0 - probability + 1e-12)[-1]])


def quantile_interval(sample: Array, probability: float, confidence: float) -> tuple[float, float]:
    """Between which order statistics of an independent sample the quantile lies, whatever the law.

    The quantile is the largest d with P(D ≥ d) ≥ ``probability``. At least l of r draws are at most d with the chance
    P(Bin(r, 1 − probability) ≥ l), so the l-th smallest is a lower limit; likewise above. Zero and infinity
    where the sample is too small to say anything.

    Examples
    --------
    >>> quantile_interval(np.arange(100.0), 0.9, 0.95)
    (4.0, 16.0)
    """
    import scipy.stats

    ordered, size = np.sort(sample), len(sample)
    outside = 0.5 * (1.0 - confidence)
    low = int(scipy.stats.binom.ppf(outside, size, 1.0 - probability))
    high = int(scipy.stats.binom.isf(outside, size, 1.0 - probability))
    return (float(ordered[low - 1]) if low else 0.0), (float(ordered[high]) if high < size else math.inf)


def _share_interval(hits: int, size: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share."""
    from scipy.special import betaincinv

    outside = 0.5 * (1.0 - confidence)
    low = 0.0 if hits == 0 else float(betaincinv(hits, size - hits + 1, outside))
    high = 1.0 if hits == size else float(betaincinv(hits + 1, size - hits, 1.0 - outside))
    return low, high
