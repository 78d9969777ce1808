"""Nozari, Tallapragada and Cortés (2017): differentially private averaging with Laplace noise that stays.

θ = x + η is said; x⁺ = x − hLθ + Sη with η_i(k) ~ Laplace(b_i q_i^k). Every node converges to
c̄ + (1/n) Σ_i s_i Σ_k η_i(k), which is right on average only: exactness and differential privacy against an observer
of all messages exclude each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import brief, checked
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.graph import Graph
from .base import VALUE, Array, Method, RoundMethod
from .laplace import LaplaceMethod, check_decay, laplace_epsilon, laplace_variance
from .registry import register
from .weights import Weights, laplacian_weights, plus_diagonal

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["Nozari", "nozari_epsilon", "nozari_variance"]

KEPT, ADDED, AMPLITUDE, DECAY, SHARE = 1, 2, 3, 4, 5
"""Columns: Σ_k s η(k) so far, the η of this round, b q^k, q and s."""


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Say the value under fresh noise."""
    nodes[i, ADDED] = nodes[i, AMPLITUDE] * draw
    smaller = nodes[i, AMPLITUDE] * nodes[i, DECAY]
    nodes[i, AMPLITUDE] = smaller if smaller >= NEGLIGIBLE else 0.0
    return float(nodes[i, VALUE] + nodes[i, ADDED])


def receive(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
    """x − hLθ + sη, where Σ_j W_ij θ_j = θ − hLθ."""
    kept = nodes[i, SHARE] * nodes[i, ADDED]
    nodes[i, VALUE] += (combined - sent) + kept
    nodes[i, KEPT] += kept


@register
@dataclass(frozen=True)
class Nozari(LaplaceMethod):
    """Laplace noise of shrinking scale on everything said; a share of it stays in the value.

    Parameters
    ----------
    noise_scale
        b ≥ 0, Laplace scale of the first noise. One number, or one per node.
    noise_decay
        q in (|s − 1|, 1), the share of scale kept per round. One number, or one per node. With s = 1 also 0: a
        single draw on the initial value, which is the best choice there is.
    noise_share
        s in (0, 2), the share of the noise that is added to the value itself. One number, or one per node.
    step_size
        h in (0, 1/d_max). ``None``: 1/(1 + d_max), unless ``weights`` says otherwise.
    weights
        Instead of ``step_size``: W in place of I − hL. See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    The limit is unbiased with variance (2/n²) Σ s_i² b_i²/(1 − q_i²), and node i has
    ε_i = δ q_i/(b_i (q_i − |s_i − 1|)) differential privacy for values that differ by at most δ.

    Examples
    --------
    >>> Nozari(noise_scale=1.0, noise_decay=0.1, noise_share=0.5)
    Traceback (most recent call last):
    ...
    sottovoce.errors.InvalidParameter: noise_decay must be in (|noise_share − 1|, 1) = (0.5, 1) (outside ε is infinite:
    values stay longer than the noise that hides them), got 0.1
    """

    noise_scale: float | Array
    noise_decay: float | Array
    noise_share: float | Array = 1.0
    step_size: float | None = None
    weights: Weights | None = None

    name: ClassVar[str] = "nozari"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_scale",)
    num_fields: ClassVar[int] = 6
    outstanding_field: ClassVar[int | None] = KEPT
    send = staticmethod(send)
    receive = staticmethod(receive)

    def __post_init__(self) -> None:
        self.check("noise_scale", checked, low=0.0)
        self.check("noise_decay", checked, low=0.0, high=1.0, high_open=True)
        why = "|s − 1| < q < 1 must leave room for q"
        self.check("noise_share", checked, low=0.0, high=2.0, low_open=True, high_open=True, why=why)
        self.check_lengths("noise_scale", "noise_decay", "noise_share")
        check_decay(self.noise_decay, np.abs(np.subtract(self.noise_share, 1.0)), "|noise_share − 1|")
        if self.step_size is not None:
            if self.weights is not None:
                raise InvalidParameter("step_size and weights exclude each other: both say how nodes mix; got both")
            self.check("step_size", low=0.0, low_open=True)
        if self.weights is not None:
            super().__post_init__()

    @property
    def share(self) -> float | Array:
        return self.noise_share

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(noise_scale=1.0, noise_decay=0.5),)

    def validate(self, graph: Graph) -> None:
        largest = 1.0 / float(graph.degrees.max())
        if self.step_size is not None and self.step_size >= largest:
            raise InvalidParameter(
                f"step_size must be in (0, {largest:.6g}) (1/d_max: I − hL must keep a positive "
                f"diagonal), got {self.step_size:g}"
            )
        super().validate(graph)

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        return () if self.weights is None else super().caveats(graph)

    def needs(self) -> str:
        return RoundMethod.needs(self) + " and the largest degree" if self.weights is None else super().needs()

    def mixing(self, graph: Graph) -> scipy.sparse.csr_array:
        if self.weights is not None:
            return super().mixing(graph)
        return laplacian_weights(graph, self.step_size or 1.0 / (1.0 + float(graph.degrees.max())))

    def moved(self, graph: Graph) -> scipy.sparse.csr_array:
        return plus_diagonal(
            plus_diagonal(self.mixing(graph), np.full(graph.num_nodes, -1.0)), self.each("noise_share", graph)
        )

    def modes(self, eigenvalues: Array) -> tuple[Array, Array]:
        return eigenvalues, eigenvalues - 1.0 + self.noise_share

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, AMPLITUDE] = self.each("noise_scale", graph)
        nodes[:, DECAY] = self.each("noise_decay", graph)
        nodes[:, SHARE] = self.each("noise_share", graph)
        return nodes

    def noisy_rounds(self, graph: Graph) -> int:
        return 1 if np.max(self.noise_decay) == 0.0 else 2**62

    def label(self) -> str:
        share = "" if np.all(np.equal(self.noise_share, 1.0)) else f", s = {brief(self.noise_share)}"
        return f"Nozari, b = {brief(self.noise_scale)}, q = {brief(self.noise_decay)}{share}"


