"""Synchronous averaging x ← W x (DeGroot 1974; Xiao and Boyd 2004), and what all methods on weights share.

Also here: how much of the private values lies in what some nodes see of such averaging, which is what a single noisy
start leaks (Muffliato: Cyffers et al. 2022; El Mrini et al. 2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, RoundMethod
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .weights import Weights, averaging_matrix, check_weights, consensus_factor, mixing_matrix, weight_caveats

if TYPE_CHECKING:
    import scipy.sparse

__all__ = [
    "SynchronousAveraging",
    "WeightedMethod",
    "check_node",
    "one_draw_information",
    "seen_share",
    "take_combined",
]


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Every node tells its value."""
    return float(nodes[i, VALUE])


def take_combined(nodes: Array, i: int, sent: float, combined: float, step: int, parameters: Array) -> None:
    """The new value is the weighted average of all that was said."""
    nodes[i, VALUE] = combined


class WeightedMethod(RoundMethod):
    """A round method with a field ``weights``. Unless it says otherwise it is exact, at the rate of x ← W x."""

    weights: Any

    def __post_init__(self) -> None:
        self.check("weights", check_weights)

    def validate(self, graph: Graph) -> None:
        super().validate(graph)
        self.mixing(graph)

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        return weight_caveats(self.weights, graph)

    def needs(self) -> str:
        known = {"metropolis": "", "max-degree": " and the largest degree"}
        return super().needs() + (known[self.weights] if isinstance(self.weights, str) else " and the weights")

    def mixing(self, graph: Graph) -> scipy.sparse.csr_array:
        return mixing_matrix(self.weights, graph)

    def guarantee(self, graph: Graph) -> Guarantee:
        return Guarantee(consensus_factor(self.mixing(graph)) ** 2, 0.0)


@register
@dataclass(frozen=True)
class SynchronousAveraging(WeightedMethod):
    """Plain synchronous averaging: x ← W x, all nodes at once. It hides nothing.

    Parameters
    ----------
    weights
        ``"metropolis"``, ``"max-degree"`` or a doubly stochastic ``(n, n)`` matrix that is zero between
        nodes that are not neighbours.

    Examples
    --------
    >>> import sottovoce as sv
    >>> run = sv.simulate(sv.graphs.complete(4), [1.0, 2.0, 3.0, 6.0], SynchronousAveraging(), num_steps=1, seed=1)
    >>> run.values.tolist()
    [3.0, 3.0, 3.0, 3.0]
    """

    weights: Weights = "metropolis"

    name: ClassVar[str] = "synchronous"
    num_fields: ClassVar[int] = 1
    send = staticmethod(send)
    receive = staticmethod(take_combined)

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(),)

    def releases(self, graph: Graph) -> Released:
        return LinearRounds(np.zeros(graph.num_nodes), self.mixing(graph), FadingNoise.none(graph.num_nodes))

    def label(self) -> str:
        return "synchronous averaging"


def seen_share(weights: npt.ArrayLike, observers: npt.ArrayLike, num_rounds: int) -> Array:
    """``(n,)`` how much of each private value lies in what the observers see of ``num_rounds`` rounds of x ← W x.

    They know their own values and hear their neighbours at the start of each round. Stack what they see as rows B of
    linear functions of c: the share of node i is [B⁺B]_ii, between 0 (nothing) and 1 (without noise the value is
    theirs; El Mrini et al. 2024). With one Gaussian draw of standard deviation σ on every value (Muffliato) the Rényi
    divergence of order a between two values of node i that lie Δ apart is a Δ² share/(2σ²) on everything seen
    together. Adding up messages one by one understates it.

    Examples
    --------
    A path of three, W = I − L/3, two rounds seen by its first node: it knows all.

    >>> weights = np.eye(3) - np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]) / 3
    >>> seen_share(weights, [0], 2).round(12).tolist()
    [1.0, 1.0, 1.0]
    >>> seen_share(weights, [0], 1).round(12).tolist()
    [1.0, 1.0, 0.0]
    """
    matrix = averaging_matrix(weights)
    who = np.atleast_1d(np.asarray(observers, dtype=np.int64))
    for node in who:
        check_node("observers", node, len(matrix))
    heard = np.flatnonzero((matrix[who] != 0).any(axis=0))
    rows, values = [np.eye(len(matrix))[who]], np.eye(len(matrix))
    for _ in range(num_rounds):
        rows.append(values[heard])
        values = matrix @ values
    seen = np.vstack(rows)
    return np.asarray((np.linalg.pinv(seen, rcond=1e-12) * seen.T).sum(axis=1))


def one_draw_information(weights: npt.ArrayLike, observer: int, *, noise_std: float, num_rounds: int) -> Array:
    """Fisher information about every value when each node adds one Gaussian draw and then averages by W.

    That is Muffliato's setting (Cyffers et al. 2022). The messages a node hears in rounds 0 … ``num_rounds`` − 1
    are B(c + draws), so the information about c_u is e_uᵀB⁺B e_u/σ²; the observer knows its own value and
    draw. Adding up the messages one by one understates it, because they share the draws.

    Returns
    -------
    Array
        ``(n,)``; infinite for the observer.

    Examples
    --------
    Path 0–1–2 with W = I − L/3: after two rounds node 0 has all of node 2's noisy value.

    >>> L = np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]])
    >>> one_draw_information(np.eye(3) - L / 3, 0, noise_std=1.0, num_rounds=2).round(9).tolist()
    [inf, 1.0, 1.0]
    """
    if not noise_std > 0.0:
        raise InvalidParameter(f"noise_std must be above 0, got {noise_std:g}")
    information: Array = seen_share(weights, [observer], num_rounds) / noise_std**2
    information[observer] = np.inf
    return information


def check_node(name: str, node: int, num_nodes: int) -> None:
    """Refuse a node that is not in the graph."""
    if not 0 <= node < num_nodes:
        raise InvalidParameter(f"{name} must be in 0..{num_nodes - 1}, got {node}")
