"""Nozari, Tallapragada and Cortés (2017): differentially private averaging with Laplace noise that stays.

θ = x + η is said; x⁺ = x − hLθ + Sη with η_i(k) ~ Laplace(b_i q_i^k). Every node converges to
c̄ + (1/n) Σ_i s_i Σ_k η_i(k), which is right on average only: exactness and differential privacy against an observer
of all messages exclude each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..errors import InvalidParameter
from ..foundation.arguments import brief, checked, number, per_node
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.graph import Graph
from .base import VALUE, Array
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .synchronous import WeightedMethod
from .weights import Weights, check_weights, laplacian_weights, minus_identity, weight_caveats

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["Nozari", "laplace_epsilon"]

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
@dataclass(frozen=True, eq=False, repr=False)
class Nozari(WeightedMethod):
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
    sottovoce.errors.InvalidParameter: noise_decay must be in (|s − 1|, 1) (ε is infinite outside), got q = 0.1 with
    s = 0.5
    """

    noise_scale: float | Array
    noise_decay: float | Array
    noise_share: float | Array = 1.0
    step_size: float | None = None
    weights: Weights | None = None

    name: ClassVar[str] = "nozari"
    num_fields: ClassVar[int] = 6
    outstanding_field: ClassVar[int | None] = KEPT
    noise: ClassVar[str] = "laplace"
    send = staticmethod(send)
    receive = staticmethod(receive)

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_scale", checked("noise_scale", self.noise_scale, low=0.0))
        object.__setattr__(
            self, "noise_decay", checked("noise_decay", self.noise_decay, low=0.0, high=1.0, high_open=True)
        )
        why = "|s − 1| < q < 1 must leave room for q"
        share = checked("noise_share", self.noise_share, low=0.0, high=2.0, low_open=True, high_open=True, why=why)
        object.__setattr__(self, "noise_share", share)
        decay, shares = np.broadcast_arrays(*_same_length(self.noise_decay, self.noise_share))
        bad = (decay <= np.abs(shares - 1.0)) & ~((decay == 0.0) & (shares == 1.0))
        if bad.any():
            at = int(np.argmax(bad))
            raise InvalidParameter(
                "noise_decay must be in (|s − 1|, 1) (ε is infinite outside), "
                f"got q = {decay.flat[at]:g} with s = {shares.flat[at]:g}" + (f" at node {at}" if decay.ndim else "")
            )
        if self.step_size is not None:
            if self.weights is not None:
                raise InvalidParameter("step_size and weights exclude each other: both say how nodes mix; got both")
            object.__setattr__(self, "step_size", number("step_size", self.step_size, low=0.0, low_open=True))
        if self.weights is not None:
            object.__setattr__(self, "weights", check_weights(self.weights))

    def validate(self, graph: Graph) -> None:
        largest = 1.0 / float(graph.degrees.max())
        if self.step_size is not None and self.step_size >= largest:
            raise InvalidParameter(
                f"step_size must be in (0, {largest:.6g}) (1/d_max: I − hL must keep a positive "
                f"diagonal), got {self.step_size:g}"
            )
        for name in ("noise_scale", "noise_decay", "noise_share"):
            per_node(name, getattr(self, name), graph.num_nodes)
        super().validate(graph)

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        return () if self.weights is None else weight_caveats(self.weights, graph)

    def mixing(self, graph: Graph) -> scipy.sparse.csr_array:
        if self.weights is not None:
            return super().mixing(graph)
        return laplacian_weights(graph, self.step_size or 1.0 / (1.0 + float(graph.degrees.max())))

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, AMPLITUDE] = per_node("noise_scale", self.noise_scale, graph.num_nodes)
        nodes[:, DECAY] = per_node("noise_decay", self.noise_decay, graph.num_nodes)
        nodes[:, SHARE] = per_node("noise_share", self.noise_share, graph.num_nodes)
        return nodes

    def noisy_rounds(self, graph: Graph) -> int:
        return 1 if np.max(self.noise_decay) == 0.0 else 2**62

    def releases(self, graph: Graph) -> Released:
        """x ← x + (W − I)s + share·(s − x)."""
        import scipy.sparse

        n = graph.num_nodes
        scale, decay, share = (
            per_node(name, getattr(self, name), n) for name in ("noise_scale", "noise_decay", "noise_share")
        )
        noise = FadingNoise(np.sqrt(2.0) * scale, decay, np.full(n, np.inf), law="laplace")
        moved = scipy.sparse.csr_array(minus_identity(self.mixing(graph)) + scipy.sparse.diags_array(share))
        return LinearRounds(1.0 - share, moved, noise, epsilon=laplace_epsilon(scale, decay, np.abs(share - 1.0)))

    def label(self) -> str:
        share = "" if np.all(np.equal(self.noise_share, 1.0)) else f", s = {brief(self.noise_share)}"
        return f"Nozari, b = {brief(self.noise_scale)}, q = {brief(self.noise_decay)}{share}"


def laplace_epsilon(scale: Array, decay: Array, lost: Array) -> float:
    """ε for values one apart of the node protected least: Σ_k a^k/(b q^k) = q/(b(q − a)), or 1/b with a = q = 0."""
    if not scale.all():
        return float("inf")
    one_draw = (decay == 0.0) & (lost == 0.0)
    return float(np.max(np.where(one_draw, 1.0, decay / np.where(one_draw, 1.0, decay - lost)) / scale))


def _same_length(*parameters: float | Array) -> list[Array]:
    arrays = [np.asarray(p) for p in parameters]
    lengths = {a.shape for a in arrays if a.ndim}
    if len(lengths) > 1:
        raise InvalidParameter(
            "noise_decay and noise_share must have one entry per node each, "
            f"got lengths {sorted(n for (n,) in lengths)}"
        )
    return arrays
