"""Huang, Mitra and Dullerud (2012): differentially private consensus with Laplace noise of shrinking scale.

Every node says θ + Laplace(b q^t), forms the weighted average y of what it received, and moves there by a share:
θ ← (1 − s)θ + s y. It converges to a random value near the average, not to the average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..foundation.numbers import NEGLIGIBLE
from ..graphs.graph import Graph
from .base import VALUE, Array, Method
from .laplace import LaplaceMethod, check_decay, laplace_epsilon, laplace_variance
from .registry import register
from .weights import Weights, weights_apart

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["Huang", "huang_epsilon", "huang_variance"]

KEPT, ADDED, AMPLITUDE = 1, 2, 3
"""Columns: s × (sum of the noise a node has said so far), which is what it put into the total; this round's; b q^t."""

DECAY, SHARE = 0, 1


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Say the value under fresh noise."""
    nodes[i, ADDED] = nodes[i, AMPLITUDE] * draw
    smaller = nodes[i, AMPLITUDE] * parameters[DECAY]
    nodes[i, AMPLITUDE] = smaller if smaller >= NEGLIGIBLE else 0.0
    return float(nodes[i, VALUE] + nodes[i, ADDED])


def receive(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
    """A share of the way towards the average of what was said."""
    share = parameters[SHARE]
    nodes[i, VALUE] = (1.0 - share) * nodes[i, VALUE] + share * combined
    nodes[i, KEPT] += share * nodes[i, ADDED]


@register
@dataclass(frozen=True)
class Huang(LaplaceMethod):
    """Laplace noise on everything said, never withdrawn; the value moves a share of the way in each round.

    Parameters
    ----------
    noise_scale
        b ≥ 0, Laplace scale of the first noise.
    noise_decay
        q in (1 − s, 1), the share of scale kept per round. With s = 1 also 0: a single draw.
    mixing_share
        s in (0, 1], how far towards the average of what was received a node moves.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    ε = δ q/(b (q − (1 − s))) differential privacy for values that differ by at most δ.
    """

    noise_scale: float
    noise_decay: float
    mixing_share: float = 0.5
    weights: Weights = "metropolis"

    name: ClassVar[str] = "huang"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_scale",)
    num_fields: ClassVar[int] = 4
    outstanding_field: ClassVar[int | None] = KEPT
    send = staticmethod(send)
    receive = staticmethod(receive)

    def __post_init__(self) -> None:
        self.check("noise_scale", low=0.0)
        self.check("noise_decay", low=0.0, high=1.0, high_open=True)
        self.check("mixing_share", low=0.0, high=1.0, low_open=True, why="it is a share of the way")
        check_decay(self.noise_decay, 1.0 - self.mixing_share, "1 − mixing_share")
        super().__post_init__()

    @property
    def share(self) -> float:
        return self.mixing_share

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(noise_scale=1.0, noise_decay=0.8),)

    def moved(self, graph: Graph) -> scipy.sparse.csr_array:
        return self.mixing_share * self.mixing(graph)

    def modes(self, eigenvalues: Array) -> tuple[Array, Array]:
        return 1.0 - self.mixing_share * (1.0 - eigenvalues), self.mixing_share * eigenvalues

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, AMPLITUDE] = self.noise_scale
        return nodes

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.noise_decay, self.mixing_share])

    def label(self) -> str:
        apart = weights_apart(self.weights)
        return f"Huang, b = {self.noise_scale:g}, q = {self.noise_decay:g}, s = {self.mixing_share:g}{apart}"


def huang_variance(noise_scale: float, noise_decay: float, mixing_share: float, num_nodes: int) -> float:
    """Huang et al.: variance of the (unbiased) limit around c̄, (2/n) s² b²/(1 − q²).

    Examples
    --------
    >>> huang_variance(1.0, 0.0, 0.5, 4)
    0.125
    """
    return laplace_variance(noise_scale, noise_decay, mixing_share, num_nodes)


def huang_epsilon(
    noise_scale: float, noise_decay: float, mixing_share: float = 0.5, *, sensitivity: float = 1.0
) -> float:
    """Huang et al.: ε = δ q/(b (q − (1 − s))), q in (1 − s, 1), for θ ← (1 − s)θ + s y under Laplace(b q^t) noise.

    Parameters
    ----------
    noise_scale, noise_decay, mixing_share
        b ≥ 0, q and s as in :class:`sottovoce.Huang`.
    sensitivity
        δ: how far apart two private values are that must not be told apart.

    Examples
    --------
    >>> huang_epsilon(1.0, 0.75, 0.5)
    3.0
    """
    check_decay(noise_decay, 1.0 - mixing_share, "1 − mixing_share")
    return laplace_epsilon(noise_scale, noise_decay, 1.0 - mixing_share, sensitivity)
