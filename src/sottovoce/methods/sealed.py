"""Sealed gossip: before anything is said, every edge shares a random number that cancels between its two ends.

The *seal* of edge e is m_e ~ N(0, s²): one end adds it to its value, the other subtracts it, so x(0) = c + B m with B
the incidence matrix. Then Algorithm 1, or standard gossip where σ = 0. Seals cancel in the sum at once, so the
limit is the exact mean; gossip has to average them out, which costs log(s/spread) over its rate in further steps.
What they hide does not depend on the schedule (:mod:`sottovoce.privacy.gaussian.seals`).

It differs from :mod:`.pairwise_cancelling` in what follows: exchanges of pairs, heard by two, not broadcasts in rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..foundation.arguments import brief, number
from ..graphs.graph import Graph
from ..graphs.spectrum import laplacian
from .base import VALUE, Array, Guarantee, Method, PairMethod
from .noise_insertion import OUTSTANDING, NoiseInsertion, update
from .registry import register
from .released import Released, SealedNoise, WithdrawnNoise

__all__ = ["SealedGossip", "sealed_moments"]


@register
@dataclass(frozen=True)
class SealedGossip(PairMethod):
    """Every edge starts with a shared secret number that cancels between its ends; then Algorithm 1 or plain gossip.

    Parameters
    ----------
    seal_std
        s ≥ 0, standard deviation of the number that two neighbours share. Take several times the spread of the
        values. It has no default, because it decides what is hidden.
    noise_std
        σ ≥ 0 of :class:`~sottovoce.NoiseInsertion`, for what seals cannot hide: a node whose neighbours all collude.
        One number, or one per node. 0: standard gossip.
    noise_decay
        φ in [0, 1), as there.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.cycle(4), [1.0, 2.0, 3.0, 6.0], SealedGossip(10.0), num_steps=400, seed=1)
    >>> bool(run.relative_error[0] > 1), run.values.round(9).tolist()
    (True, [3.0, 3.0, 3.0, 3.0])
    """

    seal_std: float
    noise_std: float | Array = 0.0
    noise_decay: float | Array = 0.0

    name: ClassVar[str] = "sealed"
    noise_sizes: ClassVar[tuple[str, ...]] = ("seal_std", "noise_std")
    num_fields: ClassVar[int] = NoiseInsertion.num_fields
    follows: ClassVar[tuple[int, ...]] = (VALUE,)
    outstanding_field: ClassVar[int | None] = OUTSTANDING
    edge_noise_field: ClassVar[int | None] = VALUE
    uses_noise: ClassVar[bool] = True
    own_rows_only: ClassVar[bool] = True
    common_fields: ClassVar[int] = NoiseInsertion.common_fields
    update = staticmethod(update)

    def __post_init__(self) -> None:
        self.check("seal_std", low=0.0)
        for name, value in vars(self.after).items():
            object.__setattr__(self, name, value)

    @property
    def after(self) -> NoiseInsertion:
        """What follows once edges are sealed: Algorithm 1, which with σ = 0 is standard gossip."""
        return NoiseInsertion(self.noise_std, self.noise_decay)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        """Large seals and no other noise."""
        return (cls(seal_std=10.0),)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        return self.after.initial(graph, private_values)

    def edge_noise_std(self, graph: Graph) -> float:
        return self.seal_std

    def messages_before(self, graph: Graph) -> int:
        """One on every edge: the end that opens it tells the other the number."""
        return graph.num_edges

    def releases(self, graph: Graph) -> Released:
        after = self.after.releases(graph)
        assert isinstance(after, WithdrawnNoise)
        return SealedNoise(self.seal_std, after)

    def guarantee(self, graph: Graph) -> Guarantee:
        """That of Algorithm 1: seals change where it starts and not how fast it goes."""
        return self.after.guarantee(graph)

    def label(self) -> str:
        noise = f", σ = {brief(self.noise_std)}, φ = {brief(self.noise_decay)}" if np.any(self.noise_std) else ""
        return f"sealed gossip, s = {self.seal_std:g}{noise}"


def sealed_moments(graph: Graph, private_values: Array, seal_std: float) -> Array:
    """E[(x(0) − c̄)(x(0) − c̄)ᵀ] = (c − c̄)(c − c̄)ᵀ + s² L: where the second moments of sealed gossip start.

    Everything later is linear, so the recursion of standard gossip and of noise insertion goes on from here unchanged.
    Half its trace is ½‖c − c̄‖² + s² m: that is what the initial term of every bound becomes. Private
    values with d columns have seals of their own in each: then it is the sum over columns, with d s² L.

    Parameters
    ----------
    graph
        The network.
    private_values
        ``(n,)`` or ``(n, d)``.
    seal_std
        s ≥ 0.

    Returns
    -------
    ndarray
        ``(n, n)``.

    Examples
    --------
    >>> from sottovoce.graphs import path
    >>> sealed_moments(path(3), np.array([0.0, 0.0, 3.0]), 2.0).tolist()
    [[5.0, -3.0, -2.0], [-3.0, 9.0, -6.0], [-2.0, -6.0, 8.0]]
    """
    values = np.asarray(private_values, dtype=np.float64).reshape(graph.num_nodes, -1)
    values = values - values.mean(axis=0)
    variance = values.shape[1] * number("seal_std", seal_std, low=0.0) ** 2
    return np.asarray(values @ values.T + variance * laplacian(graph).toarray())
