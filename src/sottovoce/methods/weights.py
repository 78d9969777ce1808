"""Weights of synchronous methods: doubly stochastic matrices on the edges of a graph, and how fast they average.

``"metropolis"``: W_ij = 1/(1 + max(d_i, d_j)), which a pair of neighbours can agree on by itself.
``"max-degree"``: W = I − L/(1 + d_max), which needs one number known to all.
Or a matrix of the user's. All are symmetric except, possibly, the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from ..graphs.spectrum import laplacian
from .base import Array

if TYPE_CHECKING:
    import scipy.sparse

__all__ = [
    "NAMED",
    "Weights",
    "averaging_matrix",
    "check_weights",
    "consensus_factor",
    "extreme_eigenvalues",
    "laplacian_weights",
    "mixing_matrix",
    "plus_diagonal",
    "weight_caveats",
    "weights_apart",
]

NAMED = ("metropolis", "max-degree")
TOLERANCE = 1e-9
DENSE_NODES = 256
"""Up to here the factor comes from a dense norm, beyond from an iteration."""

if TYPE_CHECKING:
    Weights = str | Array | scipy.sparse.csr_array[np.float64]
else:
    Weights = Any


def check_weights(name: str, weights: Any) -> Any:
    """A name of :data:`NAMED`, or a finite square matrix, made read-only; whether it fits a graph is asked later."""
    if isinstance(weights, str):
        if weights not in NAMED:
            raise InvalidParameter(
                f"{name} must be one of {', '.join(NAMED)} or a doubly stochastic matrix, got {weights!r}"
            )
        return weights

    result: Any
    if hasattr(weights, "tocsr"):
        result = weights.tocsr().astype(np.float64)
        entries, shape = result.data, result.shape
    else:
        try:
            result = np.array(weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidParameter(f"{name} must be a name or a matrix, got {type(weights).__name__}") from None
        entries, shape = result, result.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidParameter(f"{name} must be a square matrix, got shape {shape}")
    if not np.isfinite(entries).all() or (entries < 0).any():
        raise InvalidParameter(
            f"{name} must be finite and ≥ 0 (each new value is an average of old ones), and some entry is not"
        )
    if isinstance(result, np.ndarray):
        result.flags.writeable = False
    return result


def mixing_matrix(weights: Weights, graph: Graph) -> scipy.sparse.csr_array:
    """W on ``graph``, CSR with sorted indices and every diagonal entry present.

    Raises
    ------
    InvalidParameter
        If a given matrix has the wrong size, weighs a pair that is no edge, or is not doubly stochastic.

    Examples
    --------
    >>> from sottovoce.graphs import path
    >>> mixing_matrix("metropolis", path(3)).toarray().round(3).tolist()
    [[0.667, 0.333, 0.0], [0.333, 0.333, 0.333], [0.0, 0.333, 0.667]]
    """
    import scipy.sparse

    n = graph.num_nodes
    if isinstance(weights, str):
        if weights == "max-degree":
            return laplacian_weights(graph, 1.0 / (1.0 + float(graph.degrees.max())))
        i, j = graph.edges.T
        shares = 1.0 / (1.0 + np.maximum(graph.degrees[i], graph.degrees[j]))
        half = scipy.sparse.coo_array((shares, (i, j)), shape=(n, n))
        off = scipy.sparse.csr_array(half + half.T)
        return _ordered(off + scipy.sparse.diags_array(1.0 - np.asarray(off.sum(axis=1)).reshape(-1)))
    matrix: Any = scipy.sparse.csr_array(weights)  # the stubs know fewer operations than SciPy
    if matrix.shape != (n, n):
        raise InvalidParameter(f"weights must have shape ({n}, {n}), one row per node, got {matrix.shape}")
    allowed: Any = scipy.sparse.csr_array(graph.to_scipy() + scipy.sparse.eye_array(n))
    stray = scipy.sparse.coo_array(matrix - matrix * (allowed != 0))
    stray.eliminate_zeros()
    if stray.nnz:
        where = (int(stray.row[0]), int(stray.col[0]))
        raise InvalidParameter(f"weights must be zero between nodes that are not neighbours, but {where} has one")
    for axis, what in ((1, "row"), (0, "column")):
        sums = np.asarray(matrix.sum(axis=axis)).reshape(-1)
        worst = int(np.argmax(np.abs(sums - 1.0)))
        if abs(sums[worst] - 1.0) > TOLERANCE:
            raise InvalidParameter(
                "weights must be doubly stochastic (rows summing to 1 keep agreement, columns keep the sum): "
                f"{what} {worst} sums to {sums[worst]:.9g}"
            )
    return _ordered(matrix)


def laplacian_weights(graph: Graph, step_size: float) -> scipy.sparse.csr_array:
    """I − h L."""
    import scipy.sparse

    return _ordered(scipy.sparse.eye_array(graph.num_nodes) - step_size * laplacian(graph))


def _ordered(matrix: Any) -> scipy.sparse.csr_array:
    import scipy.sparse

    ordered: Any = scipy.sparse.csr_array(matrix).astype(np.float64)
    ordered.sum_duplicates()
    ordered.sort_indices()
    return ordered  # type: ignore[no-any-return]


def plus_diagonal(matrix: scipy.sparse.csr_array, diagonal: Array) -> scipy.sparse.csr_array:
    """W + diag(``diagonal``)."""
    import scipy.sparse

    return scipy.sparse.csr_array(matrix + scipy.sparse.diags_array(diagonal))


def averaging_matrix(weights: npt.ArrayLike) -> Array:
    """W as a dense matrix, checked to be symmetric with rows that add up to one."""
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidParameter(f"weights must be a square matrix, got shape {matrix.shape}")
    if not np.allclose(matrix, matrix.T, atol=1e-9) or not np.allclose(matrix.sum(axis=0), 1.0, atol=1e-9):
        raise InvalidParameter("weights must be symmetric with rows that add up to one")
    return matrix


def consensus_factor(weights: npt.ArrayLike | scipy.sparse.csr_array) -> float:
    """The factor by which ‖x − c̄‖ shrinks per round of x ← W x, at the least: max(abs λ₂, abs λ_n) of a symmetric W.

    W must be doubly stochastic, dense or sparse. For one that is not symmetric the factor is the largest singular value
    of W − 11ᵀ/n.

    Examples
    --------
    >>> round(consensus_factor([[0.75, 0.25], [0.25, 0.75]]), 12)
    0.5
    """
    import scipy.sparse.linalg

    sparse = hasattr(weights, "tocsr")
    matrix: Any = weights if sparse else np.asarray(weights, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidParameter(f"weights must be a square matrix, got shape {matrix.shape}")
    if any(np.abs(np.asarray(matrix.sum(axis=axis)) - 1.0).max() > TOLERANCE for axis in (0, 1)):
        raise InvalidParameter("weights must be doubly stochastic: rows and columns that add up to one")
    n = matrix.shape[0]
    if n <= DENSE_NODES:
        dense = matrix.toarray() if sparse else matrix
        return float(np.linalg.norm(dense - 1.0 / n, 2))

    def apply(x: Array) -> Array:
        y = np.asarray(matrix.T @ (matrix @ (x - x.mean())), dtype=np.float64)
        return y - np.mean(y)

    operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=apply, dtype=np.float64)
    start = np.cos(np.arange(n))  # the same every time
    top = scipy.sparse.linalg.eigsh(operator, k=1, which="LA", v0=start, tol=1e-9, return_eigenvectors=False)[0]
    return float(np.sqrt(max(top, 0.0)))


def extreme_eigenvalues(weights: npt.ArrayLike | scipy.sparse.csr_array) -> tuple[float, float]:
    """(λ₂, λ_n): the second largest and the least eigenvalue of a symmetric, doubly stochastic W, dense or sparse.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> [round(value, 12) for value in extreme_eigenvalues(mixing_matrix("metropolis", cycle(4)))]
    [0.333333333333, -0.333333333333]
    """
    import scipy.sparse.linalg

    matrix: Any = weights
    n = matrix.shape[0]
    if n <= DENSE_NODES:
        values = np.linalg.eigvalsh(matrix.toarray() if hasattr(matrix, "tocsr") else np.asarray(matrix))
        return float(values[-2]), float(values[0])

    def apply(x: Array) -> Array:
        y = np.asarray(matrix @ (x - x.mean()), dtype=np.float64)
        return y - np.mean(y)

    operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=apply, dtype=np.float64)
    start = np.cos(np.arange(n))  # the same every time
    found = scipy.sparse.linalg.eigsh(operator, k=2, which="BE", v0=start, tol=1e-9, return_eigenvectors=False)
    return float(max(found)), float(min(found))


def weights_apart(weights: Weights) -> str:
    """What a label adds for weights that are not the customary ones.

    Examples
    --------
    >>> weights_apart("metropolis"), weights_apart("max-degree"), weights_apart([[1.0]])
    ('', ', max-degree', ', given weights')
    """
    if isinstance(weights, str):
        return "" if weights == "metropolis" else f", {weights}"
    return ", given weights"


def weight_caveats(weights: Weights, graph: Graph) -> tuple[str, ...]:
    """What the analyses ask of W beyond being doubly stochastic; the named weights have it."""
    if isinstance(weights, str):
        return ()
    matrix = mixing_matrix(weights, graph)
    found = []
    if abs(matrix - matrix.T).max() > TOLERANCE:
        found.append("the weights are not symmetric, and the published rates are for symmetric ones")
    if consensus_factor(matrix) > 1.0 - 1e-12:
        found.append("the weights do not contract every disagreement in one round, so convergence is not guaranteed")
    return tuple(found)
