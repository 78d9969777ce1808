"""Eigensolvers for graphs with bottlenecks (rings, grids, geometric graphs), and the dense one.

Each takes a :class:`~.ritz.Problem` and returns a checked :class:`~.ritz.Estimate`, or ``None`` when it does not suit
the graph. The order in which they are tried is decided in :mod:`.choosing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...foundation.extras import installed
from .ritz import EPSILON, Estimate, Problem, Ritz, Vector, error_bound

if TYPE_CHECKING:
    import scipy.sparse.linalg

__all__ = ["dense", "factorised", "has_multigrid", "multigrid", "with_count"]

BLOCK = 3
"""Vectors iterated together: α may be double (cycle, square grid), and one more must be seen beyond it."""

ENVELOPE_PER_NODE = 20
ENVELOPE_LIMIT = 20_000_000
"""Entries of the factor that may be stored (24 bytes each), per node and in all; beyond, multigrid is quicker."""

LEAN_EDGES = 5_000_000
"""Above, interpolation is smoothed without a scaled copy of the matrix: half a gigabyte less for RGG(10⁶), for 15 %
more iterations."""

COUNT_DISTANCES = (1e-9, 1e-6, 1e-3)
"""How far below the answer, relative to it, the eigenvalues are counted; the first that rounding allows."""

MAX_ITERATIONS, STALLED = 200, 15
"""Iterations at most, and without halving the residual, before the block is examined as it is."""


def dense(problem: Problem) -> Estimate:
    """Lowest eigenvectors of the full matrix by LAPACK; nothing can be missed.

    The constant vector is moved to the other end of the spectrum, so that it cannot mix with an eigenvector of a
    very small α.
    """
    from scipy.linalg import eigh

    top = min(BLOCK, problem.num_nodes - 1)
    full = problem.matrix().toarray() + problem.norm_bound / problem.num_nodes
    vectors = eigh(full, subset_by_index=(0, top - 1))[1]
    found = problem.examine(vectors).estimate()
    return Estimate(found.value, found.residual, found.error, found.value - found.error)


def factorised(
    problem: Problem,
    *,
    tolerance: float = 1e-9,
    envelope_limit: float | None = None,
    fill_reducing: bool = False,
) -> Estimate | None:
    """Inverse iteration with a sparse LU factor, then a count of the eigenvalues below the answer.

    Nodes are renumbered by reverse Cuthill–McKee; if the envelope (which holds the factor) is above
    ``envelope_limit`` the answer is ``None``. With ``fill_reducing`` the factorisation chooses its own ordering instead
    and no limit applies: slower and larger than multigrid, and what is left without it.
    """
    import scipy.sparse
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    matrix = problem.matrix()
    if not fill_reducing:
        order = reverse_cuthill_mckee(scipy.sparse.csr_matrix(matrix), symmetric_mode=True)
        limit = min(ENVELOPE_PER_NODE * problem.num_nodes, ENVELOPE_LIMIT) if envelope_limit is None else envelope_limit
        if _envelope(problem, order) > limit:
            return None
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=order.dtype)
        problem = Problem(problem.num_nodes, place[problem.edges], problem.weights)
        matrix = problem.matrix()
    grounded = _factor(matrix[:-1, :-1], fill_reducing=fill_reducing)

    def solve(block: Vector) -> Vector:
        """Pseudo-inverse of L on vectors orthogonal to the constant one: hold the last node at zero."""
        free = np.zeros(block.shape)
        free[:-1] = grounded.solve(np.ascontiguousarray((block - block.mean(axis=0))[:-1]))
        shifted: Vector = free - free.mean(axis=0)
        return shifted

    ritz = _block_iteration(problem, matrix, solve, tolerance)
    return with_count(problem, ritz.estimate(), fill_reducing=fill_reducing)


def with_count(problem: Problem, found: Estimate, *, fill_reducing: bool = True) -> Estimate | None:
    """Count the eigenvalues below the answer: ``None`` if there is one that was missed.

    If rounding does not allow to tell, the estimate comes back as it was, without a ``lower_bound``.
    """
    matrix = problem.matrix()
    for distance in COUNT_DISTANCES:
        margin = max(2 * found.error, distance * found.value, 64 * EPSILON * problem.norm_bound)
        below = _eigenvalues_below(matrix, found.value - margin, fill_reducing=fill_reducing)
        if below == 1:
            return Estimate(found.value, found.residual, found.error, found.value - margin)
        if below is not None:
            return None
    return found


def multigrid(problem: Problem, *, tolerance: float = 1e-9) -> Estimate | None:
    """LOBPCG preconditioned by one cycle of smoothed-aggregation algebraic multigrid (pyamg)."""
    if not has_multigrid():
        return None
    import pyamg
    import scipy.sparse

    matrix = scipy.sparse.csr_matrix(problem.matrix())
    smoother = "richardson" if len(problem.edges) > LEAN_EDGES else "jacobi"
    state = np.random.get_state()  # noqa: NPY002 (pyamg draws from the global generator; put it back as it was)
    try:
        np.random.seed(0)  # noqa: NPY002
        # No measure of strength: the default one keeps every entry too, in a copy of the matrix.
        hierarchy = pyamg.smoothed_aggregation_solver(
            matrix, max_coarse=300, strength=None, smooth=smoother, keep=False
        )
    finally:
        np.random.set_state(state)  # noqa: NPY002
    cycle = hierarchy.aspreconditioner(cycle="V")
    return _block_iteration(problem, matrix, cycle.matmat, tolerance).estimate()


def has_multigrid() -> bool:
    """Whether pyamg is installed."""
    return installed("pyamg")


def _block_iteration(
    problem: Problem,
    matrix: Any,
    precondition: Callable[[Vector], Vector],
    tolerance: float,
) -> Ritz:
    """LOBPCG (Knyazev, 2001): Rayleigh–Ritz on the block, its preconditioned residuals and its last directions.

    Written out here rather than taken from scipy, because we stop when *our* error bound is content (scipy's waits
    for the slowest vector of the block) and orthogonalise by eigenvectors of the Gram matrix, which drops directions
    that have become dependent instead of failing on them.
    """
    n = problem.num_nodes
    size = max(1, min(BLOCK, (n - 1) // 3))
    basis = _orthonormal(np.random.default_rng(n).standard_normal((n, size)))
    image = matrix @ basis
    quotients, rotation = np.linalg.eigh(basis.T @ image)
    block, image, directions = basis @ rotation, image @ rotation, np.empty((n, 0))
    smallest, since = np.inf, 0
    for _ in range(MAX_ITERATIONS):
        residual = image - block * quotients
        norms = np.linalg.norm(residual, axis=0)
        since = 0 if norms[0] < smallest / 2 else since + 1
        smallest = min(smallest, norms[0])
        if error_bound(quotients, norms) <= tolerance * quotients[0] / 4 or since > STALLED:
            break
        trial = _orthonormal(np.hstack([precondition(residual), directions]), against=block)
        basis = np.hstack([block, trial])
        images = np.hstack([image, matrix @ trial])
        gram = basis.T @ images
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        quotients, chosen = values[:size], vectors[:, :size]
        directions = trial @ chosen[size:]
        block, image = basis @ chosen, images @ chosen
    return problem.examine(block)


def _orthonormal(vectors: Vector, against: Vector | None = None) -> Vector:
    """Orthonormal basis of the span, orthogonal to the constant vector and to ``against``, less what is dependent."""
    for _ in range(2):
        vectors = vectors - vectors.mean(axis=0)
        if against is not None:
            vectors -= against @ (against.T @ vectors)
        norms = np.linalg.norm(vectors, axis=0)
        vectors = vectors[:, norms > 0] / norms[norms > 0]
        weights, rotation = np.linalg.eigh(vectors.T @ vectors)
        keep = weights > 1e-12
        vectors = vectors @ (rotation[:, keep] / np.sqrt(weights[keep]))
    return vectors


def _envelope(problem: Problem, order: npt.NDArray[np.int32]) -> int:
    """Σ over rows of the distance from the first entry to the diagonal, in the new numbering."""
    place = np.empty(problem.num_nodes, dtype=np.int64)
    place[order] = np.arange(problem.num_nodes)
    ends = place[problem.edges]
    first = np.arange(problem.num_nodes)
    np.minimum.at(first, ends.max(axis=1), ends.min(axis=1))
    return int((np.arange(problem.num_nodes) - first).sum())


def _factor(matrix: Any, *, fill_reducing: bool) -> scipy.sparse.linalg.SuperLU[np.float64]:
    """LU with pivots on the diagonal, that is LDLᵀ: symmetric, and the signs of U's diagonal can be counted."""
    import scipy.sparse
    from scipy.sparse.linalg import splu

    ordering = "MMD_AT_PLUS_A" if fill_reducing else "NATURAL"
    factor: scipy.sparse.linalg.SuperLU[np.float64] = splu(  # type: ignore[call-overload]
        scipy.sparse.csc_matrix(matrix), permc_spec=ordering, diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    return factor


def _eigenvalues_below(matrix: Any, shift: float, *, fill_reducing: bool) -> int | None:
    """How many eigenvalues lie below ``shift`` (Sylvester's law of inertia); ``None`` if it cannot be told.

    L − shift·I = LDLᵀ has as many negative pivots as negative eigenvalues. The pivots are not chosen for
    stability, so a solve with the factor is checked first.
    """
    import scipy.sparse

    if shift <= 0:
        return None
    n = matrix.shape[0]
    shifted = scipy.sparse.csr_array(matrix - shift * scipy.sparse.eye_array(n, format="csr"))
    try:
        factor = _factor(shifted, fill_reducing=fill_reducing)
    except RuntimeError:  # an exact zero pivot
        return None
    if not np.array_equal(factor.perm_r, factor.perm_c):
        return None
    known: Vector = np.random.default_rng(n).standard_normal(n)
    solution = factor.solve(known)
    size = float(abs(matrix).max())
    backward = np.linalg.norm(shifted @ solution - known) / (size * np.linalg.norm(solution) + np.linalg.norm(known))
    if not backward <= 1e4 * EPSILON:
        return None
    return int(np.count_nonzero(factor.U.diagonal() < 0))
