"""Judging approximate eigenvectors of a Laplacian: values, residuals and error bounds.

No solver is trusted here. Whatever vectors a solver hands over, :meth:`Problem.examine` removes the
constant vector, computes Rayleigh quotients from *differences across edges*,

    vᵀLv = Σ_e w_e (v_i − v_j)²,

and the residuals ‖Lv − θv‖ in the same way. Differences of nearly equal numbers are exact in floating
point, so a tiny α keeps its relative accuracy: on a cycle of 10⁵ nodes α ≈ 4·10⁻⁹, and vᵀ(Lv) from the
assembled matrix would lose half of the digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...foundation.extras import require
from ..validation import chunks

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["Estimate", "Problem", "Ritz", "assembled", "error_bound"]

Vector = npt.NDArray[np.float64]
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Estimate:
    """A solver's checked answer.

    Attributes
    ----------
    value
        Rayleigh quotient θ ≥ α.
    residual
        ‖Lv − θv‖₂ for the unit vector v behind ``value``.
    error
        Bound on the distance from θ to λ, for the eigenvalue λ that v belongs to.
    lower_bound
        A number below which a count of eigenvalues found only the zero; ``None`` if nothing was counted.
    """

    value: float
    residual: float
    error: float
    lower_bound: float | None = None


@dataclass(frozen=True)
class Ritz:
    """Orthonormal vectors, all orthogonal to the constant one, with their quotients in rising order."""

    values: Vector
    residuals: Vector
    vectors: Vector

    def estimate(self, lower_bound: float | None = None) -> Estimate:
        """The smallest value with its error bound."""
        error = error_bound(self.values, self.residuals)
        return Estimate(float(self.values[0]), float(self.residuals[0]), error, lower_bound)


def error_bound(values: Vector, residuals: Vector) -> float:
    """How far the smallest value can be from an eigenvalue.

    The residual itself is always a bound. If the values after the first j are clearly separate, so is
    ‖R_j‖²/gap, where R_j are the residuals of the first j vectors and gap is the distance from them to the
    next value less its own residual (Kato–Temple, for a group of vectors: multiple eigenvalues, as on cycles and
    square grids, are one group).

    Examples
    --------
    >>> error_bound(np.array([1.0, 2.0]), np.array([0.01, 0.0]))
    0.0001
    """
    bound = float(residuals[0])
    for j in range(1, len(values)):
        gap = float(values[j] - residuals[j] - values[j - 1])
        group = float(np.linalg.norm(residuals[:j]))
        if gap > group:
            bound = min(bound, group**2 / gap)
    return max(bound, 8 * EPSILON * float(values[0]))


@dataclass(frozen=True)
class Problem:
    """Second smallest eigenvalue of L = Σ_e w_e b_e b_eᵀ, with the edges as they are in the graph.

    ``weights`` is ``None`` for ones.
    """

    num_nodes: int
    edges: npt.NDArray[np.int32]
    weights: Vector | None = None

    @property
    def weighted_degrees(self) -> Vector:
        """``(n,)`` the diagonal of L."""
        n = self.num_nodes
        sums = np.bincount(self.edges[:, 0], self.weights, n) + np.bincount(self.edges[:, 1], self.weights, n)
        return sums.astype(np.float64)

    @property
    def norm_bound(self) -> float:
        """‖L‖ ≤ largest d_i + d_j over edges (Anderson and Morley), here simply twice the largest degree."""
        return 2 * float(self.weighted_degrees.max())

    def matrix(self) -> scipy.sparse.csr_array:
        """L in CSR form."""
        weights = np.ones(len(self.edges)) if self.weights is None else self.weights
        return assembled(self.edges, weights, self.weighted_degrees)

    def examine(self, vectors: npt.NDArray[Any]) -> Ritz:
        """Rayleigh–Ritz on the span of ``(n, k)`` vectors, from differences across edges."""
        basis = np.array(vectors, dtype=np.float64, ndmin=2)
        basis = np.linalg.qr(basis - basis.mean(axis=0))[0]
        basis -= basis.mean(axis=0)  # what rounding brought back
        small = np.zeros((basis.shape[1], basis.shape[1]))
        for part in chunks(len(self.edges)):
            scale = 1.0 if self.weights is None else np.sqrt(self.weights[part])
            differences = [scale * self._differences(b, part) for b in basis.T]
            small += np.array([[one @ other for other in differences] for one in differences])
        _, rotation = np.linalg.eigh(small)
        vectors = basis @ rotation
        measured = [self._measure(np.ascontiguousarray(v)) for v in vectors.T]
        order = np.argsort([value for value, _ in measured])
        values, residuals = np.array(measured)[order].T
        return Ritz(values, residuals, vectors[:, order])

    def _measure(self, vector: Vector) -> tuple[float, float]:
        """Rayleigh quotient and residual of one vector."""
        vector = vector / np.linalg.norm(vector)
        value, image = 0.0, np.zeros(self.num_nodes)
        for part in chunks(len(self.edges)):
            difference = self._differences(vector, part)
            flow = difference if self.weights is None else self.weights[part] * difference
            value += float(flow @ difference)
            image += np.bincount(self.edges[part, 0], flow, self.num_nodes)
            image -= np.bincount(self.edges[part, 1], flow, self.num_nodes)
        return value, float(np.linalg.norm(image - value * vector))

    def _differences(self, vector: Vector, part: slice) -> Vector:
        """Across some of the edges: all at once would be as large as the matrix."""
        across: Vector = vector[self.edges[part, 0]] - vector[self.edges[part, 1]]
        return across


def assembled(edges: npt.NDArray[np.int32], weights: Vector, diagonal: Vector) -> scipy.sparse.csr_array:
    """The symmetric matrix with −w_e at the two places of every edge and the given diagonal."""
    require("scipy", by="the Laplacian of a graph without a closed form")
    import scipy.sparse

    nodes = np.arange(len(diagonal), dtype=np.int32)
    rows = np.concatenate([edges[:, 0], edges[:, 1], nodes])
    columns = np.concatenate([edges[:, 1], edges[:, 0], nodes])
    data = np.concatenate([-weights, -weights, diagonal])
    return scipy.sparse.csr_array((data, (rows, columns)), shape=(len(diagonal), len(diagonal)))
