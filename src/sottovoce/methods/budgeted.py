"""Algorithm 1 with a privacy budget: once it is spent, a node leaves its last noise in place, as a peer does.

What everyone else together can know of a value follows from its draws alone (:func:`.noise_insertion.information`):
T draws leave a deviation of (Σ_{t<T} φ^{−2t}/σ²)^{−1/2}. A node that wants to keep at least h withdraws and draws
as long as that allows, T times in all. From then on it shows its value with the last noise in it, which tells
nothing new, and averages as before. So the promise holds for ever, against everybody, and the mean stays off
by the mean of the noise that was left.

With T = 1 it is one draw that is never withdrawn. That attains the least error with which Algorithm 1 can keep
such a promise, E‖x − c̄‖² ≥ h² (:func:`sottovoce.privacy.price_of_hiding`); more draws cost up to about
1/(1 − φ²) times it, and show less to those who do not hear every message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import brief, checked, number, per_node, whole
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, PairMethod
from .noise_insertion import AMPLITUDE, DECAY, OUTSTANDING, NoiseInsertion, information
from .registry import register
from .released import FrozenNoise, Released

__all__ = ["BudgetedNoiseInsertion", "affordable_draws"]

LEFT = 4
"""Column: how many draws the node may still make."""

_ROUNDING = 1e-9
"""A budget is kept to one part in 10⁹, as in a node's account."""


def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
    """Algorithm 1 for edge (i, j); an end that has no draw left keeps the noise it has."""
    if nodes[i, LEFT] > 0.0:
        fresh_i = nodes[i, AMPLITUDE] * draw_i
        nodes[i, VALUE] += fresh_i - nodes[i, OUTSTANDING]
        nodes[i, OUTSTANDING] = fresh_i
        nodes[i, AMPLITUDE] *= nodes[i, DECAY]
        nodes[i, LEFT] -= 1.0
    if nodes[j, LEFT] > 0.0:
        fresh_j = nodes[j, AMPLITUDE] * draw_j
        nodes[j, VALUE] += fresh_j - nodes[j, OUTSTANDING]
        nodes[j, OUTSTANDING] = fresh_j
        nodes[j, AMPLITUDE] *= nodes[j, DECAY]
        nodes[j, LEFT] -= 1.0
    average = 0.5 * (nodes[i, VALUE] + nodes[j, VALUE])
    nodes[i, VALUE] = average
    nodes[j, VALUE] = average


