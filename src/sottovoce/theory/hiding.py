"""What synchronous methods hide, as far as the literature has formulas: plain functions of W and of parameters.

Mo and Murray's covariance (2017), ε of Nozari, Tallapragada and Cortés (2017) and of Huang, Mitra and Dullerud
(2012), leakage of plain averaging after one draw, and μ of pairwise-cancelling noise (GOPA and its relatives). Their
errors are in :mod:`.rounds`; inference from what was really said is :mod:`sottovoce.privacy`'s affair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, NumericalFailure
from ..foundation.arguments import Array as Floats
from ..graphs.graph import Graph
from .rounds import averaging_matrix, checked_decay

__all__ = [
    "cancelling_covariance",
    "cancelling_mu",
    "huang_epsilon",
    "mo_murray_disclosure",
    "nozari_epsilon",
    "seen_share",
]

MOST_ROUNDS = 100_000
"""Of the Riccati recursion, which as a rule settles within a few hundred."""


def mo_murray_disclosure(
    weights: npt.ArrayLike, observer: int, noise_decay: float, *, noise_std: float = 1.0, tolerance: float = 1e-13
) -> Floats:
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
    share = checked_decay(noise_decay) ** 2
    if share == 0.0:
        raise InvalidParameter("noise_decay must be in (0, 1) for the disclosure, got 0")
    _check_node("observer", observer, len(matrix))
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


def _riccati_limit(inner: Floats, heard: Floats, share: float, tolerance: float) -> Floats:
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
    lost = np.abs(np.asarray(noise_share, dtype=np.float64) - 1.0)
    return _laplace_epsilon(noise_scale, noise_decay, lost, sensitivity, "|noise_share − 1|")


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
    return _laplace_epsilon(noise_scale, noise_decay, 1.0 - mixing_share, sensitivity, "1 − mixing_share")


def _laplace_epsilon(
    noise_scale: npt.ArrayLike, noise_decay: npt.ArrayLike, lost: npt.ArrayLike, sensitivity: float, name: str
) -> float:
    """Σ_k δ a^k/(b q^k): what is left of the difference after k rounds, over the scale of that round's noise."""
    scale, decay, rest = np.broadcast_arrays(
        *(np.asarray(p, dtype=np.float64) for p in (noise_scale, noise_decay, lost))
    )
    one_draw = (decay == 0.0) & (rest == 0.0)
    bad = ~(((rest < decay) | one_draw) & (decay < 1.0))
    if bad.any():
        low, got = rest[bad].flat[0], decay[bad].flat[0]
        raise InvalidParameter(f"noise_decay must be in ({name}, 1) = ({low:g}, 1), got {got:g}")
    if not (scale >= 0.0).all():
        raise InvalidParameter(f"noise_scale must be ≥ 0, got {scale.min():g}")
    if not sensitivity >= 0.0:
        raise InvalidParameter(f"sensitivity must be ≥ 0, got {sensitivity:g}")
    if sensitivity > 0.0 and not scale.all():
        return math.inf
    kept = np.where(one_draw, 1.0, decay / np.where(one_draw, 1.0, decay - rest))
    return float(np.max(sensitivity * kept / np.where(scale > 0.0, scale, 1.0)))


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
    matrix = averaging_matrix(weights)
    who = np.atleast_1d(np.asarray(observers, dtype=np.int64))
    for node in who:
        _check_node("observers", node, len(matrix))
    heard = np.flatnonzero((matrix[who] != 0).any(axis=0))
    rows, values = [np.eye(len(matrix))[who]], np.eye(len(matrix))
    for _ in range(num_rounds):
        rows.append(values[heard])
        values = matrix @ values
    seen = np.vstack(rows)
    return np.asarray((np.linalg.pinv(seen, rcond=1e-12) * seen.T).sum(axis=1))


def cancelling_covariance(
    graph: Graph, pair_noise_std: float, own_noise_std: float = 0.0, *, curious: Iterable[int] = ()
) -> Floats:
    """Pairwise-cancelling noise: covariance of what the honest nodes show, s_η² I + s_Δ² L_H, H the honest subgraph.

    Curious nodes know the numbers they agreed on, so that only noise between two honest nodes hides anything.

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> cancelling_covariance(complete(2), 2.0, 1.0).tolist()
    [[5.0, -4.0], [-4.0, 5.0]]
    """
    for name, value in (("pair_noise_std", pair_noise_std), ("own_noise_std", own_noise_std)):
        if not (math.isfinite(value) and value >= 0.0):
            raise InvalidParameter(f"{name} must be finite and ≥ 0, got {value:g}")
    honest = _honest(graph, curious)
    place = np.cumsum(honest) - 1
    covariance = own_noise_std**2 * np.eye(int(honest.sum()))
    first, second = place[graph.edges[honest[graph.edges].all(axis=1)]].T
    np.add.at(covariance, (np.r_[first, second], np.r_[first, second]), pair_noise_std**2)
    covariance[first, second] -= pair_noise_std**2
    covariance[second, first] -= pair_noise_std**2
    return covariance


def cancelling_mu(
    graph: Graph,
    pair_noise_std: float,
    own_noise_std: float = 0.0,
    *,
    curious: Iterable[int] = (),
    sensitivity: float = 1.0,
) -> Floats:
    """Pairwise-cancelling noise: μ-GDP of every value against an observer of all masked values.

    μ_i² = Δ² [(s_η² I + s_Δ² L_H)^{−1}]_ii. Parameters are those of :class:`sottovoce.PairwiseCancelling`; ``curious``
    nodes tell the observer the numbers they agreed on.

    Returns
    -------
    ndarray
        ``(n,)``; infinite without own noise, as the sum of the honest values is then known exactly; zero for the
        curious nodes themselves.

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> cancelling_mu(complete(3), 10.0, 1.0).round(4).tolist()
    [0.5793, 0.5793, 0.5793]
    """
    if not (math.isfinite(sensitivity) and sensitivity >= 0.0):
        raise InvalidParameter(f"sensitivity must be finite and ≥ 0, got {sensitivity:g}")
    curious = tuple(curious)
    honest = _honest(graph, curious)
    covariance = cancelling_covariance(graph, pair_noise_std, own_noise_std, curious=curious)
    mu = np.zeros(graph.num_nodes)
    if own_noise_std == 0.0:
        mu[honest] = math.inf if sensitivity > 0.0 else 0.0
    else:
        mu[honest] = sensitivity * np.sqrt(np.linalg.inv(covariance).diagonal())
    return mu


def _honest(graph: Graph, curious: Iterable[int]) -> npt.NDArray[np.bool_]:
    honest = np.ones(graph.num_nodes, dtype=np.bool_)
    for node in curious:
        _check_node("curious", node, graph.num_nodes)
        honest[node] = False
    return honest


def _check_node(name: str, node: int, num_nodes: int) -> None:
    if not 0 <= node < num_nodes:
        raise InvalidParameter(f"{name} must be in 0..{num_nodes - 1}, got {node}")
