"""Sealed edges: what stays hidden from a coalition whatever the schedule, the noise and the number of exchanges.

Before anything is said, the two ends of every edge e share a random number m_e ~ N(0, s_e²), the *seal*: one end adds
it to its value, the other subtracts it. So x(0) = c + B m, with B the incidence matrix.

**Theorem.** Let A be a coalition, and H a connected component of the other (honest) nodes under the edges between
honest nodes. All that A ever sees of H, even if it also hears every message on every edge, is a function of
y = c_H + B_H m_H and of random numbers that are independent of c. So A knows c_H no better than from y itself:

- with independent priors of deviation τ_i, the posterior covariance of c_H is at least P − P (P + S)⁻¹ P, with
  P = diag(τ²) and S = Σ s_e² b_e b_eᵀ the weighted Laplacian of H (s² L_H for equal seals);
- with a flat prior, no unbiased estimate of c_i has a deviation below √S_ii, that is s √(honest neighbours of i).

*Proof.* Give A its own values, the seals of its own edges and all random draws of all nodes. Then every value and
every message, at any time, is a linear function of y and of what A was given. Since y ~ N(c_H, S) given c_H, the
statements are conditioning on y, and the Cramér–Rao bound for y. ∎

Seals cancel in the sum, so Σ_H c_i is known; a node whose neighbours all belong to A is a component alone, and seals
hide nothing of its value. A coalition that hears every node of H before nodes of H meet each other attains the bound,
once noise is withdrawn; exchanges that it does not hear leave it with less.

NumPy only: a peer imports this. What one run really showed is :mod:`sottovoce.privacy.auditing`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, Unsupported
from ...foundation.arguments import Array, checked, per_node, whole

__all__ = ["WorstCoalition", "sealed_covariance", "sealed_std", "worst_coalition"]

MOST_WORK = 2e10
"""Coalitions times (nodes, at least 50)³ that :func:`worst_coalition` tries: a minute or two."""


def sealed_covariance(
    edges: npt.ArrayLike,
    num_nodes: int,
    coalition: Iterable[int],
    *,
    seal_std: float | npt.ArrayLike,
    prior_std: float | npt.ArrayLike | None = None,
) -> Array:
    """The least covariance of the private values that a coalition can ever be left with.

    Parameters
    ----------
    edges, num_nodes
        ``(m, 2)`` pairs of nodes in 0..n−1. A pair that stands twice has two seals, and both hold.
    coalition
        The nodes that pool what they know; may be empty (somebody who hears every message).
    seal_std
        s ≥ 0, a standard deviation: one number or one per edge. 0: that edge is not sealed.
    prior_std
        τ > 0: what the coalition believes beforehand is N(·, τ²) per value, independently; one number or one per
        node. ``None``: a flat prior, and the covariance is that of the best unbiased estimate.

    Returns
    -------
    ndarray
        ``(n, n)``, zero in the rows and columns of the coalition.

    Examples
    --------
    A triangle with node 0 curious: nodes 1 and 2 share one seal, and their sum is known.

    >>> triangle = [(0, 1), (0, 2), (1, 2)]
    >>> sealed_covariance(triangle, 3, [0], seal_std=2.0).tolist()
    [[0.0, 0.0, 0.0], [0.0, 4.0, -4.0], [0.0, -4.0, 4.0]]
    >>> sealed_covariance(triangle, 3, [0], seal_std=100.0, prior_std=10.0)[1].round(2).tolist()
    [0.0, 49.75, -49.75]
    """
    seals = _Seals.of(edges, num_nodes, seal_std, prior_std)
    return seals.covariance(_members(coalition, num_nodes))


def sealed_std(
    edges: npt.ArrayLike,
    num_nodes: int,
    coalition: Iterable[int],
    *,
    seal_std: float | npt.ArrayLike,
    prior_std: float | npt.ArrayLike | None = None,
) -> Array:
    """How closely a coalition can ever know each private value, at the best: the roots of the diagonal.

    With a prior it is the least posterior deviation; with a flat prior (``None``) the least deviation of any unbiased
    estimate, s √(honest neighbours). Zero for the coalition's own values, and for a node that has no sealed edge to
    an honest neighbour. Parameters are those of :func:`sealed_covariance`.

    Examples
    --------
    >>> triangle = [(0, 1), (0, 2), (1, 2)]
    >>> sealed_std(triangle, 3, [0], seal_std=100.0, prior_std=10.0).round(2).tolist()
    [0.0, 7.05, 7.05]
    >>> sealed_std([(0, 1), (1, 2), (2, 3)], 4, [0], seal_std=2.0).round(4).tolist()
    [0.0, 2.0, 2.8284, 2.0]
    >>> sealed_std([(0, 1), (1, 2), (2, 3)], 4, [1], seal_std=2.0).tolist()
    [0.0, 0.0, 2.0, 2.0]
    """
    seals = _Seals.of(edges, num_nodes, seal_std, prior_std)
    return seals.std(_members(coalition, num_nodes))


@dataclass(frozen=True, eq=False)
class WorstCoalition:
    """For every node the coalition of a given size that seals hinder least; returned by :func:`worst_coalition`."""

    std: Array
    """``(n,)`` the deviation that it leaves."""
    members: npt.NDArray[np.int64]
    """``(n, size)`` who it is; one of them, where several leave the same."""


def worst_coalition(
    edges: npt.ArrayLike,
    num_nodes: int,
    *,
    size: int,
    seal_std: float | npt.ArrayLike,
    prior_std: float | npt.ArrayLike | None = None,
) -> WorstCoalition:
    """What is left of every value against the worst single node, the worst pair, or the worst ``size`` others.

    With a prior all coalitions are tried: the worst one need not consist of neighbours, because a node that cuts the
    honest part in two leaves small components. With a flat prior only seals to neighbours count, and no trial is
    needed. A smaller coalition never knows more than a larger one that contains it.

    Parameters
    ----------
    size
        Members of the coalition, in [1, n − 1].
    edges, num_nodes, seal_std, prior_std
        As in :func:`sealed_covariance`.

    Raises
    ------
    Unsupported
        If there are too many coalitions to try them all (:data:`MOST_WORK`).

    Examples
    --------
    Two triangles that share node 2. Node 0 is worst off when node 2 is curious and leaves it alone with node 1, though
    seals are so large that they hide all but the sum.

    >>> bow_tie = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)]
    >>> worst = worst_coalition(bow_tie, 5, size=1, seal_std=1e6, prior_std=1.0)
    >>> worst.std.round(4).tolist(), worst.members[:, 0].tolist()
    ([0.7071, 0.7071, 0.866, 0.7071, 0.7071], [2, 2, 0, 2, 2])
    """
    seals = _Seals.of(edges, num_nodes, seal_std, prior_std)
    size = whole("size", size, low=1, high=num_nodes - 1)
    if seals.prior is None:
        return _most_sealed_neighbours(seals.coupling, size)
    count = math.comb(num_nodes, size)
    if count * max(num_nodes, 50) ** 3 > MOST_WORK:
        raise Unsupported(
            f"there are {count:,} coalitions of {size} among {num_nodes} nodes, too many to try; take a smaller size, "
            "or ask sealed_std about those you fear"
        )
    std, members = np.full(num_nodes, np.inf), np.zeros((num_nodes, size), dtype=np.int64)
    for coalition in itertools.combinations(range(num_nodes), size):
        left = seals.std(np.array(coalition))
        left[list(coalition)] = np.inf
        better = left < std
        std[better], members[better] = left[better], coalition
    return WorstCoalition(std, members)


def _most_sealed_neighbours(coupling: Array, size: int) -> WorstCoalition:
    """A flat prior: √S_ii without the ``size`` largest seals of each node."""
    others = coupling + np.diag(np.full(len(coupling), -1.0))  # a node does not collude against itself
    order = np.argsort(-others, axis=1, kind="stable")
    left = np.take_along_axis(coupling, order[:, size:], axis=1).sum(axis=1)
    return WorstCoalition(np.sqrt(left), order[:, :size])


@dataclass(frozen=True, eq=False)
class _Seals:
    """``coupling``: ``(n, n)`` Σ s_e² over the edges between two nodes; ``prior``: ``(n,)`` deviations or none."""

    coupling: Array
    prior: Array | None

    @classmethod
    def of(
        cls,
        edges: npt.ArrayLike,
        num_nodes: int,
        seal_std: float | npt.ArrayLike,
        prior_std: float | npt.ArrayLike | None,
    ) -> _Seals:
        ends = _checked_edges(edges, whole("num_nodes", num_nodes, low=1, high=2**31))
        variance = np.broadcast_to(np.square(checked("seal_std", seal_std, low=0.0)), (len(ends),))
        coupling = np.zeros((num_nodes, num_nodes))
        np.add.at(coupling, (ends[:, 0], ends[:, 1]), variance)
        np.add.at(coupling, (ends[:, 1], ends[:, 0]), variance)
        if prior_std is None:
            return cls(coupling, None)
        prior = checked("prior_std", prior_std, low=0.0, low_open=True, why="a flat prior is None")
        return cls(coupling, per_node("prior_std", prior, num_nodes))

    def covariance(self, coalition: npt.NDArray[np.int64]) -> Array:
        """``(n, n)`` covariance that is left; zero for the coalition."""
        honest = np.delete(np.arange(len(self.coupling)), coalition)
        inner = self.coupling[np.ix_(honest, honest)]
        seen = inner if self.prior is None else _seen_through(inner, self.prior[honest] ** 2)
        result = np.zeros_like(self.coupling)
        result[np.ix_(honest, honest)] = np.diag(seen.sum(axis=1)) - seen
        return result

    def std(self, coalition: npt.NDArray[np.int64]) -> Array:
        """``(n,)`` deviations that are left."""
        return np.sqrt(self.covariance(coalition).diagonal())


def _seen_through(coupling: Array, prior: Array) -> Array:
    """``(h, h)`` couplings whose Laplacian is P − P (P + S)⁻¹ P, S the Laplacian of ``coupling``, P = diag(prior).

    Read couplings as electrical conductances and give each node a terminal behind a conductance of its own, the prior
    variance: the wanted matrix is what the network looks like from its terminals. Inner nodes are taken out one by
    one; a node with conductances g becomes conductances g_a g_b/Σg among the others (star and mesh). Nothing is
    ever subtracted, so every digit counts however far apart seals and priors are.
    """
    size = len(prior)
    network = np.block([[np.zeros((size, size)), np.diag(prior)], [np.diag(prior), coupling]])
    for node in range(2 * size - 1, size - 1, -1):
        conductances = network[node, :node].copy()
        network[:node, :node] += np.outer(conductances, conductances / conductances.sum())
    seen: Array = network[:size, :size]
    np.fill_diagonal(seen, 0.0)
    return seen


def _checked_edges(edges: npt.ArrayLike, num_nodes: int) -> npt.NDArray[np.int64]:
    ends = np.asarray(edges)
    if ends.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if ends.ndim != 2 or ends.shape[1] != 2 or not np.issubdtype(ends.dtype, np.integer):
        raise InvalidParameter(f"edges must be pairs of node numbers, got shape {ends.shape} of {ends.dtype}")
    if ends.min() < 0 or ends.max() >= num_nodes or (ends[:, 0] == ends[:, 1]).any():
        raise InvalidParameter(f"edges must join two different nodes in 0..{num_nodes - 1}")
    return ends.astype(np.int64)


def _members(coalition: Iterable[int], num_nodes: int) -> npt.NDArray[np.int64]:
    found = sorted({whole("coalition", node, low=0, high=num_nodes - 1) for node in coalition})
    return np.array(found, dtype=np.int64)
