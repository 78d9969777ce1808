"""Gossip with controlled noise insertion: Algorithm 1 of the paper.

A node that is activated withdraws the noise it put in last time, puts in fresh noise of smaller
amplitude, and only then averages with its partner. What it has put in and not yet withdrawn is its
*outstanding noise* u, so that at every step Σ values − Σ outstanding noise = Σ private values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..foundation.arguments import brief, checked
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.chances import Chances
from ..graphs.graph import Graph
from ..graphs.spectrum import algebraic_connectivity
from .base import VALUE, Array, Guarantee, Method, PairMethod
from .registry import register
from .released import Released, WithdrawnNoise

__all__ = ["NoiseInsertion", "free_decay", "information"]

OUTSTANDING, AMPLITUDE, DECAY = 1, 2, 3

_ROUNDING = 1e-12


def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
    """Steps 2 to 5 of Algorithm 1 for edge (i, j), with v = σ·draw and the amplitude σφ^t kept in the table."""
    fresh_i = nodes[i, AMPLITUDE] * draw_i
    fresh_j = nodes[j, AMPLITUDE] * draw_j
    shown_i = nodes[i, VALUE] + (fresh_i - nodes[i, OUTSTANDING])
    shown_j = nodes[j, VALUE] + (fresh_j - nodes[j, OUTSTANDING])
    average = 0.5 * (shown_i + shown_j)
    nodes[i, VALUE] = average
    nodes[j, VALUE] = average
    nodes[i, OUTSTANDING] = fresh_i
    nodes[j, OUTSTANDING] = fresh_j
    next_i = nodes[i, AMPLITUDE] * nodes[i, DECAY]
    next_j = nodes[j, AMPLITUDE] * nodes[j, DECAY]
    nodes[i, AMPLITUDE] = next_i if next_i >= NEGLIGIBLE else 0.0
    nodes[j, AMPLITUDE] = next_j if next_j >= NEGLIGIBLE else 0.0


@register
@dataclass(frozen=True)
class NoiseInsertion(PairMethod):
    """Algorithm 1 of the paper: gossip under noise that is gradually withdrawn.

    Parameters
    ----------
    noise_std
        σ ≥ 0, a standard deviation: the size of a node's first noise. One number, or one per node.
        It has no default, because it decides what is hidden.
    noise_decay
        φ in [0, 1): the share of amplitude kept per activation; larger is slower and hides longer.
        One number, or one per node. With φ = 0 a node's first draw is its only one.

    Examples
    --------
    >>> NoiseInsertion(noise_std=1.0, noise_decay=0.9)
    NoiseInsertion(noise_std=1, noise_decay=0.9)
    """

    noise_std: float | Array
    noise_decay: float | Array

    name: ClassVar[str] = "noise-insertion"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_std",)
    num_fields: ClassVar[int] = 4
    follows: ClassVar[tuple[int, ...]] = (VALUE,)
    outstanding_field: ClassVar[int | None] = OUTSTANDING
    uses_noise: ClassVar[bool] = True
    own_rows_only: ClassVar[bool] = True
    common_fields: ClassVar[int] = 2
    update = staticmethod(update)

    def __post_init__(self) -> None:
        self.check("noise_std", checked, low=0.0)
        self.check("noise_decay", checked, low=0.0, high=1.0, high_open=True)
        self.check_lengths("noise_std", "noise_decay")

    @classmethod
    def largest_free(cls, graph: Graph, noise_std: float | Array) -> NoiseInsertion:
        """The largest decay per node that does not slow the guaranteed rate: φ_i = √(1 − α/(2 d_i)).

        This is the closing statement of the paper's corollary. It is the *proved* rate that is left alone: a run slows
        at a smaller φ already (``threshold_decay(graph, form="resolvent")``), except on complete graphs, where the
        proved rate is the true one. On K₂ α = 2 and d = 1, so φ = 0.

        Examples
        --------
        >>> from sottovoce.graphs import cycle
        >>> NoiseInsertion.largest_free(cycle(10), noise_std=1.0).noise_decay.round(7).tolist()[:2]
        [0.9510565, 0.9510565]
        """
        return cls(noise_std=noise_std, noise_decay=free_decay(0.5 * algebraic_connectivity(graph), graph.degrees))

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        """With the largest decay that leaves the proved rate alone."""
        return (cls.largest_free(graph, noise_std=1.0),)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, AMPLITUDE] = self.each("noise_std", graph)
        nodes[:, DECAY] = self.each("noise_decay", graph)
        return nodes

    def releases(self, graph: Graph) -> Released:
        return WithdrawnNoise(self.each("noise_std", graph), self.each("noise_decay", graph))

    def guarantee(self, graph: Graph) -> Guarantee:
        """The slower of gossip, ρ, and of the noise at nodes that have any, r_i = 1 − (d_i/m)(1 − φ_i²)."""
        chances = Chances(graph)
        noise = 1.0 - chances.nodes * (1.0 - self.each("noise_decay", graph) ** 2)
        noisy = self.each("noise_std", graph) > 0
        return Guarantee(max(1.0 - chances.contraction_gap, float(noise[noisy].max(initial=0.0))), 0.0)

    def label(self) -> str:
        return f"noise insertion, σ = {brief(self.noise_std)}, φ = {brief(self.noise_decay)}"


def free_decay(gap: float, chances: npt.ArrayLike) -> Array:
    """``(n,)`` the largest φ_i with which noise fades at least as fast as 1 − gap: φ_i = √(1 − gap/p_i).

    p_i is the chance that node i is activated at a step: its squared amplitude shrinks by r_i = 1 − p_i (1 − φ_i²) in
    expectation, and r_i ≤ 1 − gap is asked. Gap and chances may have a common factor, so that α/2 and degrees serve
    where edges are equally likely. A node that is never activated may have any φ: the answer is 1.

    Examples
    --------
    >>> free_decay(0.25, [0.25, 0.5, 1.0]).round(4).tolist()
    [0.0, 0.7071, 0.866]
    """
    chance = np.asarray(chances, dtype=np.float64)
    share = np.divide(gap, chance, out=np.zeros(chance.shape), where=chance > 0)
    left = 1.0 - share
    # The root would turn rounding of an eigenvalue, 1e−16, into a φ of 1e−8 where there is none.
    return np.asarray(np.sqrt(np.where(left > _ROUNDING, left, 0.0)))


def information(
    noise_std: float | npt.ArrayLike, noise_decay: float | npt.ArrayLike, num_messages: float | npt.ArrayLike
) -> Array:
    """Fisher information about a node's private value in its first messages, for those who know everything else.

    When everyone but one node pools what it knows, that node's t-th message is its private value plus independent
    noise of standard deviation σφ^t. T messages carry Σ_{t<T} φ^{−2t}/σ²: almost all of it in the last ones.
    One over its root is the standard deviation with which the value is then known. No other observer learns more.

    Parameters
    ----------
    noise_std, noise_decay
        σ ≥ 0 and φ in [0, 1).
    num_messages
        T ≥ 0. All three broadcast.

    Examples
    --------
    >>> round(float(information(2.0, 0.5, 3)), 9)
    5.25
    >>> float(information(1.0, 0.0, 1)), float(information(1.0, 0.0, 2))
    (1.0, inf)
    """
    std, decay, count = (np.asarray(p, dtype=np.float64) for p in (noise_std, noise_decay, num_messages))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rate = -2.0 * np.log(decay)
        last = np.exp(0.5 * rate * (count - 1.0)) / std  # the root of the last term, so that σ² may leave the range
        # The last term times a sum that neither overflows nor cancels.
        total = last * (np.expm1(-count * rate) / np.expm1(-rate)) * last
        total = np.where(decay == 0.0, np.where(count > 1.0, np.inf, count / std / std), total)
        return np.where(count == 0.0, 0.0, total)
