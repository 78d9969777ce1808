"""What is still uncertain about a few Gaussian quantities while one linear observation after another arrives.

The error of the best estimate of a list of quantities is kept as M·z + S·v: v independent standard
normals, z directions about which nothing is known yet (a flat prior). That is a square-root filter with
exact diffuse start: variances are never subtracted and no huge variance replaces an infinite one.
An observation either resolves one direction of z, which then leaves M, or shrinks one direction of S.

No graph, method or view here: rows are numbered, nothing more. Two tolerances decide ranks:

- :data:`RANK_TOLERANCE`: an observation that depends on the unresolved directions by less than this
  (they are orthonormal, weights of private values are at most 1) is taken not to depend on them;
- :data:`FLOOR`: a row whose deviation fell below this share of the deviations it was computed from, by
  cancellation, is rounding error and is taken to be zero.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["FLOOR", "RANK_TOLERANCE", "Knowledge"]

Array = npt.NDArray[np.float64]

RANK_TOLERANCE = 1e-9
FLOOR = 1e-13
NOTHING = 1e-150
"""Deviations below this are zero: their squares are about to leave the range of doubles."""


class Knowledge:
    """Uncertainty of ``rows`` jointly Gaussian quantities.

    Parameters
    ----------
    factor
        ``(rows, k)``: S at the start.
    diffuse
        ``(rows, d)`` with orthonormal columns on the rows of the private values: M at the start.

    Examples
    --------
    A quantity with prior deviation 1 seen once under noise of deviation 1:

    >>> known = Knowledge(factor=np.array([[1.0]]))
    >>> known.observe(0, 1.0)[0].round(9).tolist()
    [0.5]
    >>> known.std().round(6).tolist()
    [0.707107]
    """

    def __init__(self, factor: Array, diffuse: Array | None = None) -> None:
        rows, used = factor.shape
        self._capacity = 4 * rows + 8 + used
        self._factor = np.zeros((rows, self._capacity))
        self._factor[:, :used] = factor
        self._used = used
        self._diffuse = np.zeros((rows, 0)) if diffuse is None else diffuse.astype(np.float64)
        self._floor = np.zeros(rows)

    def start_weights(self) -> Array:
        """``(rows, d)`` how rows depend on the directions about which nothing is known."""
        return self._diffuse.copy()

    @property
    def num_rows(self) -> int:
        """How many quantities are tracked."""
        return len(self._factor)

    def mix(self, p: int, q: int, noise: float) -> None:
        """Replace rows p, q by their mean plus and minus an independent normal of deviation ``noise``."""
        factor, diffuse = self._factor, self._diffuse
        one, other = factor[p], factor[q]
        size = math.sqrt(max(float(one @ one), float(other @ other)))
        self._floor[p] = self._floor[q] = max(self._floor[p], self._floor[q], FLOOR * size)
        one += other
        one *= 0.5
        other[:] = one
        if diffuse.shape[1]:
            diffuse[p] = diffuse[q] = 0.5 * (diffuse[p] + diffuse[q])
        if noise > 0.0:
            column = self._fresh_column()
            self._factor[p, column] = noise
            self._factor[q, column] = -noise

    def observe(self, p: int, noise: float) -> tuple[Array, float]:
        """Condition on row p seen under an independent normal of deviation ``noise``.

        Returns
        -------
        gain
            ``(rows,)``: how the estimate of each row moves per unit of surprise.
        deviation
            Standard deviation of the surprise, never below what rounding leaves uncertain; infinite if it
            resolved a direction of the flat prior.
        """
        if self._diffuse.shape[1] and np.linalg.norm(self._diffuse[p]) > RANK_TOLERANCE:
            return self._resolve(p, noise), math.inf
        self._diffuse[p] = 0.0
        return self._shrink(p, noise)

    def combine(self, rows: slice | npt.NDArray[np.int64], matrix: Array | scipy.sparse.csr_array) -> None:
        """Replace ``rows`` by ``matrix`` times all rows."""
        norms = self._norms()
        used = self._factor[:, : self._used]
        if not isinstance(matrix, np.ndarray):
            weights, columns = np.abs(matrix.data), matrix.indices
            floor = np.maximum(np.maximum(weights, 1.0) * self._floor[columns], weights * (FLOOR * norms[columns]))
            raised = np.zeros(matrix.shape[0])
            np.maximum.at(raised, np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), floor)
            self._floor[rows], used[rows], self._diffuse[rows] = raised, matrix @ used, matrix @ self._diffuse
            return
        # Errors of averaged rows may point the same way (an average shrinks no constant vector), so floors are not
        # scaled by weights below one: a residue that outlived its floor would pass for information.
        passed_on = np.where(matrix != 0.0, np.maximum(np.abs(matrix), 1.0) * self._floor, 0.0)
        self._floor[rows] = np.maximum(passed_on, np.abs(matrix) * (FLOOR * norms)).max(axis=1)
        used[rows] = matrix @ used
        self._diffuse[rows] = matrix @ self._diffuse

    def add_noise(self, shares: dict[int, float]) -> None:
        """Add one independent standard normal, in these shares, to these rows."""
        if any(shares.values()):
            column = self._fresh_column()
            for row, share in shares.items():
                self._factor[row, column] = share

    def turn(self) -> None:
        """Reflect v: the covariance stays the same, every number in S changes."""
        factor = self._factor[:, : self._used]
        reflector = np.cos(np.arange(1.0, 1.0 + factor.shape[1]))
        if factor.shape[1]:
            factor -= np.outer(factor @ reflector, reflector * (2.0 / np.dot(reflector, reflector)))

    def std(self, rows: slice | Array = slice(None)) -> Array:
        """Deviation of the best unbiased (flat prior) or Bayesian estimate; infinite where undetermined."""
        factor = self._factor[rows, : self._used]
        deviation: Array = np.sqrt(np.einsum("ij,ij->i", factor, factor))
        deviation[deviation <= self._floor[rows]] = 0.0
        if self._diffuse.shape[1]:
            deviation[np.linalg.norm(self._diffuse[rows], axis=1) > RANK_TOLERANCE] = math.inf
        return deviation

    def rounding(self, rows: slice, deviation: Array) -> Array:
        """How far rounding may have moved the deviations of these rows, where :meth:`std` has found them finite."""
        return np.where(np.isfinite(deviation), self._floor[rows], 0.0)

    @property
    def unresolved(self) -> int:
        """How many directions of the flat prior no observation has resolved."""
        return int(self._diffuse.shape[1])

    def covariance(self, rows: slice) -> Array:
        """Covariance of the rows; meaningful where :meth:`std` is finite."""
        factor = self._factor[rows, : self._used]
        return np.asarray(factor @ factor.T)

    # -- inside -----------------------------------------------------------------------------------

    def _shrink(self, p: int, noise: float) -> tuple[Array, float]:
        factor = self._factor[:, : self._used]
        row = factor[p].copy()
        norm = float(np.linalg.norm(row))
        if norm <= self._floor[p] or norm <= NOTHING:
            factor[p] = 0.0
            return np.zeros(len(factor)), math.hypot(noise, self._floor[p])
        pivot = int(np.argmax(np.abs(row)))
        if np.count_nonzero(row) > 1:
            # Reflect the columns so that row p lies in one of them.
            row[pivot] += math.copysign(norm, row[pivot])
            weights = np.einsum("ij,j->i", factor, row)
            self._note_rounding(weights != 0.0)
            factor -= np.outer(weights, row * (2.0 / np.dot(row, row)))
            sign = -math.copysign(1.0, row[pivot])
            factor[p] = 0.0
            factor[p, pivot] = sign * norm
        deviation = math.hypot(norm, noise)
        column = factor[:, pivot]
        gain: Array = column * (column[p] / deviation / deviation)
        keep = noise / deviation
        column *= keep
        self._floor[p] *= keep
        return gain, deviation

    def _resolve(self, p: int, noise: float) -> Array:
        diffuse = self._diffuse
        row = diffuse[p].copy()
        pivot = int(np.argmax(np.abs(row)))
        if np.count_nonzero(row) > 1:
            row[pivot] += math.copysign(float(np.linalg.norm(row)), row[pivot])
            weights = np.einsum("ij,j->i", diffuse, row)
            diffuse -= np.outer(weights, row * (2.0 / np.dot(row, row)))
        gain: Array = diffuse[:, pivot] / diffuse[p, pivot]
        self._diffuse = np.delete(diffuse, pivot, axis=1)
        self._diffuse[p] = 0.0
        moved = gain != 0.0
        norms = self._norms()
        rounding = FLOOR * np.maximum(norms, np.abs(gain) * norms[p])
        self._floor[moved] = np.maximum(np.maximum(self._floor, np.abs(gain) * self._floor[p]), rounding)[moved]
        self._factor -= np.outer(gain, self._factor[p])
        self._factor[p] = 0.0
        self._floor[p] = 0.0
        if noise > 0.0:
            column = self._fresh_column()
            self._factor[:, column] = -gain * noise
        return gain

    def _note_rounding(self, rows: npt.NDArray[np.bool_]) -> None:
        """Rows about to be combined carry rounding errors in proportion to their present size."""
        np.maximum(self._floor, FLOOR * self._norms(), out=self._floor, where=rows)

    def _norms(self) -> Array:
        # einsum and not a matrix product: on small matrices BLAS threads cost more than they bring.
        factor = self._factor[:, : self._used]
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", factor, factor)))

    def _fresh_column(self) -> int:
        if self._used == self._capacity:
            self._used = triangularise(self._factor)
        column: int = self._used
        self._used = column + 1
        return column


def triangularise(factor: Array) -> int:
    """Rotate the columns of a matrix until it is lower triangular, in place; return how many columns are left.

    Householder reflections from the right: the covariance stays the same, and errors are relative to the
    size of each row. LAPACK would do, but its threads take many times longer to synchronise than to work when
    other processes use the cores.
    """
    column = 0
    scratch = np.empty_like(factor)
    for k in range(len(factor)):
        reflector = factor[k, column:].copy()
        norm = math.sqrt(float(np.dot(reflector, reflector)))
        factor[k, column:] = 0.0
        if norm <= NOTHING:
            continue
        factor[k, column] = -math.copysign(norm, reflector[0])
        reflector[0] += math.copysign(norm, reflector[0])
        below = factor[k + 1 :, column:]
        weights = np.einsum("ij,j->i", below, reflector) * (2.0 / float(np.dot(reflector, reflector)))
        below -= np.multiply(weights[:, None], reflector, out=scratch[k + 1 :, column:])
        column += 1
    return column
