"""Privacy of the synchronous and the differentially private methods, where the literature has formulas.

Mo and Murray's covariance by their Riccati recursion; ε of Nozari, Tallapragada, Cortés and of Huang, Mitra,
Dullerud; μ of pairwise-cancelling noise; exact information of one noisy start followed by averaging. Inference
round by round is :mod:`.rounds`; convergence of these methods is :mod:`sottovoce.theory`'s affair.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, NumericalFailure
from ..graphs.graph import Graph

__all__ = [
    "huang_epsilon",
    "mo_murray_covariance",
    "nozari_epsilon",
    "one_draw_information",
    "pairwise_cancelling_mu",
]

Array = npt.NDArray[np.float64]


def mo_murray_covariance(
    weights: npt.ArrayLike, noise_decay: float, observer: int, *, noise_std: float = 1.0, tolerance: float = 1e-13
) -> Array:
    """Covariance of the best unbiased estimate of all private values in the long run (Mo and Murray 2017).

    Nodes broadcast x + w with w(k) = φ^k v(k) − φ^{k−1} v(k−1) and take x ← W(x + w). One node listens to its
    neighbours for ever.

    Parameters
    ----------
    weights
        ``(n, n)`` symmetric, doubly stochastic W; its off-diagonal pattern is the graph.
    noise_decay
        φ in (0, 1).
    observer
        The listening node.
    noise_std
        σ of all nodes.
    tolerance
        Relative change at which the Riccati recursion has converged.

    Returns
    -------
    Array
        ``(n, n)``; zero in the observer's row and column. A zero on the diagonal means: disclosed.

    Examples
    --------
    >>> W = np.array([[2, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 0, 1], [0, 0, 0, 3, 1], [1, 0, 1, 1, 1]]) / 4
    >>> np.diag(mo_murray_covariance(W, 0.9, 4)).round(6).tolist()
    [0.372179, 1.488716, 0.372179, 0.0, 0.0]
    """
    W = _checked_weights(weights)
    if not 0.0 < noise_decay < 1.0:
        raise InvalidParameter(f"noise_decay must be in (0, 1), got {noise_decay:g}")
    _check_node("observer", observer, len(W))
    others = np.delete(np.arange(len(W)), observer)
    inner = W[np.ix_(others, others)]
    heard = np.diag((W[observer, others] != 0).astype(np.float64))
    unheard = np.eye(len(others)) - heard
    start = inner @ heard @ inner
    Y = start
    for _ in range(100_000):
        plus = unheard @ Y @ unheard
        reduced = plus - plus @ np.linalg.solve(noise_decay**2 * np.eye(len(others)) + plus, plus)
        following = start + inner @ reduced @ inner / noise_decay**2
        change = np.abs(following - Y).max()
        Y = 0.5 * (following + following.T)
        if change <= tolerance * np.abs(Y).max():
            break
    else:
        raise NumericalFailure(f"the Riccati recursion did not settle; relative change {change / np.abs(Y).max():.1e}")
    inverse = np.linalg.inv(np.eye(len(others)) - inner)
    values, vectors = np.linalg.eigh(inverse @ heard @ inverse)
    free = vectors[:, values <= 1e-9 * values.max()]
    covariance = np.zeros_like(W)
    if free.shape[1]:
        core = np.linalg.inv(free.T @ inverse @ Y @ inverse @ free)
        covariance[np.ix_(others, others)] = noise_std**2 * (free @ core @ free.T)
    covariance[np.abs(covariance) <= 1e-12 * noise_std**2] = 0.0
    return covariance


def nozari_epsilon(sensitivity: float, *, laplace_scale: float, noise_decay: float, feedback: float = 1.0) -> float:
    """ε of Nozari, Tallapragada and Cortés (2017) against an observer of all messages: δq/(b(q − |s − 1|)).

    Parameters
    ----------
    sensitivity
        δ: how far apart two private values are that must not be told apart.
    laplace_scale, noise_decay
        b and q: round k adds Laplace noise of scale b·q^k.
    feedback
        s: the share of a node's own noise that it keeps in its value; q must exceed |s − 1|.

    Examples
    --------
    One draw on the start value (s = 1) is the best choice, and then q does not matter:

    >>> nozari_epsilon(1.0, laplace_scale=2.0, noise_decay=0.1)
    0.5
    """
    gap = noise_decay - abs(feedback - 1.0)
    return _laplace_epsilon(sensitivity, laplace_scale, noise_decay, gap, "noise_decay must be in (|feedback − 1|, 1)")


def huang_epsilon(sensitivity: float, *, laplace_scale: float, noise_decay: float, step_size: float) -> float:
    """ε of Huang, Mitra and Dullerud (2012) against an observer of all messages: δq/(b(q − (1 − s))).

    Parameters
    ----------
    sensitivity
        δ: how far apart two private values are that must not be told apart.
    laplace_scale, noise_decay
        b and q: round t adds Laplace noise of scale b·q^t.
    step_size
        s in (0, 1]: how far a node moves towards what it heard; q must exceed 1 − s.

    Examples
    --------
    >>> round(huang_epsilon(1.0, laplace_scale=2.0, noise_decay=0.9, step_size=0.5), 6)
    1.125
    """
    gap = noise_decay - (1.0 - step_size)
    return _laplace_epsilon(sensitivity, laplace_scale, noise_decay, gap, "noise_decay must be in (1 − step_size, 1)")


def _laplace_epsilon(sensitivity: float, scale: float, decay: float, gap: float, rule: str) -> float:
    if not (gap > 0.0 and decay < 1.0):
        raise InvalidParameter(f"{rule}, got {decay:g}")
    if not scale > 0.0:
        raise InvalidParameter(f"laplace_scale must be above 0, got {scale:g}")
    if not sensitivity >= 0.0:
        raise InvalidParameter(f"sensitivity must be at least 0, got {sensitivity:g}")
    return sensitivity * decay / (scale * gap)


def pairwise_cancelling_mu(
    graph: Graph, *, pair_std: float, own_std: float, sensitivity: float, curious: Iterable[int] = ()
) -> Array:
    """μ-GDP of pairwise-cancelling noise for every node, against an observer of all masked values.

    Neighbours agree on ±Δ ~ N(0, s_Δ²) and each node adds an own N(0, s_η²) once. Curious nodes know the
    Δ they share, so the masked honest values have covariance s_η²I + s_Δ²L_H, L_H the Laplacian of the honest
    subgraph, and μ_i = Δ√[Σ⁻¹]_ii.

    Returns
    -------
    Array
        ``(n,)``; infinite where the value is disclosed given all others (always if ``own_std`` is 0), zero for
        the curious nodes themselves.

    Examples
    --------
    >>> import sottovoce as sv
    >>> pairwise_cancelling_mu(sv.graphs.complete(3), pair_std=10.0, own_std=1.0, sensitivity=1.0).round(4).tolist()
    [0.5793, 0.5793, 0.5793]
    """
    for name, value in (("pair_std", pair_std), ("own_std", own_std), ("sensitivity", sensitivity)):
        if not (np.isfinite(value) and value >= 0.0):
            raise InvalidParameter(f"{name} must be finite and at least 0, got {value:g}")
    honest = np.ones(graph.num_nodes, dtype=np.bool_)
    for node in curious:
        _check_node("curious", node, graph.num_nodes)
        honest[node] = False
    out = np.zeros(graph.num_nodes)
    if own_std == 0.0:
        out[honest] = np.inf if sensitivity > 0.0 else 0.0
        return out
    place = np.cumsum(honest) - 1
    covariance = own_std**2 * np.eye(int(honest.sum()))
    for i, j in graph.edges[honest[graph.edges].all(axis=1)]:
        a, b = place[i], place[j]
        covariance[[a, b], [a, b]] += pair_std**2
        covariance[[a, b], [b, a]] -= pair_std**2
    out[honest] = sensitivity * np.sqrt(np.diag(np.linalg.inv(covariance)))
    return out


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
    W = _checked_weights(weights)
    _check_node("observer", observer, len(W))
    if not noise_std > 0.0:
        raise InvalidParameter(f"noise_std must be above 0, got {noise_std:g}")
    others = np.delete(np.arange(len(W)), observer)
    near = np.flatnonzero(W[observer] != 0)
    rows, power = [], np.eye(len(W))
    for _ in range(num_rounds):
        rows.append(power[near][:, others])
        power = W @ power
    out = np.full(len(W), np.inf)
    B = np.vstack(rows) if rows else np.zeros((0, len(others)))
    _, sizes, basis = np.linalg.svd(B, full_matrices=False)
    kept = basis[sizes > 1e-12 * max(1.0, sizes.max(initial=0.0))]
    out[others] = (kept**2).sum(axis=0) / noise_std**2
    return out


def _checked_weights(weights: npt.ArrayLike) -> Array:
    W = np.asarray(weights, dtype=np.float64)
    if W.ndim != 2 or W.shape[0] != W.shape[1] or len(W) < 2:
        raise InvalidParameter(f"weights must be a square matrix of at least 2 rows, got shape {W.shape}")
    if not np.allclose(W, W.T, atol=1e-12) or not np.allclose(W.sum(axis=1), 1.0, atol=1e-12) or W.min() < 0.0:
        raise InvalidParameter("weights must be symmetric and doubly stochastic")
    return W


def _check_node(name: str, node: int, num_nodes: int) -> None:
    if not 0 <= node < num_nodes:
        raise InvalidParameter(f"{name} must be in 0..{num_nodes - 1}, got {node}")
