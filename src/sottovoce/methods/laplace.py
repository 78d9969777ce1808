"""What the two methods with Laplace noise share: ε, the variance of the limit, and the error round by round.

Nozari, Tallapragada and Cortés (2017) and Huang, Mitra and Dullerud (2012) both say θ = x + η with η ~ Laplace(b q^k)
and add a share s of the noise to the value, where it stays. They differ in how far a node moves towards what it hears.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, Unsupported
from ..foundation.arguments import checked, number
from ..graphs.graph import Graph, check_graph
from .base import Array, Guarantee
from .released import FadingNoise, LinearRounds, Released
from .synchronous import WeightedMethod
from .weights import averaging_matrix

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["LaplaceMethod", "check_decay", "laplace_epsilon", "laplace_error", "laplace_variance"]

ROUNDING = 1e-12
"""Ends of an interval that are closer than this, relatively, are equal."""


class LaplaceMethod(WeightedMethod):
    """Everything said has Laplace noise of scale b q^k; a share s of it stays in the values."""

    noise_scale: Any
    noise_decay: Any

    noise: ClassVar[str] = "laplace"

    @property
    @abstractmethod
    def share(self) -> float | Array:
        """``s``: how much of the noise a node puts into its own value."""

    @abstractmethod
    def moved(self, graph: Graph) -> scipy.sparse.csr_array:
        """M of x ← (1 − s) x + M θ."""

    @abstractmethod
    def modes(self, eigenvalues: Array) -> tuple[Array, Array]:
        """(a, h) of x ← a x + h η in the eigenbasis of W, for one s."""

    def releases(self, graph: Graph) -> Released:
        """The standard deviation of Laplace(b) is √2 b; with q = 0 only the first message has noise."""
        scale, decay = self.each("noise_scale", graph), self.each("noise_decay", graph)
        rounds = np.where(decay > 0.0, np.inf, 1.0)
        kept = np.broadcast_to(1.0 - np.asarray(self.share), (graph.num_nodes,))
        return LinearRounds(
            kept,
            self.moved(graph),
            FadingNoise(math.sqrt(2.0) * scale, decay, rounds, law="laplace"),
            epsilon=laplace_epsilon(scale, decay, np.abs(np.asarray(self.share) - 1.0)),
        )

    def guarantee(self, graph: Graph) -> Guarantee:
        """All nodes end at one random value near c̄: the error does not shrink to 0, n times its variance is left."""
        variance = laplace_variance(self.noise_scale, self.noise_decay, self.share, graph.num_nodes)
        return Guarantee(remaining=graph.num_nodes * variance)


def check_decay(noise_decay: npt.ArrayLike, left: npt.ArrayLike, name: str) -> None:
    """Refuse q outside (a, 1), where a = ``left`` is what a round leaves of a difference; a = q = 0 is one draw."""
    decay, rest = np.broadcast_arrays(np.asarray(noise_decay, dtype=np.float64), np.asarray(left, dtype=np.float64))
    # |0.8 − 1| is a little less than 0.2 in doubles, and an ε of 10^15 would be called a guarantee.
    bad = ~(((rest < decay * (1.0 - ROUNDING)) | ((decay == 0.0) & (rest == 0.0))) & (decay < 1.0))
    if bad.any():
        at = int(np.argmax(bad))
        raise InvalidParameter(
            f"noise_decay must be in ({name}, 1) = ({rest.flat[at]:g}, 1) (outside ε is infinite: values stay longer "
            f"than the noise that hides them), got {decay.flat[at]:g}" + (f" at node {at}" if decay.ndim else "")
        )


def laplace_epsilon(
    noise_scale: npt.ArrayLike, noise_decay: npt.ArrayLike, left: npt.ArrayLike, sensitivity: float = 1.0
) -> float:
    """Σ_k δ a^k/(b q^k): what is left of the difference after k rounds, over the scale of that round's noise.

    One number, or one per node and then ε is that of the node protected least.
    """
    scale = np.asarray(checked("noise_scale", noise_scale, low=0.0))
    number("sensitivity", sensitivity, low=0.0)
    if sensitivity > 0.0 and not scale.all():
        return math.inf
    decay, rest = np.broadcast_arrays(np.asarray(noise_decay, dtype=np.float64), np.asarray(left, dtype=np.float64))
    kept = np.where(decay == 0.0, 1.0, decay / np.where(decay == 0.0, 1.0, decay - rest))
    return float(np.max(sensitivity * kept / np.where(scale > 0.0, scale, 1.0)))


def laplace_variance(
    noise_scale: npt.ArrayLike, noise_decay: npt.ArrayLike, share: npt.ArrayLike, num_nodes: int
) -> float:
    """(2/n²) Σ s_i² b_i²/(1 − q_i²): W keeps sums, so a node's noise enters the mean s/n times, in every round."""
    scale, decay, kept = (
        np.broadcast_to(np.asarray(p, dtype=np.float64), (num_nodes,)) for p in (noise_scale, noise_decay, share)
    )
    checked("noise_decay", decay, low=0.0, high=1.0, high_open=True)
    return float(2.0 / num_nodes**2 * np.sum(kept**2 * scale**2 / (1.0 - decay**2)))


def laplace_error(graph: Graph, method: LaplaceMethod, num_rounds: int, *, value_std: float = 1.0) -> Array:
    """Nozari et al., Huang et al.: E‖x(k) − c̄‖²/n for k = 0..num_rounds, exactly, for values of variance value_std².

    In the eigenbasis of W both methods are x ← a x + h η in every coordinate, with a = λ, h = λ − 1 + s (Nozari) and
    a = 1 − s + sλ, h = sλ (Huang); the coordinate of the mean starts without error and keeps all it gets.

    Examples
    --------
    >>> import sottovoce as sv
    >>> method = sv.Nozari(noise_scale=1.0, noise_decay=0.5)
    >>> limit = sv.theory.nozari_variance(1.0, 0.5, 1.0, 4)
    >>> float(laplace_error(sv.graphs.cycle(4), method, 200)[-1].round(9)), round(limit, 9)
    (0.666666667, 0.666666667)
    """
    check_graph(graph)
    if any(np.ndim(parameter) for parameter in (method.noise_scale, method.noise_decay, method.share)):
        raise Unsupported(f"laplace_error covers methods with the same noise at all nodes, got {method!r}")
    eigenvalues: Array = np.linalg.eigvalsh(averaging_matrix(method.mixing(graph).toarray())).astype(np.float64)
    kept, added = method.modes(eigenvalues)
    squares = np.full(graph.num_nodes, float(value_std) ** 2)
    squares[-1] = 0.0
    result = np.empty(num_rounds + 1)
    variance = 2.0 * float(method.noise_scale) ** 2
    for k in range(num_rounds + 1):
        result[k] = squares.mean()
        squares = kept**2 * squares + added**2 * variance
        variance *= float(method.noise_decay) ** 2
    return result
