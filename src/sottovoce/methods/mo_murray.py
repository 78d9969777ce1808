"""Mo and Murray (2017): synchronous averaging under noise that is withdrawn, the model of Algorithm 1.

w(0) = v(0), w(k) = φ^k v(k) − φ^{k−1} v(k−1) with v ~ N(0, σ²); x(k+1) = W (x(k) + w(k)). As in Algorithm 1 the
noise that is put in and not yet withdrawn is u(k) = φ^k v(k), and Σ x − Σ u = Σ c after every round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, InvalidValues, NumericalFailure
from ..foundation.arguments import number, unnamed
from ..foundation.numbers import NEGLIGIBLE
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method
from .registry import register
from .released import FadingNoise, LinearRounds, Released
from .synchronous import WeightedMethod, check_node, take_combined
from .weights import Weights, averaging_matrix, consensus_factor, plus_diagonal, weights_apart

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["MoMurray", "mo_murray_disclosure", "mo_murray_error", "mo_murray_factor"]

MOST_ROUNDS = 100_000
"""Of the Riccati recursion, which as a rule settles within a few hundred."""

OUTSTANDING, AMPLITUDE = 1, 2
STD, DECAY = 0, 1


def send(nodes: Array, i: int, draw: float, step: int, parameters: Array) -> float:
    """Withdraw the last noise, put in fresh noise, tell the sum."""
    fresh = nodes[i, AMPLITUDE] * draw
    shown = nodes[i, VALUE] + (fresh - nodes[i, OUTSTANDING])
    nodes[i, OUTSTANDING] = fresh
    smaller = nodes[i, AMPLITUDE] * parameters[DECAY]
    nodes[i, AMPLITUDE] = smaller if smaller >= NEGLIGIBLE else 0.0
    return float(shown)


@register
@dataclass(frozen=True)
class MoMurray(WeightedMethod):
    """Synchronous averaging in which every node adds noise of shrinking amplitude and withdraws the previous one.

    Parameters
    ----------
    noise_std
        σ ≥ 0, the standard deviation of the first noise of every node.
    noise_decay
        φ in [0, 1), the share of amplitude kept per round.
    weights
        See :class:`~sottovoce.SynchronousAveraging`.

    Notes
    -----
    Mean-square error shrinks at max(φ², λ₂², λ_n²) a round. Whatever φ, the value of a node is disclosed in
    the limit exactly if the observer hears the node and all neighbours of the node.
    """

    noise_std: float
    noise_decay: float
    weights: Weights = "metropolis"

    name: ClassVar[str] = "mo-murray"
    noise_sizes: ClassVar[tuple[str, ...]] = ("noise_std",)
    num_fields: ClassVar[int] = 3
    outstanding_field: ClassVar[int | None] = OUTSTANDING
    noise: ClassVar[str] = "normal"
    send = staticmethod(send)
    receive = staticmethod(take_combined)

    def __post_init__(self) -> None:
        self.check("noise_std", low=0.0)
        why = "noise that does not shrink is never withdrawn"
        self.check("noise_decay", low=0.0, high=1.0, high_open=True, why=why)
        super().__post_init__()

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(noise_std=1.0, noise_decay=0.9),)

    def initial(self, graph: Graph, private_values: Array) -> Array:
        nodes = super().initial(graph, private_values)
        nodes[:, AMPLITUDE] = self.noise_std
        return nodes

    def noisy_rounds(self, graph: Graph) -> int:
        if self.noise_std == 0.0:
            return 0
        if self.noise_decay == 0.0:
            return 1
        return 2 + max(0, int(math.log(NEGLIGIBLE / self.noise_std) / math.log(self.noise_decay)))

    def parameters(self, graph: Graph) -> Array:
        return np.array([self.noise_std, self.noise_decay])

    def releases(self, graph: Graph) -> Released:
        """With z for the value less the outstanding noise: s = z + fresh, z ← W s − fresh = z + (W − I)s."""
        n = graph.num_nodes
        noise = FadingNoise.equal(n, std=self.noise_std, decay=self.noise_decay)
        return LinearRounds(np.ones(n), plus_diagonal(self.mixing(graph), np.full(n, -1.0)), noise)

    def guarantee(self, graph: Graph) -> Guarantee:
        decay = self.noise_decay if self.noise_std > 0.0 else 0.0
        factor = mo_murray_factor(self.mixing(graph), decay)
        return Guarantee(factor, 0.0, attained=not self.caveats(graph))

    def label(self) -> str:
        return f"Mo–Murray, σ = {self.noise_std:g}, φ = {self.noise_decay:g}{weights_apart(self.weights)}"


def mo_murray_factor(weights: npt.ArrayLike | scipy.sparse.csr_array, noise_decay: float) -> float:
    """Mo and Murray: the rate of E‖x(k) − c̄‖² is max(φ², λ₂², λ_n²).

    Examples
    --------
    >>> round(mo_murray_factor([[0.75, 0.25], [0.25, 0.75]], 0.9), 12)
    0.81
    """
    return max(_decay(noise_decay), consensus_factor(weights)) ** 2


def mo_murray_error(
    weights: npt.ArrayLike,
    private_values: npt.ArrayLike,
    noise_decay: float,
    num_rounds: int,
    *,
    noise_std: float = 1.0,
) -> Array:
    """Mo and Murray: E‖x(k) − c̄‖² for k = 0..num_rounds, exactly.

    x(k+1) = W (x(k) + w(k)) with w(0) = v(0), w(k) = φ^k v(k) − φ^{k−1} v(k−1). With W̄ = W − 11ᵀ/n and z = c − c̄,

    E‖x(k) − c̄‖² = zᵀW̄^{2k}z + σ² [φ^{2k−2} tr W² + Σ_{t=0}^{k−2} φ^{2t} tr(W̄^{2(k−t−1)} (W − I)²)],

    evaluated in the eigenbasis of W, O(n) for each k.

    Examples
    --------
    >>> mo_murray_error([[0.5, 0.5], [0.5, 0.5]], [1.0, 1.0], 0.5, 3).round(6).tolist()
    [0.0, 1.0, 0.25, 0.0625]
    """
    matrix = averaging_matrix(weights)
    values = np.asarray(unnamed("private_values", private_values, error=InvalidValues), dtype=np.float64)
    share = _decay(noise_decay) ** 2
    eigenvalues, vectors = np.linalg.eigh(matrix - 1.0 / len(matrix))
    spread = (vectors.T @ (values - values.mean())) ** 2
    squares = eigenvalues**2
    # On the constant vector W − I vanishes and here would be −1; but W̄ vanishes there too, and multiplies it.
    kicks = (eigenvalues - 1.0) ** 2
    result = np.empty(num_rounds + 1)
    power, forced, level = np.ones_like(squares), np.zeros_like(squares), 1.0
    result[0] = spread.sum()
    for k in range(1, num_rounds + 1):
        power = power * squares
        if k >= 2:
            forced = squares * (forced + level * kicks)
            level *= share
        result[k] = spread @ power + noise_std**2 * (level * (squares.sum() + 1.0) + forced.sum())
    return result


def mo_murray_disclosure(
    weights: npt.ArrayLike, observer: int, noise_decay: float, *, noise_std: float = 1.0, tolerance: float = 1e-13
) -> Array:
    """Mo and Murray: the covariance with which one node finally knows the private values of the others.

    The limit, by their Riccati recursion, of the best unbiased estimate that node ``observer`` can make of c from its
    own value and all messages of its neighbours. A zero on the diagonal means disclosed; that happens to node i
    exactly when i and all its neighbours are the observer or its neighbours, whatever φ.

    Parameters
    ----------
    weights
        ``(n, n)`` symmetric W with rows that add up to one; its off-diagonal pattern is the graph.
    observer
        The listening node.
    noise_decay, noise_std
        φ in (0, 1) and σ, of all nodes.
    tolerance
        Relative change at which the recursion has settled.

    Returns
    -------
    ndarray
        ``(n, n)``, zero in the observer's row and column.

    Raises
    ------
    NumericalFailure
        If the recursion does not settle.

    Examples
    --------
    >>> weights = np.array([[2, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 0, 1], [0, 0, 0, 3, 1], [1, 0, 1, 1, 1]]) / 4
    >>> mo_murray_disclosure(weights, 4, 0.5).diagonal().round(6).tolist()
    [0.25, 1.0, 0.25, 0.0, 0.0]
    """
    matrix = averaging_matrix(weights)
    share = _decay(noise_decay) ** 2
    if share == 0.0:
        raise InvalidParameter("noise_decay must be in (0, 1) for the disclosure, got 0")
    check_node("observer", observer, len(matrix))
    others = np.delete(np.arange(len(matrix)), observer)
    inner = matrix[np.ix_(others, others)]
    heard = np.diag((matrix[observer, others] != 0).astype(np.float64))
    known = _riccati_limit(inner, heard, share, tolerance)
    spread = np.linalg.inv(np.eye(len(inner)) - inner)
    sizes, vectors = np.linalg.eigh(spread @ heard @ spread)
    hidden = vectors[:, sizes <= 1e-9 * sizes.max()]
    covariance = np.zeros_like(matrix)
    if hidden.shape[1]:
        middle = np.linalg.inv(hidden.T @ spread @ known @ spread @ hidden)
        covariance[np.ix_(others, others)] = noise_std**2 * (hidden @ middle @ hidden.T)
    covariance[np.abs(covariance) <= 1e-12 * noise_std**2] = 0.0
    return covariance


def _riccati_limit(inner: Array, heard: Array, share: float, tolerance: float) -> Array:
    one = np.eye(len(inner))
    source = inner @ heard @ inner
    known, change = source, math.inf
    for _ in range(MOST_ROUNDS):
        kept = (one - heard) @ known @ (one - heard)
        shrunk = kept - kept @ np.linalg.solve(share * one + kept, kept)
        following = source + inner @ shrunk @ inner / share
        change = float(np.abs(following - known).max() / np.abs(following).max())
        known = 0.5 * (following + following.T)
        if change <= tolerance:
            return known
    raise NumericalFailure(f"the Riccati recursion did not settle to {tolerance:g}; relative change {change:.1e}")


def _decay(noise_decay: float) -> float:
    return number("noise_decay", noise_decay, low=0.0, high=1.0, high_open=True)
