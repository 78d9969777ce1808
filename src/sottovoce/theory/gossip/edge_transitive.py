"""Edge-transitive graphs: the exact expectation and the exact rate at any size, from the Laplacian's spectrum.

If every edge looks like every other and all are equally likely, functions of L_p = L/m are closed under the
second-moment map (:mod:`.exact`): b_eᵀ h(L_p) b_e is the same number τ = tr(L_p h(L_p)) for every edge, so

    h ↦ (1 − λ) h(λ) + ¼ λ τ,        τ = Σ_j λ_j h(λ_j)        over the non-zero eigenvalues, with multiplicity.

From h_0 = 1 this gives, with ε_j the energy of the centred private values in the j-th eigenspace,

    E G_k = ½ Σ_j ε_j h_k(λ_j) + ⅛ Σ_i σ_i² p_i Σ_{t<k} r_i^t τ_{k−1−t}.

The map is diagonal plus a matrix of rank one. Its largest eigenvalue 1 − g, the rate of gossip in mean square, is
the smallest root of 1 = ¼ Σ_j λ_j²/(λ_j − g). Few steps are done one by one; many at once, by a contour integral around
the poles of the generating function, which costs the same for every k.

The families with spectra in closed form are here: cycles, square tori, hypercubes, complete and complete
bipartite graphs, stars. Other graphs are in :mod:`.spectral`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...foundation.arguments import Array
from ...graphs.chances import Chances
from ...graphs.graph import Graph
from ...methods import Method
from .many import merged
from .setting import Noise, as_steps, centred

__all__ = ["EdgeTransitive", "edge_transitive", "symmetric_error", "symmetric_rate"]

_DIRECT = 64
"""Steps that are done one by one; the contour of a longer jump stays inside the strip where it is valid."""

_NODES = 28
_RATIO = 2.0
"""Points on half a contour, and the ratio of the largest to the smallest k that share one: ten digits and more."""

_UNDERFLOW = 700.0


@dataclass(frozen=True, eq=False)
class EdgeTransitive:
    """The non-zero spectrum of L_p = L/m, and where the private values lie in it."""

    eigenvalues: Array
    """``(D,)`` in rising order; the same number may occur more than once."""
    multiplicities: Array
    """``(D,)``."""
    energies: Array
    """``(D,)`` squared length of the centred values in the eigenspace, summed over columns."""

    def sealed(self, strength: float) -> EdgeTransitive:
        """With the energy of seals: s² m L_p has s² m λ in each eigenspace, times its multiplicity."""
        return replace(self, energies=self.energies + strength * self.eigenvalues * self.multiplicities)

    @property
    def gap(self) -> float:
        """g, by which gossip shrinks the error in the end: the smallest root of 1 = ¼ Σ λ²/(λ − g).

        The unknown is the distance δ = α_p − g, which on long cycles is far smaller than the rounding of g.
        """
        import scipy.optimize

        first, weights = float(self.eigenvalues[0]), 0.25 * self.multiplicities * self.eigenvalues**2

        def excess(log_distance: float) -> float:
            return float(weights @ (1.0 / (self.eigenvalues - first + math.exp(log_distance)))) - 1.0

        low, high = math.log(0.99 * weights[0]), math.log(first)
        return first - math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-14))


def edge_transitive(
    graph: Graph, private_values: npt.ArrayLike | Mapping[Any, Any] | None = None
) -> EdgeTransitive | None:
    """The spectrum of a graph that is known to be edge-transitive, else ``None``; equal values if none are given.

    Examples
    --------
    >>> from sottovoce.graphs import cycle, path, star
    >>> found = edge_transitive(star(4), [3.0, 0.0, 0.0, 1.0])
    >>> (3 * found.eigenvalues).round(9).tolist(), found.multiplicities.tolist()
    ([1.0, 4.0], [2.0, 1.0])
    >>> edge_transitive(path(4)) is None
    True
    """
    values = centred(graph, np.zeros(graph.num_nodes) if private_values is None else private_values)
    name, sizes = (graph.family.name, graph.family.sizes) if graph.family else ("", ())
    if name == "cycle" or (name == "torus" and sizes[0] == sizes[1]):
        parts = _wrapped(values, (sizes[0],) * len(sizes))
    elif name == "hypercube":
        parts = _hypercube(values, sizes[0])
    else:
        found = _complete(graph, values) or _bipartite(graph, values)
        if found is None:
            return None
        parts = found
    eigenvalues, multiplicities, energies = (np.asarray(part, dtype=np.float64) for part in parts)
    order = np.argsort(eigenvalues)
    return EdgeTransitive(eigenvalues[order] / graph.num_edges, multiplicities[order], energies[order])


def symmetric_rate(graph: Graph) -> float:
    """The factor by which E G of standard gossip shrinks in the end, exactly, on an edge-transitive graph of any size.

    Raises
    ------
    Unsupported
        For graphs whose spectrum is not known in closed form.

    Examples
    --------
    >>> from sottovoce.graphs import complete, cycle
    >>> round(symmetric_rate(cycle(10)), 6), round(symmetric_rate(complete(4)), 12)
    (0.963451, 0.666666666667)
    """
    return 1.0 - _known(graph, None).gap


def symmetric_error(
    graph: Graph,
    private_values: npt.ArrayLike | Mapping[Any, Any],
    method: Method,
    num_steps: int | None = None,
    *,
    at: npt.ArrayLike | None = None,
) -> Array:
    """:func:`~sottovoce.theory.expected_error` on an edge-transitive graph with equally likely edges, of any size.

    Examples
    --------
    >>> from sottovoce import NoiseInsertion
    >>> from sottovoce.graphs import cycle
    >>> symmetric_error(cycle(5), [1.0] * 5, NoiseInsertion(noise_std=1.0, noise_decay=0.7), 4).round(4).tolist()
    [0.0, 0.5, 0.748, 0.8504, 0.8684]
    """
    spectrum, steps, chances = _known(graph, private_values), as_steps(num_steps, at), Chances(graph)
    noise, columns = Noise.of(method, chances), centred(graph, private_values).shape[1]
    if noise.seal_std > 0.0:
        spectrum = spectrum.sealed(columns * noise.seal_std**2 * graph.num_edges)
    noisy = noise.std > 0
    weights = 0.125 * columns * (noise.variance * chances.nodes)[noisy]
    (gaps,), weights = merged((noise.gap[noisy],), weights) if noisy.any() else ((np.empty(0),), np.empty(0))
    result = np.empty(len(steps))
    near = steps <= _DIRECT
    result[near] = _stepped(spectrum, gaps, weights, int(steps[near].max(initial=0)))[steps[near]]
    for group in _octaves(steps, np.flatnonzero(~near)):
        result[group] = _jumped(spectrum, gaps, weights, steps[group])
    return result


def _known(graph: Graph, private_values: npt.ArrayLike | Mapping[Any, Any] | None) -> EdgeTransitive:
    found = edge_transitive(graph, private_values)
    if found is None:
        raise Unsupported(
            "graph must be a cycle, a square torus, a hypercube, complete, complete bipartite or a star, "
            f"got {graph.name}"
        )
    return found


# -- spectra of the families --------------------------------------------------------------------------

Parts = tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]
"""Eigenvalues of L, their multiplicities, and the energies."""


def _wrapped(values: Array, shape: tuple[int, ...]) -> Parts:
    """Products of equal rings: 4 Σ sin²(π k_a/n) over the axes, by the real Fourier transform."""
    axes, size = tuple(range(len(shape))), shape[0]
    table = np.abs(np.fft.rfftn(values.reshape(*shape, -1), axes=axes[::-1])) ** 2
    last = size // 2 + 1  # the first axis is the halved one: rfftn halves the last of `axes`
    angles = [np.arange(last if axis == 0 else size) for axis in axes]
    eigenvalues = sum(4.0 * np.sin(np.pi * grid / size) ** 2 for grid in np.meshgrid(*angles, indexing="ij"))
    twice = np.where((angles[0] == 0) | (2 * angles[0] == size), 1.0, 2.0).reshape(-1, *(1,) * (len(shape) - 1))
    multiplicities = np.broadcast_to(twice, np.shape(eigenvalues))
    energies = multiplicities * table.sum(axis=-1) / float(size) ** len(shape)
    return tuple(np.ravel(part)[1:] for part in (eigenvalues, multiplicities, energies))  # type: ignore[return-value]


def _hypercube(values: Array, dimension: int) -> Parts:
    """2k with multiplicity C(d, k), by the Walsh–Hadamard transform."""
    table, weight = values, np.zeros(1, dtype=np.int64)  # weight: how many bits of the number are set
    for _ in range(dimension):  # each pass combines the lowest bit and puts it highest: after d passes, in order again
        pairs = table.reshape(-1, 2, values.shape[1])
        table = np.concatenate([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]])
        weight = np.concatenate([weight, weight + 1])
    energies = np.bincount(weight, (table**2).sum(axis=1), dimension + 1) / 2.0**dimension
    places = np.arange(1, dimension + 1)
    return 2.0 * places, [float(math.comb(dimension, int(k))) for k in places], energies[1:]


def _complete(graph: Graph, values: Array) -> Parts | None:
    """n with multiplicity n − 1."""
    n = graph.num_nodes
    return ([float(n)], [n - 1.0], [np.sum(values**2)]) if 2 * graph.num_edges == n * (n - 1) else None


def _bipartite(graph: Graph, values: Array) -> Parts | None:
    """a (b − 1 times), b (a − 1 times) and a + b, if all a · b pairs across two sides are edges, and no others."""
    side = np.zeros(graph.num_nodes, dtype=bool)
    side[graph.neighbours_of(0)] = True
    a, b = int(np.sum(~side)), int(np.sum(side))
    if graph.num_edges != a * b or np.any(side[graph.edges[:, 0]] == side[graph.edges[:, 1]]):
        return None
    inside = [np.sum((values[part] - values[part].mean(axis=0)) ** 2) for part in (~side, side)]
    across = np.sum((values[~side].mean(axis=0) - values[side].mean(axis=0)) ** 2) * a * b / (a + b)
    parts = [(b, a - 1, inside[0]), (a, b - 1, inside[1]), (a + b, 1, across)]
    return tuple(zip(*(part for part in parts if part[1]), strict=True))  # type: ignore[return-value]


# -- the expectation ----------------------------------------------------------------------------------


def _stepped(spectrum: EdgeTransitive, gaps: Array, weights: Array, last: int) -> Array:
    """E G_k for k = 0..last, one step after the other."""
    eigenvalues = spectrum.eigenvalues
    loads, shape, sums = spectrum.multiplicities * eigenvalues, np.ones(len(eigenvalues)), np.zeros(len(gaps))
    result = np.empty(last + 1)
    for k in range(last + 1):
        result[k] = 0.5 * float(spectrum.energies @ shape) + float(weights @ sums)
        tau = float(loads @ shape)
        sums = tau + (1.0 - gaps) * sums
        shape = (1.0 - eigenvalues) * shape + 0.25 * tau * eigenvalues
    return result


def _octaves(steps: npt.NDArray[np.int64], places: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    """Places whose steps differ by less than the ratio that one contour serves."""
    if not len(places):
        return []
    label = np.floor(np.log(steps[places]) / np.log(_RATIO))
    return [places[label == value] for value in np.unique(label)]


def _jumped(spectrum: EdgeTransitive, gaps: Array, weights: Array, steps: npt.NDArray[np.int64]) -> Array:
    """E G_k = (1/2πi) ∮ w^k F(w) dw for k within a factor of two, F(w) = Σ_k E G_k w^{−k−1}.

    With Θ(w) = Σ τ_k w^{−k−1} = A/(1 − ¼B), A = Σ λ/(w − 1 + λ), B = Σ λ²/(w − 1 + λ), the two recursions become
    F = ½ Σ ε (1 + ¼λΘ)/(w − 1 + λ) + Σ_g weight_g Θ/(w − 1 + gap_g). All poles are real and at most 1 − g₀, where g₀ is
    the smallest of the rate's gap and the noise's. The contour w = (1 − g₀) exp(z) has z on the parabola of Weideman
    and Trefethen (2007) around the negative axis.
    """
    lead = min(spectrum.gap, float(gaps.min(initial=1.0)), 1.0 - 1e-12)
    count = steps + 1.0
    stretch = np.pi * _NODES / (12.0 * float(count.max()))
    angle = (np.arange(_NODES) + 0.5) * (3.0 / _NODES)
    points, slopes = stretch * (1.0 + 1j * angle) ** 2, 2j * stretch * (1.0 + 1j * angle)
    table = np.stack([
        spectrum.multiplicities * spectrum.eigenvalues,
        spectrum.multiplicities * spectrum.eigenvalues**2,
        spectrum.energies,
        spectrum.energies * spectrum.eigenvalues,
    ])  # fmt: skip
    transform = np.empty(_NODES, dtype=np.complex128)
    for place, point in enumerate(points):
        shift = (1.0 - lead) * np.expm1(point)
        first, second, start, bent = table @ (1.0 / (spectrum.eigenvalues - lead + shift))
        tau = first / (1.0 - 0.25 * second)
        transform[place] = 0.5 * (start + 0.25 * tau * bent) + tau * (weights @ (1.0 / (gaps - lead + shift)))
    decay = count * np.log1p(-lead)
    kernel = np.exp(count[:, None] * points + decay[:, None]) * (slopes * transform)
    # The other half of the contour is the mirror image: twice the real part of (1/2πi) Σ h f.
    return np.where(-decay > _UNDERFLOW, 0.0, np.imag(kernel.sum(axis=1)) * (3.0 / _NODES) / np.pi)
