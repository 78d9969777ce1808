"""Synchronous methods, in which every node speaks in every round: what is known about their error and privacy.

Plain functions of a doubly stochastic matrix W and of parameters: Mo and Murray (2017), Nozari,
Tallapragada and Cortés (2017), Huang, Mitra and Dullerud (2012), and pairwise-cancelling noise (GOPA
and its relatives). The methods one edge at a time are in :mod:`.guarantees`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from .setting import Floats

__all__ = [
    "cancelling_covariance",
    "cancelling_mu",
    "consensus_factor",
    "huang_epsilon",
    "mo_murray_disclosure",
    "mo_murray_error",
    "mo_murray_factor",
    "nozari_epsilon",
    "nozari_variance",
    "seen_share",
]


def _averaging(weights: npt.ArrayLike) -> Floats:
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidParameter(f"weights must be a square matrix, got shape {matrix.shape}")
    if not np.allclose(matrix, matrix.T, atol=1e-9) or not np.allclose(matrix.sum(axis=0), 1.0, atol=1e-9):
        raise InvalidParameter("weights must be symmetric with rows that add up to one")
    return matrix


def consensus_factor(weights: npt.ArrayLike) -> float:
    """max(abs λ₂, abs λ_n) of W: the factor by which ‖x − c̄‖ shrinks per round of x ← W x, at the least.

    Examples
    --------
    >>> round(consensus_factor([[0.75, 0.25], [0.25, 0.75]]), 12)
    0.5
    """
    matrix = _averaging(weights)
    return float(np.abs(np.linalg.eigvalsh(matrix - 1.0 / len(matrix))).max())


def mo_murray_factor(weights: npt.ArrayLike, noise_decay: float) -> float:
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
) -> Floats:
    """Mo and Murray: E‖x(k) − c̄‖² for k = 0..num_rounds, exactly.

    x(k+1) = W (x(k) + w(k)) with w(0) = v(0), w(k) = φ^k v(k) − φ^{k−1} v(k−1). With W̄ = W − 11ᵀ/n and z = c − c̄,

    E‖x(k) − c̄‖² = zᵀW̄^{2k}z + σ² [φ^{2k−2} tr W² + Σ_{t=0}^{k−2} φ^{2t} tr(W̄^{2(k−t−1)} (W − I)²)],

    evaluated in the eigenbasis of W, O(n) for each k.

    Examples
    --------
    >>> mo_murray_error([[0.5, 0.5], [0.5, 0.5]], [1.0, 1.0], 0.5, 3).round(6).tolist()
    [0.0, 1.0, 0.25, 0.0625]
    """
    matrix = _averaging(weights)
    values = np.asarray(private_values, dtype=np.float64)
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
    weights: npt.ArrayLike, observer: int, noise_decay: float, *, noise_std: float = 1.0
) -> Floats:
    """Mo and Murray: the covariance with which one node finally knows the private values of the others.

    The limit of the best unbiased estimate that node ``observer`` can make of c from its own value and all messages of
    its neighbours. A zero on the diagonal means disclosed; that happens to node i exactly when i and all its
    neighbours are the observer or its neighbours, whatever φ.

    Returns
    -------
    ndarray
        ``(n − 1, n − 1)``, the observer's row and column left out.

    Examples
    --------
    >>> weights = np.array([[2, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 0, 1], [0, 0, 0, 3, 1], [1, 0, 1, 1, 1]]) / 4
    >>> mo_murray_disclosure(weights, 4, 0.5).diagonal().round(6).tolist()
    [0.25, 1.0, 0.25, 0.0]
    """
    import scipy.linalg

    matrix = _averaging(weights)
    share = _decay(noise_decay) ** 2
    if share == 0.0:
        raise InvalidParameter("noise_decay must be in (0, 1) for the disclosure, got 0")
    others = np.arange(len(matrix)) != observer
    inner = matrix[np.ix_(others, others)]
    heard = np.diag((matrix[observer, others] != 0).astype(np.float64))
    unheard = np.eye(len(inner)) - heard
    source = inner @ heard @ inner
    known = source
    for _ in range(100_000):
        kept = unheard @ known @ unheard
        shrunk = kept - kept @ np.linalg.solve(share * np.eye(len(inner)) + kept, kept)
        following = source + inner @ shrunk @ inner / share
        done = np.abs(following - known).max() <= 1e-15 * np.abs(following).max()
        known = following
        if done:
            break
    spread = np.linalg.inv(np.eye(len(inner)) - inner)
    hidden = scipy.linalg.null_space(spread @ heard @ spread, rcond=1e-10)
    if hidden.shape[1] == 0:
        return np.zeros_like(inner)
    middle = np.linalg.inv(hidden.T @ spread @ known @ spread @ hidden)
    return np.asarray(noise_std**2 * (hidden @ middle @ hidden.T))


def nozari_variance(
    noise_scale: npt.ArrayLike, noise_ratio: npt.ArrayLike, step: npt.ArrayLike, num_nodes: int
) -> float:
    """Nozari et al.: variance of the (unbiased) limit around c̄, (2/n²) Σ s_i² b_i²/(1 − q_i²).

    Noise η_i(k) ~ Laplace(b_i q_i^k); s_i is how much of it stays in the state.

    Examples
    --------
    >>> nozari_variance(1.0, 0.0, 1.0, 4)
    0.5
    """
    scale, ratio, kept = (
        np.broadcast_to(np.asarray(p, dtype=np.float64), (num_nodes,)) for p in (noise_scale, noise_ratio, step)
    )
    if ((ratio < 0) | (ratio >= 1)).any():
        raise InvalidParameter("noise_ratio must be in [0, 1)")
    return float(2.0 / num_nodes**2 * np.sum(kept**2 * scale**2 / (1.0 - ratio**2)))


def nozari_epsilon(noise_scale: float, noise_ratio: float, step: float, *, sensitivity: float = 1.0) -> float:
    """Nozari et al.: ε = δ q/(b (q − a)), a = abs(s − 1), against an observer of all messages; q in (a, 1).

    With s = 1 it is δ/b for every q: one Laplace draw on the initial value does as well as any sequence.

    Examples
    --------
    >>> nozari_epsilon(2.0, 0.5, 1.0), nozari_epsilon(2.0, 0.5, 0.75)
    (0.5, 1.0)
    """
    if not abs(step - 1.0) < noise_ratio < 1.0:
        raise InvalidParameter(
            f"noise_ratio must be in (|step − 1|, 1) = ({abs(step - 1.0):g}, 1), got {noise_ratio:g}"
        )
    return sensitivity * noise_ratio / (noise_scale * (noise_ratio - abs(step - 1.0)))


def huang_epsilon(noise_scale: float, noise_ratio: float, step: float, *, sensitivity: float = 1.0) -> float:
    """Huang et al.: ε = δ q/(b (q − (1 − s))), q in (1 − s, 1), for θ ← (1 − s)θ + s y under Laplace(b q^t) noise.

    Examples
    --------
    >>> huang_epsilon(1.0, 0.75, 0.5)
    3.0
    """
    if not 1.0 - step < noise_ratio < 1.0:
        raise InvalidParameter(f"noise_ratio must be in (1 − step, 1) = ({1.0 - step:g}, 1), got {noise_ratio:g}")
    return sensitivity * noise_ratio / (noise_scale * (noise_ratio - (1.0 - step)))


def seen_share(weights: npt.ArrayLike, observers: npt.ArrayLike, num_rounds: int) -> Floats:
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
    matrix = _averaging(weights)
    who = np.atleast_1d(np.asarray(observers, dtype=np.int64))
    heard = np.flatnonzero((matrix[who] != 0).any(axis=0))
    rows, values = [np.eye(len(matrix))[who]], np.eye(len(matrix))
    for _ in range(num_rounds):
        rows.append(values[heard])
        values = matrix @ values
    seen = np.vstack(rows)
    return np.asarray((np.linalg.pinv(seen, rcond=1e-12) * seen.T).sum(axis=1))


def cancelling_covariance(honest: Graph, pair_std: float, own_std: float) -> Floats:
    """Pairwise-cancelling noise: covariance of what the honest nodes show, s_η² I + s_Δ² L_H, H the honest subgraph.

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> cancelling_covariance(complete(2), 2.0, 1.0).tolist()
    [[5.0, -4.0], [-4.0, 5.0]]
    """
    from ..graphs.spectrum import laplacian

    return np.asarray(own_std**2 * np.eye(honest.num_nodes) + pair_std**2 * laplacian(honest).toarray())


def cancelling_mu(honest: Graph, pair_std: float, own_std: float, *, sensitivity: float = 1.0) -> float:
    """Pairwise-cancelling noise: μ-GDP of a single honest value, μ² = Δ² max_i [(s_η² I + s_Δ² L_H)^{−1}]_ii.

    Infinite without own noise: the sum of the honest values is then known exactly.

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> round(cancelling_mu(complete(2), 2.0, 1.0) ** 2, 12) == round(5 / 9, 12)
    True
    """
    if own_std == 0.0:
        return math.inf
    return sensitivity * math.sqrt(
        float(np.linalg.inv(cancelling_covariance(honest, pair_std, own_std)).diagonal().max())
    )


def _decay(noise_decay: float) -> float:
    if not 0.0 <= noise_decay < 1.0:
        raise InvalidParameter(f"noise_decay must be in [0, 1), got {noise_decay:g}")
    return float(noise_decay)
