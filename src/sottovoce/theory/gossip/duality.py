"""Gossip seen from the edges: the dual problem of Section 2, its value, and the flows that solve it.

The primal problem projects the private values c onto {x : A x = 0}, A the incidence matrix with rows
b_e = e_i − e_j (smaller end first). Its dual variable has one number per edge, and x(y) = c + Aᵀy says what it
is: the amount that has flowed over the edge. One step of gossip on edge e maximises the dual
along coordinate e, which is also one step of randomized Kaczmarz on A x = 0.

Under noise insertion x leaves c + range(Aᵀ), so the paper's D(y^t) is not defined by x. It is defined
by the flows: x − u = c + Aᵀy at every step, u the outstanding noise, and D(y*) − D(y) = ½‖(x − u) − c̄‖².
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, InvalidValues
from ...foundation.arguments import Array, unnamed
from ...graphs.graph import Graph, check_graph
from ...graphs.values import checked_values

if TYPE_CHECKING:
    import scipy.sparse

__all__ = [
    "dual_gap",
    "dual_value",
    "duals_of_values",
    "edge_duals",
    "incidence",
    "primal_value",
    "values_of_duals",
]


def incidence(graph: Graph) -> scipy.sparse.csr_array:
    """A: one row per edge, +1 at its first end and −1 at its second.

    Examples
    --------
    >>> from sottovoce.graphs import path
    >>> incidence(path(3)).toarray().tolist()
    [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]
    """
    import scipy.sparse

    check_graph(graph)
    rows = np.repeat(np.arange(graph.num_edges), 2)
    signs = np.tile([1.0, -1.0], graph.num_edges)
    return scipy.sparse.csr_array((signs, (rows, graph.edges.reshape(-1))), shape=(graph.num_edges, graph.num_nodes))


def primal_value(private_values: npt.ArrayLike, values: npt.ArrayLike) -> float:
    """P(x) = ½‖x − c‖²."""
    start = np.asarray(unnamed("private_values", private_values, error=InvalidValues), dtype=np.float64)
    moved = np.asarray(unnamed("values", values, error=InvalidValues), dtype=np.float64) - start
    return 0.5 * float(np.sum(moved**2))


def dual_value(graph: Graph, private_values: npt.ArrayLike | Mapping[Any, Any], edge_duals: npt.ArrayLike) -> float:
    """D(y) = −(A c)ᵀy − ½‖Aᵀy‖².

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> dual_value(complete(2), [0.0, 2.0], [1.0])
    1.0
    """
    check_graph(graph)
    flows = np.asarray(edge_duals, dtype=np.float64)
    moved = values_of_duals(graph, np.zeros(graph.num_nodes), flows)
    return -float(moved @ _numbers(private_values, graph)) - 0.5 * float(moved @ moved)


def values_of_duals(
    graph: Graph, private_values: npt.ArrayLike | Mapping[Any, Any], edge_duals: npt.ArrayLike
) -> Array:
    """x(y) = c + Aᵀy: what the nodes hold after these flows."""
    check_graph(graph)
    flows = np.asarray(edge_duals, dtype=np.float64)
    ends, size = graph.edges, graph.num_nodes
    moved = np.bincount(ends[:, 0], flows, size) - np.bincount(ends[:, 1], flows, size)
    return np.asarray(_numbers(private_values, graph) + moved)


def duals_of_values(
    graph: Graph, private_values: npt.ArrayLike | Mapping[Any, Any], values: npt.ArrayLike | Mapping[Any, Any]
) -> Array:
    """The shortest y with c + Aᵀy = x: the flows that lead from c to x with the least energy.

    Raises
    ------
    InvalidParameter
        If x and c do not have the same sum: then no flow leads from one to the other.
    """
    import scipy.sparse.linalg

    check_graph(graph)
    needed = _numbers(values, graph, "values") - _numbers(private_values, graph)
    if abs(needed.sum()) > 1e-9 * max(1.0, float(np.abs(needed).sum())):
        raise InvalidParameter("values must have the same sum as private_values; subtract the outstanding noise first")
    matrix = incidence(graph)
    grounded = (matrix.T @ matrix).tocsc()[1:, 1:]
    potential = np.concatenate([[0.0], np.atleast_1d(scipy.sparse.linalg.spsolve(grounded, needed[1:]))])
    return np.asarray(matrix @ potential)


def dual_gap(graph: Graph, private_values: npt.ArrayLike | Mapping[Any, Any], edge_duals: npt.ArrayLike) -> float:
    """D(y*) − D(y) = ½‖x(y) − c̄‖²: how much dual value is still to be gained.

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> dual_gap(complete(2), [0.0, 2.0], [0.0]), dual_gap(complete(2), [0.0, 2.0], [1.0])
    (1.0, 0.0)
    """
    check_graph(graph)
    values = values_of_duals(graph, private_values, edge_duals)
    return 0.5 * float(np.sum((values - values.mean()) ** 2))


def edge_duals(
    graph: Graph,
    private_values: npt.ArrayLike | Mapping[Any, Any],
    fired_edges: npt.ArrayLike,
    fresh_noise: npt.ArrayLike | None = None,
) -> Array:
    """The flow over every edge after these edges fired in this order.

    Parameters
    ----------
    graph, private_values
        Where the run started; one number per node.
    fired_edges
        ``(k,)`` edge indices, as from ``run.fired_edges()``.
    fresh_noise
        ``(k, 2)`` the noise φ^t v that the two ends inserted at each step; ``None``: standard gossip.

    Returns
    -------
    ndarray
        ``(m,)`` y. The final values are ``values_of_duals(graph, private_values, y)`` plus any outstanding noise.

    Examples
    --------
    >>> from sottovoce.graphs import path
    >>> edge_duals(path(3), [0.0, 4.0, 0.0], [0, 1, 0]).tolist()
    [1.5, -1.0]
    """
    check_graph(graph)
    ends = graph.edges
    clean = _numbers(private_values, graph).copy()
    fired = np.asarray(fired_edges, dtype=np.int64)
    fresh = np.zeros((len(fired), 2)) if fresh_noise is None else np.asarray(fresh_noise, dtype=np.float64)
    if fresh.shape != (len(fired), 2):
        raise InvalidParameter(f"fresh_noise must have shape ({len(fired)}, 2), got {fresh.shape}")
    flows = np.zeros(graph.num_edges)
    for edge, (noise_i, noise_j) in zip(fired.tolist(), fresh.tolist(), strict=True):
        i, j = ends[edge]
        # What i shows is its value without outstanding noise plus the fresh noise; half the difference flows.
        flow = 0.5 * ((clean[j] + noise_j) - (clean[i] + noise_i))
        clean[i] += flow
        clean[j] -= flow
        flows[edge] += flow
    return flows


def _numbers(given: npt.ArrayLike | Mapping[Any, Any], graph: Graph, name: str = "private_values") -> Array:
    """``(n,)`` numbers, given as :func:`sottovoce.simulate` takes them."""
    values = checked_values(given, graph, name=name)
    if values.ndim > 1:
        raise InvalidValues(f"{name} must be one number per node here, got shape {values.shape}")
    return values
