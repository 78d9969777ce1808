"""Looking ahead: what a curious neighbour will know over random schedules, and how often a wanted error is met.

The one place where a plan asks for what stands above the theory: the firewall (:mod:`sottovoce.privacy.firewall`) and
an ensemble of runs (:mod:`sottovoce.simulation`). Both are imported when they are called for, and nothing above calls
back.

**Neighbours.** In every run a coalition of neighbours of node i is left with at least what the firewall leaves, and
with at least what everyone else together is left with after N_i messages. Node i keeps ± g in all runs but a share
min(Σ over coalitions P(firewall < g), P(N_i > T_i(g))), and by the union bound all nodes keep it together in all but
the sum of these. That is proved, for runs of any length where the first term counts, and it is cautious.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ...errors import Unsupported
from ...foundation.arguments import Array
from ...graphs.chances import Chances
from ...methods import Method, NoiseInsertion, StandardGossip
from ...methods.budgeted import BudgetedNoiseInsertion, affordable_draws
from ...methods.noise_insertion import information

if TYPE_CHECKING:
    from ...privacy.firewall import FirewallLaw

__all__ = ["Neighbours", "Planned", "kept_share", "met_share", "sampled_neighbours"]

MOST_COALITIONS = 20_000
_CONFIDENCE = 0.99
_FEW = 16
"""Up to so many nodes every run of an ensemble has private values of its own; on larger graphs, whose values all
spread about equally, some runs share theirs."""
_BATCHES = 100

Planned = NoiseInsertion | BudgetedNoiseInsertion


@dataclass(frozen=True, eq=False)
class Neighbours:
    """What coalitions of neighbours are left with, for one method and number of steps."""

    chances: Chances
    method: Planned
    num_steps: int
    value_std: float
    size: int = 1

    def failure(self, std: float) -> float:
        """At most this share of runs leaves less than ``std`` (< ``value_std``) of some value to some coalition."""
        if std <= self.floor:
            return 0.0
        return min(1.0, float(np.minimum(self._by_firewall(std), self._by_counts(std)).sum()))

    def left(self, probability: float) -> float:
        """The deviation of which :meth:`failure` is at most 1 − ``probability``, to three digits and not rounded up."""
        low, high = self.floor, self.value_std * (1.0 - 1e-9)
        for _ in range(12):
            middle = math.sqrt(max(low, 1e-9 * high) * high)
            low, high = (middle, high) if self.failure(middle) <= 1.0 - probability else (low, middle)
        return low

    @property
    def floor(self) -> float:
        """What is left in every run: budgets promise something."""
        if isinstance(self.method, NoiseInsertion):
            return 0.0
        graph = self.chances.graph
        known = information(
            self.method.each("noise_std", graph), self.method.each("noise_decay", graph), self.method.draws(graph)
        )
        return float(np.min((self.value_std**-2 + known) ** -0.5))

    @property
    def _withdrawn(self) -> NoiseInsertion:
        """The noise as if it were withdrawn for ever, which shows more."""
        return self.method if isinstance(self.method, NoiseInsertion) else self.method.before

    def _by_counts(self, std: float) -> Array:
        """``(n,)`` P(N_i > T_i): the node speaks too often for everyone else together."""
        import scipy.stats

        graph = self.chances.graph
        alone = (std**-2 - self.value_std**-2) ** -0.5
        draws = affordable_draws(
            self._withdrawn.each("noise_std", graph), self._withdrawn.each("noise_decay", graph), alone
        )
        return np.asarray(scipy.stats.binom.sf(draws, self.num_steps, self.chances.nodes))

    def _by_firewall(self, std: float) -> Array:
        """``(n,)`` the sum over coalitions of the chance that the firewall leaves less."""
        laws, counts = self._laws
        failing = np.array([1.0 - law.kept(std) for law in laws])
        return np.asarray(counts @ failing)

    @cached_property
    def _laws(self) -> tuple[list[FirewallLaw], Array]:
        """The different laws, and how many coalitions of each node have each: ``(n, laws)``."""
        from ...privacy.firewall import firewall_law

        kinds: dict[tuple[object, ...], int] = {}
        laws: list[FirewallLaw] = []
        found: list[tuple[int, int]] = []
        for node, coalition in self._coalitions():
            kind = self._kind(node, coalition)
            if kind not in kinds:
                kinds[kind] = len(laws)
                laws.append(
                    firewall_law(
                        self.chances.graph, self._withdrawn, node, coalition, prior_std=self.value_std,
                        edge_probabilities=self.chances.edge_probabilities,
                    )
                )  # fmt: skip
            found.append((node, kinds[kind]))
        counts = np.zeros((self.chances.graph.num_nodes, max(len(laws), 1)))
        np.add.at(counts, tuple(np.array(found).T), 1.0)
        return laws, counts[:, : len(laws)]

    def _coalitions(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        graph, total = self.chances.graph, 0
        for node in range(graph.num_nodes):
            near = sorted(graph.neighbours_of(node).tolist())
            total += math.comb(len(near), min(self.size, len(near)))
            if total > MOST_COALITIONS:
                raise Unsupported(f"there are more than {MOST_COALITIONS:,} coalitions of neighbours to plan for")
            for coalition in itertools.combinations(near, min(self.size, len(near))):
                yield node, coalition

    def _kind(self, node: int, coalition: tuple[int, ...]) -> tuple[object, ...]:
        """What the law depends on: equal kinds have equal laws."""
        graph, nodes = self.chances.graph, self.chances.nodes
        std, decay = self._withdrawn.each("noise_std", graph), self._withdrawn.each("noise_decay", graph)
        edge = _edge_chances(self.chances)
        heard = sum(edge[node, other] for other in coalition)
        rest = sorted(
            (edge[node, other], float(nodes[other]), float(std[other]), float(decay[other]))
            for other in graph.neighbours_of(node).tolist()
            if other not in coalition
        )
        return (round(heard, 15), float(std[node]), float(decay[node]), *rest)


@lru_cache(maxsize=2)
def _edge_chances(chances: Chances) -> dict[tuple[int, int], float]:
    both: dict[tuple[int, int], float] = {}
    for (i, j), chance in zip(chances.graph.edges.tolist(), chances.edges.tolist(), strict=True):
        both[i, j] = both[j, i] = chance
    return both


def sampled_neighbours(ahead: Neighbours, probability: float, schedules: int, seed: int) -> tuple[float, float]:
    """Between which numbers the deviation lies that neighbours are left with, from exact audits of random schedules."""
    from ...privacy.schedules import exposure_quantile

    found = exposure_quantile(
        ahead.chances.graph, ahead.method, num_steps=ahead.num_steps, size=ahead.size, probability=probability,
        prior_std=ahead.value_std, edge_probabilities=ahead.chances.edge_probabilities, schedules=schedules, seed=seed,
    )  # fmt: skip
    return found.std_interval


def met_share(
    chances: Chances,
    method: Planned,
    *,
    num_steps: int,
    relative_error: float,
    value_std: float,
    runs: int,
    seed: int,
    confidence: float = _CONFIDENCE,
) -> float:
    """How often ‖x − c̄‖² ≤ ε‖c − c̄‖² for normal values: a lower limit with this confidence, from an ensemble."""
    graph, rng = chances.graph, np.random.default_rng([seed, 0x5EED])
    if graph.num_nodes <= _FEW:
        error, spread = _independent_values(chances, method, num_steps, value_std, runs, rng)
        return kept_share(int(np.sum(error <= relative_error * spread)), runs, confidence)
    met, each = 0, max(1, runs // _BATCHES)
    for _ in range(_BATCHES):
        values = value_std * rng.standard_normal(graph.num_nodes)
        final = _simulated(chances, values, method, num_steps, each, int(rng.integers(2**31)))
        error = np.sum((final - values.mean()) ** 2, axis=1)
        met += int(np.sum(error <= relative_error * np.sum((values - values.mean()) ** 2)))
    return kept_share(met, each * _BATCHES, confidence)


def _independent_values(
    chances: Chances, method: Planned, num_steps: int, value_std: float, runs: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """``(runs,)`` ‖x − c̄‖² and ‖c − c̄‖², with values of their own in every run.

    Runs are linear: noise alone, and plain gossip of every unit vector on the same schedule, add up to any values.
    """
    size, seed = chances.graph.num_nodes, int(rng.integers(2**31))
    unit = _unit_responses(chances, num_steps, runs, seed)
    noise = _simulated(chances, np.zeros(size), method, num_steps, runs, seed)
    values = value_std * rng.standard_normal((runs, size))
    mean = values.mean(axis=1, keepdims=True)
    final = np.einsum("rij,rj->ri", unit, values) + noise
    return np.sum((final - mean) ** 2, axis=1), np.sum((values - mean) ** 2, axis=1)


@lru_cache(maxsize=2)
def _unit_responses(chances: Chances, num_steps: int, runs: int, seed: int) -> Array:
    """``(runs, n, n)`` what plain gossip makes of every unit vector."""
    return _simulated(chances, np.eye(chances.graph.num_nodes), StandardGossip(), num_steps, runs, seed)


def _simulated(chances: Chances, values: Array, method: Method, num_steps: int, runs: int, seed: int) -> Array:
    from ...foundation.interrupting import uninterrupted
    from ...simulation.engine import simulate

    run = uninterrupted(simulate(
        chances.graph, values, method, num_steps=num_steps, seed=seed, replicas=runs,
        record=[num_steps], edge_probabilities=chances.edge_probabilities, threads=1, progress=False,
    ))  # fmt: skip
    return np.asarray(run.values).reshape(runs, *values.shape)


def kept_share(hits: int, runs: int, confidence: float = _CONFIDENCE) -> float:
    """Clopper and Pearson's lower limit for a share.

    Examples
    --------
    >>> round(kept_share(980, 1000), 4)
    0.9671
    """
    from scipy.special import betaincinv

    return 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, 1.0 - confidence))
