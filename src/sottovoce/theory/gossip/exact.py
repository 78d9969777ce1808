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

T is self-adjoint, so what is stepped forward is T^k Π, which serves the values and all noise but mixes them never:
2 E G_k = ⟨T^k Π, Y_0⟩ + ¼ Σ_i σ_i² Σ_{t<k} r_i^t ⟨T^{k−1−t} Π, K_i⟩ with K_i = Σ_{e∋i} p_e b_e b_eᵀ. One step costs
O(m n). For long horizons :mod:`.spectral` has the same numbers in a few hundred such operations altogether; on
edge-transitive graphs of any size :mod:`.edge_transitive` has them; noise that stays in place is in :mod:`.frozen`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, Unsupported
from ...foundation.arguments import Array
from ...graphs.chances import Chances, both_ends
from ...graphs.graph import Graph, check_graph
from ...graphs.spectrum import laplacian
from ...methods import Method
from .bounds import outstanding_variance
from .edge_transitive import edge_transitive, symmetric_error
from .frozen import frozen_mean_error, kept_injection, withdrawn_and_kept
from .setting import Noise, as_steps, centred

__all__ = ["ExpectedError", "SecondMomentMap", "expected_error", "expected_error_split"]

Algorithm = Literal["auto", "steps", "spectral", "symmetric"]

_LARGEST = 8_000
"""Beyond this many nodes one matrix of second moments takes half a gigabyte, and several are needed."""

_SPECTRAL_FROM = 400
"""Horizons from which the spectral way is the cheaper one on most graphs."""

_SYMMETRIC_FROM = 500
"""Nodes from which edge-transitive graphs are treated as such."""


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
            f"exact second moments need several {graph.num_nodes} × {graph.num_nodes} matrices, unless the graph is "
            "known to be edge-transitive (cycle, square torus, hypercube, star, complete or complete bipartite); "
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
    """Y_0, Y_1, Y_2, …, without end: for those who want more than the trace."""
    i, j = mapping.ends
    variance, factor = columns * noise.variance, 1.0 - noise.gap
    moments = centred_both(0.5 * (start + start.T))
    while True:
        yield moments
        moments = mapping.apply(moments, variance[i] + variance[j])
        variance = variance * factor


