"""Lanczos for the algebraic connectivity of graphs without bottlenecks (expanders, random regular).

Two passes with three vectors of memory: the first builds the tridiagonal matrix T and stops when its own
error bound is small enough, the second repeats the same recurrence and sums the eigenvector, which is then examined
from scratch. No vectors are stored and none are reorthogonalised: extreme eigenvalues do not need it,
repeated copies of a converged one are harmless.

The error bound is Lehmann's: put a wall ρ between the first two Ritz values, extend T by one row so that ρ is an
eigenvalue of it, and the eigenvalue of the extended matrix below ρ is a *lower* bound for α. It holds if the graph's
next eigenvalue is above ρ, so it is used only when the residual is smaller than the distance to the Ritz value behind
the wall (then, on random regular graphs of 10⁶ nodes, it held at every step that was looked at). It uses all of T,
so it is far sharper than residual²/gap where eigenvalues lie close together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from .ritz import Estimate, Problem

__all__ = ["eigenpairs", "lanczos", "radau_corner", "recurrence"]

Iterate = npt.NDArray[Any]
"""``(n,)`` single or double precision."""

COLUMNS_PER_BLOCK = 1 << 18
"""Columns of the adjacency handled together: as 32-bit numbers they fit the second-level cache (twice as fast)."""

CHECK_EVERY = 20
TOO_SLOW = ((40, 1.0), (160, 0.2))
"""(steps, residual/value): above this after so many steps, another solver is tried. Measured on rings,
grids and geometric graphs (1 to 10 after 40 steps), and on random regular, small-world and scale-free ones (below)."""

WALL = 0.3
"""Where the wall ρ stands between two Ritz values; lower is more cautious."""

CAUTION = (1.0, 2.0)
"""Factors for the bounds with the wall after the first and after the second Ritz value. The latter is sharper when the
first two are close, and its assumption (only two eigenvalues below) less certain."""


def lanczos(
    problem: Problem,
    *,
    tolerance: float = 1e-9,
    max_steps: int = 4000,
    single: bool = False,
    patient: bool = False,
) -> Estimate | None:
    """Two-pass Lanczos from a random start; ``None`` if it would converge too slowly on this graph.

    Parameters
    ----------
    problem
        The Laplacian.
    tolerance
        Wanted relative error.
    max_steps
        Steps of the first pass; the best bound reached is reported if the tolerance is not.
    single
        Iterate in single precision (half the time; good to about six digits). The final check is in double.
    patient
        Go on to ``max_steps`` even if it converges slowly.
    """
    dtype = np.float32 if single else np.float64
    apply = _operator(problem, dtype)
    start: Iterate = np.random.default_rng(problem.num_nodes).standard_normal(problem.num_nodes).astype(dtype)
    start -= start.mean()
    start /= np.linalg.norm(start)
    rounding = 4 * float(np.finfo(dtype).eps) * problem.norm_bound

    diagonal: list[float] = []
    off_diagonal: list[float] = []
    for k, (_, alpha, beta) in zip(count(1), recurrence(apply, start), strict=False):
        diagonal.append(alpha)
        off_diagonal.append(beta)
        exhausted = beta <= rounding  # T is all there is to know
        if k % CHECK_EVERY and not exhausted and k < max_steps:
            continue
        value, residual, error, weights = _smallest(diagonal, off_diagonal, rounding)
        if error <= max(tolerance * value, rounding / 4) or exhausted or k >= max_steps:
            break
        if not patient and any(k >= steps and residual > limit * value for steps, limit in TOO_SLOW):
            return None

    vector = np.zeros(problem.num_nodes)
    for weight, (q, _, _) in zip(weights, recurrence(apply, start, diagonal, off_diagonal), strict=False):
        vector += weight * q
    checked = problem.examine(vector[:, None]).estimate()
    if checked.residual > 2 * residual + 10 * rounding:
        return None  # the second pass did not find the vector that the first one promised
    error = max(min(error, checked.residual), abs(checked.value - value), checked.error if residual < rounding else 0.0)
    return Estimate(checked.value, checked.residual, min(error, checked.residual))


def _operator(problem: Problem, dtype: type[np.float32] | type[np.float64]) -> Callable[[Iterate], Iterate]:
    """v ↦ Lv, in blocks of columns that fit the cache."""
    import scipy.sparse

    n, ends = problem.num_nodes, problem.edges
    diagonal = problem.weighted_degrees.astype(dtype)
    blocks = []
    for start in range(0, n, COLUMNS_PER_BLOCK):
        stop = min(start + COLUMNS_PER_BLOCK, n)
        rows, columns, data = [], [], []
        for here, there in ((0, 1), (1, 0)):
            inside = np.flatnonzero((ends[:, there] >= start) & (ends[:, there] < stop))
            rows.append(ends[inside, here])
            columns.append(ends[inside, there] - np.int32(start))
            data.append(
                np.ones(len(inside), dtype) if problem.weights is None else problem.weights[inside].astype(dtype)
            )
        entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
        blocks.append((start, stop, scipy.sparse.csr_array(entries, shape=(n, stop - start))))

    def apply(vector: Iterate) -> Iterate:
        image: Iterate = diagonal * vector
        for start, stop, block in blocks:
            image -= block @ vector[start:stop]
        return image

    return apply


def recurrence(
    apply: Callable[[Iterate], Iterate],
    start: Iterate,
    diagonal: list[float] | None = None,
    off_diagonal: list[float] | None = None,
) -> Iterator[tuple[Iterate, float, float]]:
    """Lanczos vectors with their α and β; given the α and β of an earlier pass, exactly its vectors again.

    The constant vector is projected out at every step: rounding would bring it back, and its
    eigenvalue 0 is the one that Lanczos finds first.
    """
    number = start.dtype.type
    q, before, beta = start, np.zeros_like(start), 0.0
    for k in count():
        image = apply(q)
        image -= number(beta) * before
        alpha = float(q @ image) if diagonal is None else diagonal[k]
        image -= number(alpha) * q
        image -= image.mean()
        beta = float(np.linalg.norm(image)) if off_diagonal is None else off_diagonal[k]
        yield q, alpha, beta
        if beta == 0 or (diagonal is not None and k + 1 == len(diagonal)):
            return
        image /= number(beta)
        before, q = q, image


def _smallest(
    diagonal: list[float], off_diagonal: list[float], rounding: float
) -> tuple[float, float, float, npt.NDArray[np.float64]]:
    """Smallest Ritz value of T, its residual, its error bound, and its eigenvector in the Lanczos basis."""
    from scipy.linalg import eigh_tridiagonal

    k = len(diagonal)
    values, vectors = eigh_tridiagonal(diagonal, off_diagonal[:-1], select="i", select_range=(0, min(2, k - 1)))
    residual = float(abs(off_diagonal[-1] * vectors[-1, 0]))
    error = residual
    for j, caution in zip(range(len(values) - 1), CAUTION, strict=False):
        gap = float(values[j + 1] - values[j])
        # Not between copies of one eigenvalue, nor before the first vector can be told from the one behind the wall.
        if gap > 10 * rounding and residual < values[j + 1] - values[0]:
            wall = float(values[j]) + WALL * gap
            error = min(error, caution * (float(values[0]) - _lehmann(diagonal, off_diagonal, wall)))
    return float(values[0]), residual, max(error, rounding / 4), vectors[:, 0].astype(np.float64)


def _lehmann(diagonal: list[float], off_diagonal: list[float], wall: float) -> float:
    """Lower bound for the smallest eigenvalue, if T has as many below ``wall`` as L; −∞ if it cannot be had."""
    from scipy.linalg import eigh_tridiagonal

    corner = radau_corner(diagonal, off_diagonal, wall)
    if not np.isfinite(corner):
        return -np.inf
    extended = np.append(np.array(diagonal), corner)
    return float(eigh_tridiagonal(extended, off_diagonal, eigvals_only=True, select="i", select_range=(0, 0))[0])


def eigenpairs(diagonal: Sequence[float] | Iterate, beside: Sequence[float] | Iterate) -> tuple[Iterate, Iterate]:
    """All eigenvalues, rising, and eigenvectors of a symmetric tridiagonal matrix.

    A long recurrence without reorthogonalisation finds the same eigenvalue again and again. LAPACK's fast algorithm
    gives up on some such clusters, in some versions; the slow one does not.

    Examples
    --------
    >>> values, vectors = eigenpairs([1.0, 1.0], [0.5])
    >>> values.tolist()
    [0.5, 1.5]
    """
    from scipy.linalg import LinAlgError, eigh_tridiagonal

    try:
        values, vectors = eigh_tridiagonal(diagonal, beside)
    except LinAlgError:
        values, vectors = eigh_tridiagonal(diagonal, beside, lapack_driver="stev")
    return np.asarray(values, dtype=np.float64), np.asarray(vectors, dtype=np.float64)


def radau_corner(diagonal: list[float], off_diagonal: list[float], node: float) -> float:
    """The last diagonal entry that makes ``node`` an eigenvalue of T extended by one row; NaN if there is none."""
    from scipy.linalg import solve_banded

    k = len(diagonal)
    shifted = np.zeros((3, k))
    shifted[0, 1:] = shifted[2, :-1] = off_diagonal[:-1]
    shifted[1] = np.array(diagonal) - node
    last = np.zeros(k)
    last[-1] = 1.0
    try:
        return node + off_diagonal[-1] ** 2 * float(solve_banded((1, 1), shifted, last)[-1])
    except np.linalg.LinAlgError:
        return math.nan
