"""The exact expectation of the error, step by step.

Take away from every value the noise its node has outstanding: y = x − u. When edge (i, j) fires, both
ends become ½(y_i + y_j + f_i + f_j) with f_i and f_j outstanding, so that

    y⁺ = W_e y − ½ (f_i − f_j) b_e,        b_e = e_i − e_j,  W_e = I − ½ b_e b_eᵀ:

y follows plain gossip plus fresh noise that is independent of everything before, and its sum never changes.
Its second moments Y = E[(y − c̄)(y − c̄)ᵀ] are closed,

    Y⁺ = T(Y) + ¼ Σ_e p_e (v_i + v_j) b_e b_eᵀ,        v_i = σ_i² r_i^t,
    T(Y) = Σ_e p_e W_e Y W_e = Y − ½ (L_p Y + Y L_p) + ¼ Σ_e p_e (b_eᵀ Y b_e) b_e b_eᵀ,

and since E[x_i u_i] − c̄ E[u_i] = ½ E u_i² (a node keeps half of what it puts in), E‖x − c̄‖² = tr Y and
E G_k = ½ tr Y: outstanding noise does not change the expected error.
The error of the mean is (1/2n) Σ E u_i², in closed form, and disagreement is the rest.

One step costs O(m n). For long horizons :mod:`.spectral` has the same numbers in a few hundred such
operations altogether.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, Unsupported
from ...foundation.arguments import Array
from ...graphs.chances import Chances, both_ends
from ...graphs.graph import Graph
from ...methods import Method
from .bounds import outstanding_variance
from .setting import Noise, as_steps, centred

__all__ = ["ExpectedError", "SecondMomentMap", "expected_error", "expected_error_split"]

Algorithm = Literal["auto", "steps", "spectral"]

_LARGEST = 8_000
"""Beyond this many nodes one matrix of second moments takes half a gigabyte, and several are needed."""

_SPECTRAL_FROM = 400
"""Horizons from which the spectral way is the cheaper one on most graphs."""


@dataclass(frozen=True, eq=False)
class ExpectedError:
    """E[½‖x^k − c̄‖²] and its two parts.

    Attributes
    ----------
    steps
        ``(K,)`` the values of k.
    total
        ``(K,)`` E[½‖x^k − c̄‖²].
    disagreement
        ``(K,)`` E[½‖x^k − mean(x^k)‖²]: how far the nodes are from each other.
    mean_error
        ``(K,)`` E[(n/2)(mean(x^k) − c̄)²]: how far their mean is from the true mean, because noise is outstanding.
    """

    steps: npt.NDArray[np.int64]
    total: Array
    disagreement: Array
    mean_error: Array


class SecondMomentMap:
    """T(Y) = Σ p_e W_e Y W_e on symmetric matrices whose rows add up to zero: self-adjoint, with spectrum in [0, 1)."""

    def __init__(self, chances: Chances) -> None:
        size = chances.graph.num_nodes
        self.graph, self.size = chances.graph, size
        self.edge_chances = chances.edges
        self.ends = chances.graph.edges[:, 0].astype(np.intp), chances.graph.edges[:, 1].astype(np.intp)
        half = 0.5 * chances.laplacian
        self.half_laplacian = half.toarray() if size <= 128 else half

    def edge_energy(self, moments: Array) -> Array:
        """``(m,)`` b_eᵀ Y b_e."""
        i, j = self.ends
        diagonal = moments.diagonal()
        return diagonal[i] + diagonal[j] - 2.0 * moments[i, j]

    def apply(self, moments: Array, injected: Array) -> Array:
        """T(Y) + ¼ Σ p_e injected_e b_e b_eᵀ."""
        return centred_both(moments - self.loss(moments, injected))

    def loss(self, moments: Array, injected: Array | None = None) -> Array:
        """Y − T(Y) − ¼ Σ p_e injected_e b_e b_eᵀ, symmetric to the last bit, not yet centred."""
        i, j = self.ends
        energy = self.edge_energy(moments)
        if injected is not None:
            energy += injected
        energy *= 0.25 * self.edge_chances
        product = self.half_laplacian @ moments
        result: Array = product + product.T
        result[i, j] += energy
        result[j, i] += energy
        result[np.diag_indices(self.size)] -= both_ends(self.graph, energy)
        return result


def check_size(graph: Graph) -> None:
    """Refuse graphs whose second moments would not fit.

    Raises
    ------
    Unsupported
        Naming the alternative.
    """
    if graph.num_nodes > _LARGEST:
        raise Unsupported(
            f"exact second moments need several {graph.num_nodes} × {graph.num_nodes} matrices; "
            f"for graphs of more than {_LARGEST} nodes use error_bound"
        )


def centred_both(matrix: Array) -> Array:
    """ΠMΠ of a symmetric M, in place and symmetric to the last bit.

    Rounding leaves a little along the constant vector, where T has the eigenvalue 1 and would keep it.
    So would the antisymmetric part, if there were one.
    """
    row = matrix.mean(axis=0)
    row -= 0.5 * row.mean()
    matrix -= row[:, None] + row
    return matrix


def second_moments(start: Array, noise: Noise, columns: int, mapping: SecondMomentMap) -> Iterator[Array]:
    """Y_0, Y_1, Y_2, …, without end."""
    i, j = mapping.ends
    variance, factor = columns * noise.variance, 1.0 - noise.gap
    moments = centred_both(0.5 * (start + start.T))
    while True:
        yield moments
        moments = mapping.apply(moments, variance[i] + variance[j])
        variance = variance * factor


def expected_error(
    graph: Graph,
    private_values: npt.ArrayLike,
    method: Method,
    num_steps: int | None = None,
    *,
    at: npt.ArrayLike | None = None,
    edge_probabilities: npt.ArrayLike | None = None,
    algorithm: Algorithm = "auto",
) -> Array:
    """E[½‖x^k − c̄‖²] exactly, for k = 0..num_steps.

    Parameters
    ----------
    graph, private_values, method
        As for :func:`sottovoce.simulate`; the method is standard gossip or noise insertion. Values may have
        several columns: their errors add up.
    num_steps
        The last k. May be left out if ``at`` is given.
    at
        Evaluate at these k only.
    edge_probabilities
        ``(m,)`` chance of each edge, or ``None`` for equal ones.
    algorithm
        ``"steps"``: the recursion, O(m n) for each step up to the last. ``"spectral"``: a Lanczos process,
        O(m n) for each of a few hundred vectors whatever the horizon. ``"auto"`` takes the second for long
        horizons; the two agree to ten digits and more.

    Returns
    -------
    ndarray
        ``(num_steps + 1,)`` or ``(len(at),)``.

    Examples
    --------
    >>> from sottovoce import NoiseInsertion
    >>> from sottovoce.graphs import path
    >>> expected_error(path(3), [1.0, 1.0, 1.0], NoiseInsertion(noise_std=1.0, noise_decay=0.7), 4).round(4).tolist()
    [0.0, 0.5, 0.4962, 0.4318, 0.3529]
    """
    chances = Chances(graph, edge_probabilities)
    values = centred(graph, private_values)
    check_size(graph)
    start = values @ values.T
    return moments_trace(start, values.shape[1], method, chances, as_steps(num_steps, at), algorithm)


def moments_trace(
    start: Array, columns: int, method: Method, chances: Chances, steps: npt.NDArray[np.int64], algorithm: Algorithm
) -> Array:
    """½ tr Y_k at the given k from Y_0 = start; ``columns`` coordinates carry independent noise each."""
    if algorithm not in ("auto", "steps", "spectral"):
        raise InvalidParameter(f"algorithm must be auto, steps or spectral, got {algorithm!r}")
    noise = Noise.of(method, chances)
    last = int(steps.max(initial=0))
    if algorithm == "spectral" or (algorithm == "auto" and last > _SPECTRAL_FROM):
        from .spectral import spectral_error

        return spectral_error(start, noise, columns, chances, steps)
    every = np.empty(last + 1)
    for k, moments in zip(
        range(last + 1), second_moments(start, noise, columns, SecondMomentMap(chances)), strict=False
    ):
        every[k] = 0.5 * float(np.trace(moments))
    return every[steps]


def expected_error_split(
    graph: Graph,
    private_values: npt.ArrayLike,
    method: Method,
    num_steps: int | None = None,
    *,
    at: npt.ArrayLike | None = None,
    edge_probabilities: npt.ArrayLike | None = None,
    algorithm: Algorithm = "auto",
) -> ExpectedError:
    """:func:`expected_error` together with its parts: disagreement among nodes, and error of their mean.

    Examples
    --------
    Two nodes always agree after a step, so all the error is in their mean.

    >>> from sottovoce import NoiseInsertion
    >>> from sottovoce.graphs import complete
    >>> parts = expected_error_split(complete(2), [0.0, 0.0], NoiseInsertion(noise_std=1.0, noise_decay=0.5), 2)
    >>> parts.mean_error.tolist(), parts.disagreement.tolist()
    ([0.0, 0.5, 0.125], [0.0, 0.0, 0.0])
    """
    total = expected_error(
        graph, private_values, method, num_steps, at=at, edge_probabilities=edge_probabilities, algorithm=algorithm
    )
    steps = as_steps(num_steps, at)
    columns = centred(graph, private_values).shape[1]
    mean_error = np.empty(len(steps))
    block = max(1, 500_000 // graph.num_nodes)
    for begin in range(0, len(steps), block):
        part = steps[begin : begin + block]
        variance = outstanding_variance(graph, method, part, edge_probabilities=edge_probabilities)
        mean_error[begin : begin + block] = columns * variance.sum(axis=1) / (2.0 * graph.num_nodes)
    return ExpectedError(steps, total, np.maximum(total - mean_error, 0.0), mean_error)
