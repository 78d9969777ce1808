"""The resolvent bound: nearly the true rate of the expected error, from the Laplacian alone.

For 0 ≤ s < α_p let Z = L_p (L_p − sΠ)⁺, that is λ/(λ − s) on the eigenvectors of L_p and 0 on the constant one. If
b_eᵀZb_e ≤ 4 for every edge that fires, then for every k

    E G_k ≤ ½ (1 − s)^k cᵀZc + ⅛ Σ_i σ_i² κ_i Σ_{t<k} r_i^t (1 − s)^{k−1−t},        κ_i = Σ_{e∋i} p_e b_eᵀZb_e.

*Proof.* Let y be the centred values less their outstanding noise (:mod:`.exact`). A step takes E yᵀZy to
E yᵀT(Z)y + ¼ Σ_i κ_i σ_i² r_i^t. Z commutes with L_p, so T(Z) = Z − L_pZ + ¼ Σ p_e (b_eᵀZb_e) b_e b_eᵀ, which is at
most Z − L_pZ + L_p = (1 − s) Z, because (L_p − s) Z = L_p on centred vectors. Iterate, and use Π ⪯ Z. ∎

s = α_p/2 always qualifies (then Z ⪯ 2Π), so 1 − s is never above ρ. If instead b_eᵀZb_e ≥ 4 for every edge, the same
lines show that gossip shrinks by no less than 1 − s: together they enclose its rate.

On small graphs all eigenvectors are computed. On large ones b_eᵀZb_e is bounded above by Gauss–Radau quadrature (Golub
and Meurant): its measure has no mass below α_p, and its first moments b_eᵀL_p^k b_e are sums over neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ...foundation.arguments import Array
from ...graphs.chances import Chances, both_ends
from ...graphs.graph import Graph
from ...graphs.spectrum import connectivity
from ...graphs.spectrum.lanczos import eigenpairs, radau_corner, recurrence
from ...methods import Method
from ...methods.noise_insertion import free_decay
from .edge_transitive import edge_transitive
from .many import noise_sums, noise_sums_from_start
from .setting import Noise, as_steps, centred
from .sums import power

__all__ = ["Resolvent", "proved_free_decay", "rate_bounds", "resolvent", "resolvent_bound"]

_DENSE = 1_500
"""Up to this many nodes all eigenvectors are computed."""

_LIMIT = 4.0 * (1.0 - 1e-9)
"""b_eᵀZb_e is kept below this, so that rounding does not decide whether the bound holds."""

_BLOCK = 4_096
_VECTORS = 400


@dataclass(frozen=True, eq=False)
class Resolvent:
    """s and what the bound needs of Z."""

    gap: float
    """s: the proved rate is 1 − s."""
    edges: Array
    """``(m,)`` b_eᵀZb_e, or an upper bound on it; at most 4 on edges that fire."""
    start: Callable[[Array], float]
    """cᵀZc of ``(n, d)`` centred values, summed over columns, or an upper bound on it."""
    certified: bool
    """Whether α_p was counted or known in closed form. If not, the bound is as sure as α_p is
    (:func:`sottovoce.graphs.connectivity`)."""


def resolvent(chances: Chances, *, dense: bool | None = None) -> Resolvent:
    """The largest s that can be shown to qualify; ``dense`` forces one of the two ways."""
    if chances.alpha <= 0.0:  # in pieces: nothing contracts, Z = Π
        return Resolvent(0.0, np.full(chances.graph.num_edges, 2.0), lambda c: float(np.sum(c**2)), certified=True)
    if _is_small(chances) if dense is None else dense:
        return _Dense.of(chances).resolvent()
    return _from_moments(chances)


def _is_small(chances: Chances) -> bool:
    """Whether all eigenvectors are affordable, and a tiny α_p is not lost in the rounding of the matrix."""
    return chances.graph.num_nodes <= _DENSE and chances.alpha > 1e-9 * float(chances.nodes.max())


def resolvent_bound(
    graph: Graph,
    private_values: npt.ArrayLike | Mapping[Any, Any],
    method: Method,
    num_steps: int | None = None,
    *,
    at: npt.ArrayLike | None = None,
    edge_probabilities: npt.ArrayLike | None = None,
) -> Array:
    """The resolvent bound on E[½‖x^k − c̄‖²], with the arguments of :func:`~sottovoce.theory.error_bound`.

    Examples
    --------
    >>> from sottovoce import NoiseInsertion
    >>> from sottovoce.graphs import cycle
    >>> from sottovoce.theory import expected_error, error_bound
    >>> ring, method, values = cycle(10), NoiseInsertion(noise_std=1.0, noise_decay=0.9), range(10)
    >>> exact = expected_error(ring, values, method, at=[600])
    >>> bool(exact[0] <= resolvent_bound(ring, values, method, at=[600])[0] <= 20 * exact[0])
    True
    >>> bool(error_bound(ring, values, method, at=[600], form="sharpened")[0] > 1000 * exact[0])
    True
    """
    chances = Chances.connecting(graph, edge_probabilities)
    found, noise, steps = resolvent(chances), Noise.of(method, chances), as_steps(num_steps, at)
    values = centred(graph, private_values)
    seals = values.shape[1] * noise.seal_std**2 * float(found.edges.sum())  # s² tr(LZ)
    bound: Array = 0.5 * (found.start(values) + seals) * power(found.gap, steps)
    noisy = (noise.std > 0) & (chances.nodes > 0)
    if not noisy.any():
        return bound
    weights = 0.125 * values.shape[1] * noise.variance * both_ends(graph, chances.edges * found.edges)
    terms = found.gap, noise.gap[noisy], chances.nodes[noisy], weights[noisy]
    every = noise_sums_from_start(int(num_steps or 0), *terms) if at is None else None
    return bound + (noise_sums(steps, *terms) if every is None else every)


def rate_bounds(graph: Graph, *, edge_probabilities: npt.ArrayLike | None = None) -> tuple[float, float]:
    """(lower, upper) bounds on the factor by which E G of standard gossip shrinks per step in the end.

    The upper is the resolvent's 1 − s. The lower is ρ² (Jensen's inequality on the Fiedler vector), or the
    resolvent's from the other side where all eigenvectors are known. On large edge-transitive graphs both are the rate.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> from sottovoce.theory import second_moment_rate
    >>> low, high = rate_bounds(cycle(10))
    >>> low <= second_moment_rate(cycle(10)) <= high, round(high - low, 9)
    (True, 0.0)
    """
    chances = Chances.connecting(graph, edge_probabilities)
    known = edge_transitive(graph) if edge_probabilities is None and graph.num_nodes > _DENSE else None
    if known is not None:
        return 1.0 - known.gap, 1.0 - known.gap
    low = (1.0 - chances.contraction_gap) ** 2
    if not _is_small(chances):
        return low, 1.0 - resolvent(chances).gap
    spectrum = _Dense.of(chances)
    other_side = spectrum.distance(8.0 - _LIMIT, largest=False)
    return max(low, 1.0 - spectrum.alpha + other_side), 1.0 - spectrum.resolvent().gap


def proved_free_decay(graph: Graph, *, edge_probabilities: npt.ArrayLike | None = None) -> tuple[Array, Array]:
    """``(n,)`` each: the largest φ_i that surely leave the real rate alone, and the largest that leave the proved one.

    Noise of node i fades by r_i = 1 − p_i (1 − φ_i²) a step. Up to the first, r_i is at most the lower of
    :func:`rate_bounds`, hence at most the rate of gossip itself. Up to the second it is at most the upper one: the
    resolvent bound then falls like (1 − s)^k, times k at the most. Above the second, noise surely slows the run.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> real, proved = proved_free_decay(cycle(10))
    >>> float(real[0].round(4)), float(proved[0].round(4))
    (0.904, 0.904)
    """
    chances = Chances.connecting(graph, edge_probabilities)
    low, high = rate_bounds(graph, edge_probabilities=edge_probabilities)
    return free_decay(1.0 - low, chances.nodes), free_decay(1.0 - high, chances.nodes)


# -- all eigenvectors ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Dense:
    """The spectrum of L_p on centred vectors."""

    chances: Chances
    values: Array
    vectors: Array

    @classmethod
    def of(cls, chances: Chances) -> _Dense:
        size = chances.graph.num_nodes
        # The constant vector is moved to the far end of the spectrum, which ends below twice the largest p_i.
        full = chances.laplacian.toarray() + 4.0 * float(chances.nodes.max()) / size
        values, vectors = np.linalg.eigh(full)
        return cls(chances, values[:-1], vectors[:, :-1])

    @property
    def alpha(self) -> float:
        """α_p."""
        return float(self.values[0])

    def forms(self, distance: float, edges: npt.NDArray[np.intp]) -> Array:
        """``(len(edges),)`` b_eᵀZb_e at s = α_p − distance."""
        weights = self.values / (self.values - self.values[0] + distance)
        ends, result = self.chances.graph.edges[edges], np.empty(len(edges))
        for begin in range(0, len(edges), _BLOCK):
            first, second = ends[begin : begin + _BLOCK].T
            result[begin : begin + _BLOCK] = (self.vectors[first] - self.vectors[second]) ** 2 @ weights
        return result

    def distance(self, limit: float, *, largest: bool = True) -> float:
        """α_p − s where the largest (or smallest) b_eᵀZb_e of the edges that fire is ``limit``.

        Few edges decide: solve for those that do so far, look at all, and add the one that is beyond, if any.
        """
        fires, sign = np.flatnonzero(self.chances.edges > 0), 1.0 if largest else -1.0
        deciding: list[int] = []
        distance = 0.5 * self.alpha
        while True:
            forms = sign * self.forms(distance, fires)
            worst = int(np.argmax(forms))
            if deciding and forms[worst] <= forms[deciding].max() + 1e-12:
                return distance
            deciding.append(worst)

            def excess(x: float) -> float:
                return sign * float(np.max(sign * self.forms(x, fires[deciding]))) - limit

            distance = _distance(excess, self.alpha)

    def resolvent(self) -> Resolvent:
        """With the largest s."""
        distance = self.distance(_LIMIT)
        weights = self.values / (self.values - self.values[0] + distance)

        def start(values: Array) -> float:
            return float(weights @ np.sum((self.vectors.T @ values) ** 2, axis=1))

        every = self.forms(distance, np.arange(self.chances.graph.num_edges))
        return Resolvent(self.alpha - distance, every, start, certified=True)


def _distance(excess: Callable[[float], float], alpha: float) -> float:
    """α_p − s where the excess, which falls with the distance, is zero; next to nothing if it never is positive."""
    import scipy.optimize

    low, high = math.log(1e-13 * alpha), math.log(alpha)
    if excess(math.exp(low)) <= 0.0:
        return math.exp(low)
    return math.exp(scipy.optimize.brentq(lambda x: excess(math.exp(x)), low, high, xtol=1e-12))


# -- moments ------------------------------------------------------------------------------------------


def _from_moments(chances: Chances) -> Resolvent:
    alpha, certified = _below(chances)
    nodes, weights = _radau(_moments(chances), alpha)
    fires = chances.edges > 0

    def edges(distance: float) -> Array:
        # Nodes are distances above α_p; the first is 0.
        return np.asarray(np.sum(weights * (alpha + nodes) / (nodes + distance), axis=1))

    distance = _distance(lambda x: float(edges(x)[fires].max()) - _LIMIT, alpha)
    gap = alpha - distance
    return Resolvent(gap, edges(distance), lambda values: _start(chances, values, alpha, gap), certified)


def _below(chances: Chances) -> tuple[float, bool]:
    """A number that α_p is not below, and whether that was counted."""
    if chances.edge_probabilities is None:
        found = connectivity(chances.graph)
        lower = found.value - found.error if found.lower_bound is None else found.lower_bound
        return lower / chances.graph.num_edges, found.lower_bound is not None
    return chances.alpha * (1.0 - 1e-5), False


def _moments(chances: Chances) -> Array:
    """``(m, 5)`` b_eᵀ (L_p)^k b_e for k = 0..4, from rows of L_p and of its square."""
    one = chances.laplacian
    two = one @ one
    first, second = chances.graph.edges[:, 0], chances.graph.edges[:, 1]
    result = np.empty((len(first), 5))
    result[:, 0] = 2.0
    result[:, 1] = chances.nodes[first] + chances.nodes[second] + 2.0 * chances.edges
    for begin in range(0, len(first), 16 * _BLOCK):
        part = slice(begin, begin + 16 * _BLOCK)
        near, far = (matrix[first[part]] - matrix[second[part]] for matrix in (one, two))
        pairs = ((near, near), (near, far), (far, far))
        result[part, 2:] = np.stack([np.asarray((a * b).sum(axis=1)).ravel() for a, b in pairs], axis=1)
    return result


def _radau(moments: Array, left: float) -> tuple[Array, Array]:
    """``(m, 3)`` nodes, as distances above ``left``, and weights: the quadrature with a node at ``left``.

    For functions whose odd derivatives are negative, as λ/(λ − s), it is an upper bound on the integral over [left, ∞).
    """
    unit = moments[:, 1] / moments[:, 0]
    scaled = moments / unit[:, None] ** np.arange(5)
    shift = left / unit
    # Moments of (λ − left)^k: binomial sums; then Gauss with two nodes for the measure with density λ − left.
    total, *rest = (sum(math.comb(k, j) * scaled[:, j] * (-shift) ** (k - j) for j in range(k + 1)) for k in range(5))
    a, b, c, d = (np.maximum(part, 0.0) for part in rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = a * c - b * b
        half, product = 0.5 * (a * d - b * c) / determinant, (b * d - c * c) / determinant
        high = half + np.sqrt(np.maximum(half * half - product, 0.0))
        low = product / high
        upper = (b - low * a) / (high - low)
        # Where rounding would decide: one more node instead of two, or none. Fewer nodes give a bound as well.
        one = (a > 1e-12 * total) & (b > 1e-12 * a)
        two = (determinant > 1e-9 * a * c) & (low > 1e-9 * high) & (high - low > 1e-9 * high)
        high = np.where(two, high, np.where(one, b / a, 1.0))
        low, upper, lower = np.where(two, low, 1.0), np.where(two, upper, one * a), np.where(two, a - upper, 0.0)
    weights = np.stack([np.zeros_like(a), lower / low, upper / high], axis=1)
    weights[:, 0] = np.maximum(total - weights.sum(axis=1), 0.0)
    return np.stack([np.zeros_like(a), low, high], axis=1) * unit[:, None], weights


def _start(chances: Chances, values: Array, alpha: float, gap: float) -> float:
    """An upper bound on Σ cᵀZc over columns: Lanczos on L_p from c, closed with a node at α_p."""
    return sum(_column(chances, column, alpha, gap) for column in values.T)


def _column(chances: Chances, column: Array, alpha: float, gap: float) -> float:
    length, matrix = float(np.linalg.norm(column)), chances.laplacian
    if length == 0.0:
        return 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    for _, here, following in islice(recurrence(lambda v: matrix @ v, column / length), _VECTORS):
        diagonal.append(here)
        beside.append(following)
        if following <= 1e-12 * alpha:  # the values lie in a few eigenspaces
            beside[-1] = 0.0
            break
    corner = radau_corner(diagonal, beside, alpha)
    levels, vectors = eigenpairs(np.append(diagonal, corner), beside)
    levels = np.maximum(levels, alpha)
    return length**2 * float(vectors[0] ** 2 @ (levels / (levels - gap)))
