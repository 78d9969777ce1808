"""One threat model for all methods of a comparison: single curious nodes, under schedules drawn from the seed.

A curious node does what it should, remembers everything it hears, and knows the rule, the graph and which edges fire.
What it learns of each neighbour is audited exactly (for Laplace noise: by the best linear estimate). How much that is
depends on who listens and on the schedule, so several of both are asked, and never one node of one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import Unsupported
from ..foundation.arguments import Array, number, whole
from ..graphs.graph import Graph
from ..graphs.naming import NodeNumber, node_number
from ..methods import Method
from ..methods.released import LinearSystem, Released
from ..privacy import CuriousNodes, audit
from ..privacy.auditing import find_analyser
from ..simulation.replay import fired_edges
from .problems import address

__all__ = ["SCHEDULES", "Leak", "Observers", "Range", "Statistic"]

SCHEDULES = 6
"""The smallest and the largest of six independent numbers hold their median between them with probability 0.97."""
ALL, SOME, FEW = 12, 50, 200
"""Up to so many nodes every node listens; up to so many six of them, drawn; up to so many three; beyond, none."""
LONG, SHORT = 40, 20
"""For how many messages each way on an edge they listen, on average; the second beyond 50 nodes: it takes long."""
KNOWN = 1e-6
"""Posterior over prior deviation below which a value counts as known exactly."""
PATIENCE = 1.0
"""Seconds, roughly, that one audit may take for more digits."""

Statistic = str
"""``"median"`` or ``"worst"``: over pairs of an observer and its neighbour."""


class Range(NamedTuple):
    """A median over schedules, and an interval that holds the true one with probability 0.97 if six were drawn."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, per_schedule: Array) -> Range:
        """Of one number for each schedule."""
        return cls(float(np.median(per_schedule)), float(per_schedule.min()), float(per_schedule.max()))


@dataclass(frozen=True)
class Leak:
    """What observers are left with of neighbours' values, as shares of the prior deviation: 0 known, 1 not at all."""

    median: Range | None = None
    """Over all pairs of an observer and a neighbour of it."""
    worst: Range | None = None
    """Of the pair in which most is known."""
    epsilon: float | None = None
    """For Laplace noise: ε of all messages, for values one prior deviation apart."""
    known: float | None = None
    """Share of all pairs in which the value is known exactly."""
    exact: bool = True
    """False where an observer who does better than linearly may know more."""
    words: str = ""

    def by(self, statistic: Statistic) -> Range | None:
        """Median or worst."""
        return self.median if statistic == "median" else self.worst


@dataclass(frozen=True, eq=False)
class Observers:
    """Who listens, how often, and what is believed beforehand."""

    graph: Graph
    nodes: tuple[int, ...]
    drawn: bool
    """Whether they were drawn from the seed."""
    schedules: int
    heard: int
    """For how many messages each way on an edge, on average, they listen: the same for every method."""
    prior_std: float
    seed: int

    @classmethod
    def chosen(
        cls, graph: Graph, observers: Sequence[int | str] | None, *, schedules: int, heard: int | None,
        prior_std: float, seed: int,
    ) -> Observers:  # fmt: skip
        """Those who were named; otherwise every node of a small graph, and a few of a larger one."""
        size = graph.num_nodes
        asked = (LONG if size <= SOME else SHORT) if heard is None else whole("heard", heard, low=1)
        how: dict[str, Any] = {
            "schedules": whole("schedules", schedules, low=1, high=10**6),
            "heard": asked,
            "prior_std": number("prior_std", prior_std, low=0.0, low_open=True),
            "seed": seed,
        }
        if observers is not None:
            named = tuple(dict.fromkeys(node_number(graph, node, "observers") for node in observers))
            return cls(graph, named, drawn=False, **how)
        if size <= ALL:
            return cls(graph, tuple(range(size)), drawn=False, **how)
        count = 6 if size <= SOME else 3 if size <= FEW else 0
        rng = np.random.default_rng(address(seed, "values"))
        return cls(graph, tuple(sorted(rng.choice(size, count, replace=False).tolist())), drawn=True, **how)

    @property
    def words(self) -> str:
        """Who listens, for a caption."""
        if not self.nodes:
            return f"no observers beyond {FEW} nodes"
        names = ", ".join(self.graph.label(node) for node in self.nodes)
        who = "every node" if len(self.nodes) == self.graph.num_nodes else names
        drawn = ", drawn from the seed," if self.drawn else ""
        often = f"for {self.heard} messages each way on an edge, in {self.schedules} schedules"
        return f"{who}{drawn} alone listens {often}"

    def length(self, method: Method, num_steps: int) -> int:
        """The steps of a run that they listen to."""
        return max(1, min(num_steps, 2 * self.graph.num_edges * self.heard // method.messages_per_step(self.graph)))

    def left(self, method: Method, num_steps: int, *, careful: bool = False) -> Array:
        """``(schedules, pairs)`` share of the prior deviation that each observer is left with of each neighbour.

        ``careful``: systems without fresh noise are audited twice, and give NaN where digits do not suffice. Methods
        in rounds have one schedule.

        Raises
        ------
        Unsupported
            If what the method releases is not analysed.
        """
        released = method.releases(self.graph)
        twice = careful and isinstance(released, LinearSystem)
        length = self.length(method, num_steps)
        rows = []
        for replica in range(1 if released.in_rounds else self.schedules):
            found = [self._known(method, released, node, replica, length, twice=twice) for node in self.nodes]
            rows.append(np.concatenate(found) / self.prior_std)
        return np.array(rows)

    def _known(self, method: Method, released: Released, node: int, replica: int, length: int, *, twice: bool) -> Array:
        """Deviations of the neighbours' values to ``node`` at the end."""
        graph, view = self.graph, CuriousNodes([NodeNumber(node)])
        analyser, _ = find_analyser(graph, method, view)
        fired = self._schedule(method, released, replica, length)
        if twice:
            how: dict[str, Any] = {"steps": [length], "patience": PATIENCE, "progress": False}
            known = audit(graph, method, fired, view, self.prior_std, **how).posterior_std
        else:
            prior = np.full(graph.num_nodes, self.prior_std)
            known = analyser.final_posterior(graph, released, analyser.checked_run(fired, graph), view, prior)
        return np.asarray(known[graph.neighbours_of(node)])

    def _schedule(self, method: Method, released: Released, replica: int, length: int) -> int | npt.NDArray[np.int64]:
        """What happened in a replica, as an audit takes it: how many rounds, or which edges or nodes acted."""
        if released.in_rounds:
            return length
        acting = method if released.by_nodes else None
        return fired_edges(self.graph, num_steps=length, seed=self.seed, replica=replica, method=acting)

    def leak(self, method: Method, num_steps: int) -> Leak:
        """What the observers learn from a run of this length."""
        released = method.releases(self.graph)
        epsilon = None if released.epsilon is None else released.epsilon * self.prior_std
        if not self.nodes:
            return Leak(epsilon=epsilon, words=self.words)
        try:
            left = self.left(method, num_steps, careful=True)
        except Unsupported:
            return Leak(epsilon=epsilon, words=released.words)
        if np.isnan(left).any():
            return Leak(epsilon=epsilon, words="digits did not suffice")
        return Leak(
            median=Range.of(np.median(left, axis=1)),
            worst=Range.of(left.min(axis=1)),
            epsilon=epsilon,
            known=float((left < KNOWN).mean()),
            exact=bool(getattr(released, "gaussian", True)),
        )