def nozari_variance(
    noise_scale: npt.ArrayLike, noise_decay: npt.ArrayLike, noise_share: npt.ArrayLike, num_nodes: int
) -> float:
    """Nozari et al.: variance of the (unbiased) limit around c̄, (2/n²) Σ s_i² b_i²/(1 − q_i²).

    Noise η_i(k) ~ Laplace(b_i q_i^k); s_i is how much of it stays in the state. Parameters are those of
    :class:`sottovoce.Nozari`, one number or one per node.

    Examples
    --------
    >>> nozari_variance(1.0, 0.0, 1.0, 4)
    0.5
    """
    return laplace_variance(noise_scale, noise_decay, noise_share, num_nodes)


def nozari_epsilon(
    noise_scale: npt.ArrayLike,
    noise_decay: npt.ArrayLike,
    noise_share: npt.ArrayLike = 1.0,
    *,
    sensitivity: float = 1.0,
) -> float:
    """Nozari et al.: ε = δ q/(b (q − a)), a = abs(s − 1), against an observer of all messages; q in (a, 1).

    With s = 1 it is δ/b for every q, 0 included: one Laplace draw on the initial value does as well as any sequence.

    Parameters
    ----------
    noise_scale, noise_decay, noise_share
        b ≥ 0, q and s as in :class:`sottovoce.Nozari`; one number, or one per node and then ε is that of the node
        protected least.
    sensitivity
        δ: how far apart two private values are that must not be told apart.

    Examples
    --------
    >>> nozari_epsilon(2.0, 0.5), nozari_epsilon(2.0, 0.5, 0.75)
    (0.5, 1.0)
    """
    left = np.abs(np.asarray(noise_share, dtype=np.float64) - 1.0)
    check_decay(noise_decay, left, "|noise_share − 1|")
    return laplace_epsilon(noise_scale, noise_decay, left, sensitivity)