def expected_error(
    graph: Graph,
    private_values: npt.ArrayLike | Mapping[Any, Any],
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
        As for :func:`sottovoce.simulate`; the method is standard gossip, noise insertion, sealed gossip or budgeted
        noise insertion. Values may have several columns: their errors add up.
    num_steps
        The last k. May be left out if ``at`` is given.
    at
        Evaluate at these k only.
    edge_probabilities
        ``(m,)`` chance of each edge, or ``None`` for equal ones.
    algorithm
        ``"steps"``: the recursion, O(m n) for each step up to the last. ``"spectral"``: a Lanczos process,
        O(m n) for each of a few hundred vectors whatever the horizon. ``"symmetric"``: from the Laplacian's spectrum,
        for cycles, square tori, hypercubes, complete and complete bipartite graphs and stars with equally likely
        edges, of any size. ``"auto"`` chooses; they agree to ten digits and more.

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
    if algorithm not in get_args(Algorithm):
        raise InvalidParameter(f"algorithm must be one of {', '.join(get_args(Algorithm))}, got {algorithm!r}")
    chances = Chances.connecting(graph, edge_probabilities)
    values, steps = centred(graph, private_values), as_steps(num_steps, at)
    noise = Noise.of(method, chances, frozen=True)
    if noise.draws is None and _is_symmetric(chances, algorithm):
        return symmetric_error(graph, values, method, at=steps)
    check_size(graph)
    start = values @ values.T
    if noise.seal_std > 0.0:
        start += values.shape[1] * noise.seal_std**2 * laplacian(graph).toarray()
    if noise.draws is None:
        return moments_trace(start, values.shape[1], noise, chances, steps, algorithm)
    quiet = replace(noise, std=np.zeros_like(noise.std))
    return moments_trace(start, 1, quiet, chances, steps, algorithm) + frozen_error(
        noise, values.shape[1], chances, steps
    )


def _is_symmetric(chances: Chances, algorithm: Algorithm) -> bool:
    """Whether to go by the spectrum of an edge-transitive graph."""
    if algorithm != "symmetric" and (algorithm != "auto" or chances.graph.num_nodes < _SYMMETRIC_FROM):
        return False
    if chances.edge_probabilities is not None:
        if algorithm == "symmetric":
            raise Unsupported("edge_probabilities must be None for algorithm='symmetric': edges must be equally likely")
        return False
    return algorithm == "symmetric" or edge_transitive(chances.graph) is not None


def moments_trace(
    start: Array, columns: int, noise: Noise, chances: Chances, steps: npt.NDArray[np.int64], algorithm: Algorithm
) -> Array:
    """½ tr Y_k at the given k from Y_0 = start; ``columns`` coordinates carry independent noise each."""
    last = int(steps.max(initial=0))
    if algorithm == "spectral" or (algorithm == "auto" and last > _SPECTRAL_FROM):
        from .spectral import spectral_error

        return spectral_error(start, noise, columns, chances, steps)
    return _stepped(start, noise, columns, SecondMomentMap(chances), last)[steps]


def _stepped(start: Array, noise: Noise, columns: int, mapping: SecondMomentMap, last: int) -> Array:
    """E G_k for k = 0..last, by T^k Π; values and noise are added up apart, so that neither drowns the other."""
    nothing, weights = np.zeros(len(mapping.edge_chances)), 0.125 * columns * noise.variance
    shape = np.eye(mapping.size) - 1.0 / mapping.size
    sums, every = np.zeros(mapping.size), np.empty(last + 1)
    for k in range(last + 1):
        every[k] = 0.5 * float(np.vdot(shape, start)) + float(weights @ sums)
        energy = both_ends(mapping.graph, mapping.edge_chances * mapping.edge_energy(shape))
        sums = (1.0 - noise.gap) * sums + energy
        shape = mapping.apply(shape, nothing)
    return every


def frozen_error(noise: Noise, columns: int, chances: Chances, steps: npt.NDArray[np.int64]) -> Array:
    """What the noise alone leaves where the last draw of a node stays (:mod:`.frozen`), step by step."""
    mapping, last = SecondMomentMap(chances), int(steps.max(initial=0))
    i, j = mapping.ends
    moments, every = np.zeros((mapping.size, mapping.size)), np.zeros(last + 1)
    for t, (withdrawn, kept) in enumerate(withdrawn_and_kept(noise, chances, last)):
        moments = mapping.apply(moments, withdrawn[i] + withdrawn[j])
        if kept.any():
            moments = centred_both(moments + kept_injection(chances, kept, mapping.ends))
        every[t + 1] = 0.5 * float(np.trace(moments))
    return columns * every[steps] + frozen_mean_error(noise, columns, chances, steps)


def expected_error_split(
    graph: Graph,
    private_values: npt.ArrayLike | Mapping[Any, Any],
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
    check_graph(graph)
    total = expected_error(
        graph, private_values, method, num_steps, at=at, edge_probabilities=edge_probabilities, algorithm=algorithm
    )
    steps, chances = as_steps(num_steps, at), Chances.connecting(graph, edge_probabilities)
    columns = centred(graph, private_values).shape[1]
    noise = Noise.of(method, chances, frozen=True)
    if noise.draws is not None:
        raise Unsupported(f"method must withdraw all its noise to be split, got {method.name}; use expected_error")
    mean_error = np.empty(len(steps))
    block = max(1, 500_000 // graph.num_nodes)
    for begin in range(0, len(steps), block):
        part = steps[begin : begin + block]
        variance = outstanding_variance(graph, method, part, edge_probabilities=edge_probabilities)
        mean_error[begin : begin + block] = columns * variance.sum(axis=1) / (2.0 * graph.num_nodes)
    return ExpectedError(steps, total, np.maximum(total - mean_error, 0.0), mean_error)
