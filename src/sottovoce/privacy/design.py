"""Choosing with privacy in mind: who is exposed to whom, and what noise costs in time at equal accuracy.

Everything is measured on simulated runs and audited exactly; nothing here is a bound. What a node can
promise without knowing the others is :mod:`.account`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from ..methods.base import Array, Method, number
from ..methods.noise_insertion import NoiseInsertion
from ..methods.standard import StandardGossip
from .posterior import checked_prior, gaussian_start
from .setting import checked_edges, setting
from .view import CuriousNodes, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Exposure", "Frontier", "Point", "exposure", "final_posterior", "fired_edges_of", "frontier"]


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
        part, half = known[event.group], len(prepared.groups[event.group])
        if event.second < 0:
            part.observe(half + event.first, event.noise)
        else:
            part.mix(half + event.first, half + event.second, event.noise)
    out = np.zeros(graph.num_nodes)
    for members, part in zip(prepared.groups, known, strict=True):
        out[members] = part.std(slice(0, len(members)))
    return out


@dataclass(frozen=True)
class Point:
    """One choice of parameters, run until it reached the wanted accuracy."""

    method: str
    noise_std: float
    noise_decay: float
    steps: int | None
    """Steps until the expected error was small enough; ``None`` if it never was."""
    neighbour_std: float
    """Posterior deviation of a value to one of its neighbours, averaged over all of them."""
    worst_std: float
    """The smallest posterior deviation of any value to any single other node, averaged over runs."""


@dataclass(frozen=True, eq=False, repr=False)
class Frontier:
    """Privacy against time at equal accuracy; returned by :func:`frontier`."""

    graph: Graph
    accuracy: float
    prior_std: float
    points: tuple[Point, ...]

    def rows(self) -> list[dict[str, Any]]:
        """The points as records."""
        return [dict(vars(point)) for point in self.points]

    def efficient(self) -> list[Point]:
        """Points that no other beats in both time and what a neighbour is left uncertain of."""
        reached = sorted((p for p in self.points if p.steps is not None), key=lambda p: (p.steps, -p.neighbour_std))
        best, kept = -1.0, []
        for point in reached:
            if point.neighbour_std > best:
                kept.append(point)
                best = point.neighbour_std
        return kept

    def plot(self) -> Figure:
        """Uncertainty left against steps needed; see :mod:`sottovoce.plotting.privacy`."""
        from ..plotting.privacy import draw_frontier

        return draw_frontier(self)

    def __repr__(self) -> str:
        return (
            f"<Frontier on {self.graph.name}: {len(self.points)} choices at root-mean-square error {self.accuracy:g}>"
        )


def frontier(
    graph: Graph,
    *,
    noise_stds: Sequence[float],
    noise_decays: Sequence[float],
    accuracy: float,
    prior_std: float = 1.0,
    max_steps: int = 20_000,
    runs: int = 4,
    seed: int = 0,
) -> Frontier:
    """Time and privacy of noise insertion over a grid of (σ, φ), of standard gossip and of one-shot noise.

    All are compared at equal accuracy: root-mean-square deviation from the true mean of at most
    ``accuracy``, in expectation over 200 simulated runs with private values N(0, ``prior_std``²). Privacy is
    what single curious nodes are left uncertain of, by exact audits of ``runs`` runs of that length.

    One-shot noise is the differentially private way: every node adds N(0, s²) once and never takes it
    back, with s as large as the accuracy allows, s²/n ≤ ½ accuracy²; then all average plainly. A neighbour that
    calls first knows the value to (1/τ² + 1/s²)^{−1/2}. A Laplace draw of scale s/√2 has the same variance: the
    best *linear* estimate does as well, and its ε is √2Δ/s.

    Parameters
    ----------
    graph
        The network.
    noise_stds, noise_decays
        Grids of σ and φ.
    accuracy
        The root-mean-square deviation of the nodes' values from the true mean that counts as done.
    prior_std
        τ: spread of the private values and belief of the observers.
    max_steps
        Give up on a choice beyond this.
    runs, seed
        How many runs are audited per choice, and from which seed everything is drawn.
    """
    accuracy = number("accuracy", accuracy, low=0.0, low_open=True)
    prior_std = number("prior_std", prior_std, low=0.0, low_open=True)
    for name, count in (("max_steps", max_steps), ("runs", runs)):
        if int(count) != count or count < 1:
            raise InvalidParameter(f"{name} must be a whole number ≥ 1, got {count!r}")
    choices: list[Method] = [StandardGossip()]
    choices += [NoiseInsertion(noise_std=s, noise_decay=d) for s, d in itertools.product(noise_stds, noise_decays)]
    points = [
        _point(graph, m, accuracy=accuracy, prior_std=prior_std, max_steps=max_steps, runs=runs, seed=seed)
        for m in choices
    ]
    points.append(_one_shot(graph, accuracy=accuracy, prior_std=prior_std, max_steps=max_steps, runs=runs, seed=seed))
    return Frontier(graph, accuracy, prior_std, tuple(points))


def _point(
    graph: Graph, method: Method, *, accuracy: float, prior_std: float, max_steps: int, runs: int, seed: int
) -> Point:
    std, decay = (method.noise_std, method.noise_decay) if isinstance(method, NoiseInsertion) else (0.0, 0.0)
    steps = _steps_until(graph, method, accuracy, prior_std, max_steps, seed)
    tables = _tables(graph, method, steps or max_steps, prior_std, runs, seed)
    return _summary(graph, tables, method.name, float(np.mean(std)), float(np.mean(decay)), steps)


def _one_shot(graph: Graph, *, accuracy: float, prior_std: float, max_steps: int, runs: int, seed: int) -> Point:
    """Noise added once: plain gossip on c + noise, of which c is a share plus an independent rest."""
    noise = accuracy * math.sqrt(graph.num_nodes / 2)
    spread = math.hypot(prior_std, noise)
    steps = _steps_until(graph, StandardGossip(), accuracy / math.sqrt(2), spread, max_steps, seed)
    share, rest = (prior_std / spread) ** 2, prior_std * noise / spread
    noisy = _tables(graph, StandardGossip(), steps or max_steps, spread, runs, seed)
    return _summary(graph, [np.hypot(share * table, rest) for table in noisy], "one-shot noise", noise, 1.0, steps)


def _tables(graph: Graph, method: Method, num_steps: int, prior_std: float, runs: int, seed: int) -> list[Array]:
    return [
        exposure(graph, method, num_steps=num_steps, seed=seed + k, prior_std=prior_std).posterior_std
        for k in range(runs)
    ]


def _summary(graph: Graph, tables: list[Array], method: str, std: float, decay: float, steps: int | None) -> Point:
    beside = np.concatenate([[t[i, j], t[j, i]] for t in tables for i, j in graph.edges])
    off_diagonal = ~np.eye(graph.num_nodes, dtype=np.bool_)
    worst = float(np.mean([t[off_diagonal].min() for t in tables]))
    return Point(method, std, decay, steps, neighbour_std=float(beside.mean()), worst_std=worst)


def _steps_until(
    graph: Graph, method: Method, accuracy: float, prior_std: float, max_steps: int, seed: int
) -> int | None:
    from ..simulation import simulate

    values = np.random.default_rng(seed).normal(0.0, prior_std, graph.num_nodes)
    values *= prior_std / max(float(values.std()), 1e-300)
    grid = np.unique(np.linspace(0, max_steps, 401).astype(int))
    run = simulate(graph, values, method, num_steps=max_steps, seed=seed, replicas=200, record=grid)
    mean_square = run.squared_error.mean(axis=0) / graph.num_nodes
    reached = np.flatnonzero(mean_square > accuracy**2)
    first = 0 if len(reached) == 0 else int(reached[-1]) + 1
    return None if first >= len(run.steps) else int(run.steps[first])


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