@register
@dataclass(frozen=True)
class BudgetedNoiseInsertion(PairMethod):
    """Algorithm 1 until everyone else together could know a value to ± ``hidden_std``; then the last noise stays.

    Parameters
    ----------
    noise_std
        σ ≥ ``hidden_std``: the size of a node's first noise. One number, or one per node.
    noise_decay
        φ in [0, 1): the share of amplitude kept per activation. One number, or one per node. 0: one draw that stays.
    hidden_std
        h > 0: the deviation with which all other nodes together may know a value, at the least, for ever.
        It has no default, because it decides what is hidden.

    Examples
    --------
    >>> method = BudgetedNoiseInsertion(noise_std=1.0, noise_decay=0.5, hidden_std=0.1)
    >>> from sottovoce.graphs import cycle
    >>> method.draws(cycle(3)).tolist(), method.guarantee(cycle(3)).remaining
    ([4.0, 4.0, 4.0], 0.015625)
    """

    noise_std: float | Array
    noise_decay: float | Array
    hidden_std: float

    name: ClassVar[str] = "budgeted"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_std", "hidden_std")
    num_fields: ClassVar[int] = 5
    follows: ClassVar[tuple[int, ...]] = (VALUE,)
    outstanding_field: ClassVar[int | None] = OUTSTANDING
    uses_noise: ClassVar[bool] = True
    own_rows_only: ClassVar[bool] = True
    common_fields: ClassVar[int] = 3
    update = staticmethod(update)

    def __post_init__(self) -> None:
        self.check("hidden_std", low=0.0, low_open=True)
        for name, value in vars(self.before).items():
            object.__setattr__(self, name, value)
        least = float(np.min(self.noise_std))
        if least < self.hidden_std * (1.0 - _ROUNDING):
            raise InvalidParameter(
                f"noise_std must be at least hidden_std = {self.hidden_std:g}, so that a node may speak once, "
                f"got {least:g}"
            )

    @classmethod
    def with_draws(
        cls, num_draws: int, *, hidden_std: float, noise_decay: float | npt.ArrayLike = 0.0
    ) -> BudgetedNoiseInsertion:
        """The σ with which exactly ``num_draws`` draws spend the budget: σ² = h² Σ_{t<T} φ^{−2t}.

        ``num_draws=1`` is one draw of deviation h that stays: the least error for what it promises.

        Examples
        --------
        >>> BudgetedNoiseInsertion.with_draws(1, hidden_std=0.5)
        BudgetedNoiseInsertion(noise_std=0.5, noise_decay=0, hidden_std=0.5)
        >>> BudgetedNoiseInsertion.with_draws(3, hidden_std=1.0, noise_decay=0.5).noise_std ** 2
        21.0
        """
        count = whole("num_draws", num_draws, low=1, high=2**31)
        decay = checked("noise_decay", noise_decay, low=0.0, high=1.0, high_open=True)
        std = number("hidden_std", hidden_std, low=0.0, low_open=True) * np.sqrt(information(1.0, decay, count))
        if not np.isfinite(std).all():
            raise InvalidParameter(f"noise_decay must allow {count} draws within finite noise, got {brief(decay)}")
        return cls(float(std) if std.ndim == 0 else std, decay, hidden_std)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        """A few draws."""
        return (cls.with_draws(4, hidden_std=0.1, noise_decay=0.5),)

    @property
    def before(self) -> NoiseInsertion:
        """What it is until the budget is spent."""
        return NoiseInsertion(self.noise_std, self.noise_decay)

    def draws(self, graph: Graph) -> Array:
        """``(n,)`` T: how often a node draws noise before it leaves the last one in place."""
        return per_node("draws", affordable_draws(self.noise_std, self.noise_decay, self.hidden_std), graph.num_nodes)

    def last_std(self, graph: Graph) -> Array:
        """``(n,)`` σφ^{T−1}: deviation of the noise that stays; at least ``hidden_std``."""
        return np.asarray(self.each("noise_std", graph) * self.each("noise_decay", graph) ** (self.draws(graph) - 1.0))

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = np.zeros((graph.num_nodes, self.num_fields))
        nodes[:, :LEFT] = self.before.initial(graph, private_values)
        nodes[:, LEFT] = self.draws(graph)
        return nodes

    def releases(self, graph: Graph) -> Released:
        return FrozenNoise(self.each("noise_std", graph), self.each("noise_decay", graph), self.draws(graph))

    def guarantee(self, graph: Graph) -> Guarantee:
        """The mean ends off by that of the noise in place: E‖x − c̄‖² → (1/n) Σ (σ_i φ_i^{T_i − 1})²."""
        return Guarantee(remaining=float((self.last_std(graph) ** 2).sum()) / graph.num_nodes)

    def label(self) -> str:
        noise = f"σ = {brief(self.noise_std)}, φ = {brief(self.noise_decay)}"
        return f"budgeted noise insertion, {noise}, ± {self.hidden_std:g} kept"


def affordable_draws(
    noise_std: float | npt.ArrayLike, noise_decay: float | npt.ArrayLike, hidden_std: float | npt.ArrayLike
) -> Array:
    """The most draws T with Σ_{t<T} φ^{−2t}/σ² ≤ 1/h² (to one part in 10⁹); 0 if not even one is allowed.

    It is the number of messages after which everyone else together may know a value to ± h: the limit that a promise
    about counts has to keep (:mod:`sottovoce.theory.gossip.counts`).

    Parameters
    ----------
    noise_std, noise_decay, hidden_std
        σ ≥ 0, φ in [0, 1), h > 0. They broadcast.

    Examples
    --------
    >>> affordable_draws(1.0, 0.5, [1.0, 0.3, 0.1]).tolist()
    [1.0, 2.0, 4.0]
    >>> affordable_draws(1.0, [0.0, 0.9], 0.2).tolist()
    [1.0, 9.0]
    """
    std, decay, hidden = np.broadcast_arrays(
        *(np.asarray(p, dtype=np.float64) for p in (noise_std, noise_decay, hidden_std))
    )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        budget = (1.0 + _ROUNDING) / hidden**2
        growth = -2.0 * np.log(decay)
        room = np.log1p((std / hidden) ** 2 * np.expm1(growth)) / growth
        count = np.where((decay > 0.0) & np.isfinite(room), np.floor(room), 1.0)
        for correction in (1.0, -1.0, -1.0):  # the floor may be off by one either way
            spent = information(std, decay, count + max(correction, 0.0))
            count = np.where((spent <= budget) == (correction > 0.0), count + correction, count)
    return np.maximum(count, 0.0)
