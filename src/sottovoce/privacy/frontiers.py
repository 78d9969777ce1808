"""Choosing with privacy in mind: what noise costs in time at equal accuracy, for several ways to add it.

Accuracy is measured on simulated runs, or exact where theory has it; privacy is audited. Nothing here is a bound.
Who is exposed to whom in one run is :mod:`.exposures`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._version import __version__
from ..foundation.arguments import number, whole
from ..foundation.files import write_atomically
from ..graphs.graph import Graph, check_graph
from ..methods.base import Array, Method
from ..methods.huang import Huang
from ..methods.noise_insertion import NoiseInsertion
from ..methods.nozari import Nozari
from ..methods.standard import StandardGossip
from ..theory import huang_variance, laplace_error, nozari_variance
from .exposures import exposure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Frontier", "Point", "frontier"]


@dataclass(frozen=True)
class Point:
    """One choice of parameters, run until it reached the wanted accuracy."""

    method: str
    noise_std: float
    """Standard deviation of the first noise."""
    noise_decay: float
    steps: int | None
    """Steps until the expected error was small enough; ``None`` if it never was. A round counts as as many steps as
    exchanges send the same number of messages: one per edge."""
    neighbour_std: float
    """Posterior deviation of a value to one of its neighbours, averaged over all of them."""
    worst_std: float
    """The smallest posterior deviation of any value to any single other node, averaged over runs."""
    epsilon: float | None = None
    """For Laplace noise: ε of all messages together, for two values one prior deviation apart."""


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

    def to_csv(self, path: str | PathLike[str], *, comments: str = "") -> None:
        """Write the points, a line each; what was asked stands above them in comments, with yours below it."""
        rows = self.rows()
        asked = (
            f"# {self.graph.name}, accuracy {self.accuracy:g}, prior_std {self.prior_std:g}, sottovoce {__version__}"
        )
        lines = [asked, *comments.splitlines(), ",".join(rows[0])]
        lines += [",".join("" if cell is None else str(cell) for cell in row.values()) for row in rows]
        write_atomically(Path(path), lambda draft: draft.write_text("\n".join(lines) + "\n", encoding="utf-8"))

    def plot(self, axes: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
        """Uncertainty left against steps needed; see :func:`sottovoce.plotting.plot_frontier`."""
        from ..plotting.privacy import plot_frontier

        return plot_frontier(self, axes)

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
    """Time and privacy of noise insertion over a grid of (σ, φ), of standard gossip, and of noise that stays.

    All are compared at equal accuracy: root-mean-square deviation from the true mean of at most
    ``accuracy``, in expectation, with private values N(0, ``prior_std``²). For pairwise methods the expectation is
    over 200 simulated runs, and privacy is what single curious nodes are left uncertain of, by exact audits of
    ``runs`` runs of that length.

    One-shot noise is the plainest differentially private way: every node adds N(0, s²) once and never takes it
    back, with s as large as the accuracy allows, s²/n ≤ ½ accuracy²; then all average plainly. A neighbour that
    calls first knows the value to (1/τ² + 1/s²)^{−1/2}.

    Nozari's method (s = 1, its best choice) and Huang's (s = ½, for φ above that) say everything under Laplace noise
    of scale bφ^k, with b as large as the accuracy allows: the variance of the limit,
    :func:`~sottovoce.theory.nozari_variance`, may be half of accuracy². Their rounds follow exactly from
    :func:`~sottovoce.theory.laplace_error` and are counted in steps that send as many messages. Laplace
    noise has no closed posterior, so what they leave to an observer is that of the best *linear* estimate, which needs
    variances only: a better observer may know more, so these points may be drawn too high, never too low. In return
    they have a finite ε against somebody who knows all other values; the exact methods have none.

    Parameters
    ----------
    graph
        The network.
    noise_stds, noise_decays
        Grids of σ and φ; φ also for the Laplace methods.
    accuracy
        The root-mean-square deviation of the nodes' values from the true mean that counts as done.
    prior_std
        τ: spread of the private values and belief of the observers.
    max_steps
        Give up on a choice beyond this.
    runs, seed
        How many runs are audited per choice, and from which seed everything is drawn.
    """
    check_graph(graph)
    accuracy = number("accuracy", accuracy, low=0.0, low_open=True)
    prior_std = number("prior_std", prior_std, low=0.0, low_open=True)
    max_steps, runs = whole("max_steps", max_steps, low=1), whole("runs", runs, low=1)
    wish = _Wish(graph, accuracy, prior_std, max_steps, runs, seed)
    points = [_point(wish, StandardGossip(), 0.0, 0.0)]
    for std, decay in itertools.product(noise_stds, noise_decays):
        points.append(_point(wish, NoiseInsertion(noise_std=std, noise_decay=decay), std, decay))
    points.append(_one_shot(wish))
    points += [_laplace_point(wish, method) for method in _laplace_methods(wish, noise_decays)]
    return Frontier(graph, accuracy, prior_std, tuple(points))


class _Wish(NamedTuple):
    graph: Graph
    accuracy: float
    prior_std: float
    max_steps: int
    runs: int
    seed: int


def _point(wish: _Wish, method: Method, std: float, decay: float) -> Point:
    steps = _steps_until(wish, method)
    return _summary(wish.graph, _tables(wish, method, steps), method.name, float(std), float(decay), steps)


def _one_shot(wish: _Wish) -> Point:
    """Noise added once: plain gossip on c + noise, of which c is a share plus an independent rest."""
    noise = wish.accuracy * math.sqrt(wish.graph.num_nodes / 2)
    spread = math.hypot(wish.prior_std, noise)
    share, rest = (wish.prior_std / spread) ** 2, wish.prior_std * noise / spread
    plain = wish._replace(accuracy=wish.accuracy / math.sqrt(2), prior_std=spread)
    steps = _steps_until(plain, StandardGossip())
    tables = [np.hypot(share * table, rest) for table in _tables(plain, StandardGossip(), steps)]
    return _summary(wish.graph, tables, "one-shot noise", noise, 1.0, steps)


def _laplace_methods(wish: _Wish, noise_decays: Sequence[float]) -> list[Nozari | Huang]:
    """With the largest noise that leaves half of the squared accuracy to the mixing."""
    wanted, size = 0.5 * wish.accuracy**2, wish.graph.num_nodes
    nozari = [Nozari(math.sqrt(wanted / nozari_variance(1.0, decay, 1.0, size)), decay) for decay in noise_decays]
    huang = [
        Huang(math.sqrt(wanted / huang_variance(1.0, decay, 0.5, size)), decay, mixing_share=0.5)
        for decay in noise_decays
        if decay > 0.5
    ]
    return [*nozari, *huang]


def _laplace_point(wish: _Wish, method: Nozari | Huang) -> Point:
    graph, longest = wish.graph, wish.max_steps // wish.graph.num_edges
    # Values here have variance prior_std² around their own mean, as in _steps_until.
    spread = wish.prior_std * math.sqrt(graph.num_nodes / (graph.num_nodes - 1))
    late = np.flatnonzero(laplace_error(graph, method, longest, value_std=spread) > wish.accuracy**2)
    rounds = 0 if len(late) == 0 else int(late[-1]) + 1
    steps = None if rounds > longest else rounds * graph.num_edges
    table = exposure(graph, method, min(rounds, longest), prior_std=wish.prior_std).posterior_std
    std, epsilon = math.sqrt(2.0) * float(method.noise_scale), method.releases(graph).epsilon
    told = None if epsilon is None else epsilon * wish.prior_std
    return _summary(graph, [table], method.name, std, float(method.noise_decay), steps, told)


def _tables(wish: _Wish, method: Method, steps: int | None) -> list[Array]:
    """Who knows what about whom in each of the audited runs."""
    length = steps or wish.max_steps
    seeds = range(wish.seed, wish.seed + wish.runs)
    return [
        exposure(wish.graph, method, num_steps=length, seed=seed, prior_std=wish.prior_std).posterior_std
        for seed in seeds
    ]


def _summary(
    graph: Graph,
    tables: list[Array],
    method: str,
    std: float,
    decay: float,
    steps: int | None,
    epsilon: float | None = None,
) -> Point:
    beside = np.concatenate([[t[i, j], t[j, i]] for t in tables for i, j in graph.edges])
    off_diagonal = ~np.eye(graph.num_nodes, dtype=np.bool_)
    worst = float(np.mean([t[off_diagonal].min() for t in tables]))
    return Point(method, std, decay, steps, neighbour_std=float(beside.mean()), worst_std=worst, epsilon=epsilon)


def _steps_until(wish: _Wish, method: Method) -> int | None:
    from ..foundation.interrupting import uninterrupted
    from ..simulation import simulate

    size = wish.graph.num_nodes
    values = np.random.default_rng(wish.seed).normal(0.0, wish.prior_std, size)
    values *= wish.prior_std / max(float(values.std()), 1e-300)
    grid = np.unique(np.linspace(0, wish.max_steps, 4001).astype(int))
    run = simulate(wish.graph, values, method, num_steps=wish.max_steps, seed=wish.seed, replicas=200, record=grid)
    uninterrupted(run)
    late = np.flatnonzero(run.squared_error.mean(axis=0) / size > wish.accuracy**2)
    first = 0 if len(late) == 0 else int(late[-1]) + 1
    return None if first >= len(run.steps) else int(run.steps[first])
