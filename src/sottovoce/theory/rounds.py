"""Synchronous methods, in which every node speaks in every round: what is known about their error.

Plain functions of a doubly stochastic matrix W and of parameters: Mo and Murray (2017), Nozari, Tallapragada and
Cortés (2017), Huang, Mitra and Dullerud (2012). What these methods hide is in :mod:`.hiding`; the methods one edge at
a time are in :mod:`.guarantees`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, Unsupported
from ..foundation.arguments import Array as Floats
from ..graphs.graph import Graph
from ..methods import Huang, Nozari

__all__ = [
    "averaging_matrix",
    "checked_decay",
    "consensus_factor",
    "huang_variance",
    "laplace_error",
    "mo_murray_error",
    "mo_murray_factor",
    "nozari_variance",
]


def averaging_matrix(weights: npt.ArrayLike) -> Floats:
    """W, checked to be symmetric with rows that add up to one."""
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
    matrix = averaging_matrix(weights)
    return float(np.abs(np.linalg.eigvalsh(matrix - 1.0 / len(matrix))).max())


def mo_murray_factor(weights: npt.ArrayLike, noise_decay: float) -> float:
    """Mo and Murray: the rate of E‖x(k) − c̄‖² is max(φ², λ₂², λ_n²).

    Examples
    --------
    >>> round(mo_murray_factor([[0.75, 0.25], [0.25, 0.75]], 0.9), 12)
    0.81
    """
    return max(checked_decay(noise_decay), consensus_factor(weights)) ** 2


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
    matrix = averaging_matrix(weights)
    values = np.asarray(private_values, dtype=np.float64)
    share = checked_decay(noise_decay) ** 2
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
    scale, decay, share = (
        np.broadcast_to(np.asarray(p, dtype=np.float64), (num_nodes,)) for p in (noise_scale, noise_decay, noise_share)
    )
    if not ((decay >= 0) & (decay < 1)).all():
        raise InvalidParameter(f"noise_decay must be in [0, 1), got {decay.max():g}")
    return float(2.0 / num_nodes**2 * np.sum(share**2 * scale**2 / (1.0 - decay**2)))


def huang_variance(noise_scale: float, noise_decay: float, mixing_share: float, num_nodes: int) -> float:
    """Huang et al.: variance of the (unbiased) limit around c̄, (2/n) s² b²/(1 − q²).

    W keeps sums, so that a node's noise b q^t enters the mean s/n times, in every round.

    Examples
    --------
    >>> huang_variance(1.0, 0.8, 0.6, 4) == nozari_variance(1.0, 0.8, 0.6, 4)
    True
    """
    return nozari_variance(noise_scale, noise_decay, mixing_share, num_nodes)


def laplace_error(graph: Graph, method: Nozari | Huang, num_rounds: int, *, value_std: float = 1.0) -> Floats:
    """Nozari et al., Huang et al.: E‖x(k) − c̄‖²/n for k = 0..num_rounds, exactly, for values of variance value_std².

    In the eigenbasis of W both methods are x ← a x + h η in every coordinate, with a = λ, h = λ − 1 + s (Nozari) and
    a = 1 − s + sλ, h = sλ (Huang); the coordinate of the mean starts without error and keeps all it gets.

    Examples
    --------
    >>> import sottovoce as sv
    >>> method = sv.Nozari(noise_scale=1.0, noise_decay=0.5)
    >>> float(laplace_error(sv.graphs.cycle(4), method, 200)[-1].round(9)), round(nozari_variance(1.0, 0.5, 1.0, 4), 9)
    (0.666666667, 0.666666667)
    """
    if not all(np.ndim(getattr(method, name)) == 0 for name in ("noise_scale", "noise_decay")):
        raise Unsupported("laplace_error covers methods with one noise_scale and one noise_decay for all nodes")
    eigenvalues = np.linalg.eigvalsh(averaging_matrix(method.mixing(graph).toarray()))
    if isinstance(method, Huang):
        kept, added = 1.0 - method.mixing_share * (1.0 - eigenvalues), method.mixing_share * eigenvalues
    else:
        if np.ndim(method.noise_share):
            raise Unsupported("laplace_error covers methods with one noise_share for all nodes")
        kept, added = eigenvalues, eigenvalues - 1.0 + method.noise_share
    squares = np.full(graph.num_nodes, float(value_std) ** 2)
    squares[-1] = 0.0
    result = np.empty(num_rounds + 1)
    variance = 2.0 * float(method.noise_scale) ** 2
    for k in range(num_rounds + 1):
        result[k] = squares.mean()
        squares = kept**2 * squares + added**2 * variance
        variance *= float(method.noise_decay) ** 2
    return result


def checked_decay(noise_decay: float) -> float:
    """φ, checked to be in [0, 1)."""
    if not 0.0 <= noise_decay < 1.0:
        raise InvalidParameter(f"noise_decay must be in [0, 1), got {noise_decay:g}")
    return float(noise_decay)
