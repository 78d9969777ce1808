"""The exact expectation at any k without doing every step, and the rate it ends up with.

The second-moment map T is self-adjoint, and all we want of Y_k is its trace, that is its inner product with the
projection Π = I − 11ᵀ/n. Hence

    2 E G_k = ⟨T^k Π, Y_0⟩ + ¼ Σ_i σ_i² ⟨Σ_{t<k} r_i^t T^{k−1−t} Π, K_i⟩,        K_i = Σ_{e∋i} p_e b_e b_eᵀ,

and one Lanczos process started from Π serves every k, all values and all noise at once: it replaces I − T by a small
tridiagonal matrix, whose eigenvalues 1 − θ_l turn the powers into θ_l^k and the sums into those of
:mod:`.sums`. With J vectors it is exact for k < J, and J need grow no faster than √k:
a few hundred vectors reach every k.

The largest eigenvalue of T is the rate of standard gossip in mean square. Its eigenvector can be taken
positive semidefinite (T maps that cone into itself), so Π is never orthogonal to it and Lanczos finds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...errors import NumericalFailure
from ...foundation.arguments import Array
from ...graphs.chances import Chances, both_ends
from ...graphs.graph import Graph
from ...graphs.spectrum.lanczos import eigenpairs
from ...methods import Method
from .bounds import slowest_nodes
from .edge_transitive import edge_transitive
from .exact import SecondMomentMap, centred_both, check_size
from .setting import Noise
from .sums import geometric_sum, power

__all__ = ["AsymptoticRate", "asymptotic_rate", "second_moment_rate", "spectral_error"]

_TOLERANCE = 1e-11
_MOST_VECTORS = 4_000
_BLOCK = 256
_DENSE = 500
"""Beyond this many nodes edge-transitive graphs are treated as such."""


@dataclass(frozen=True, eq=False)
class AsymptoticRate:
    """The factor per step by which E G_k shrinks in the end, and what decides it.

    Attributes
    ----------
    rate
        The larger of the next two.
    regime
        ``"gossip"`` if averaging is the bottleneck, ``"noise"`` if the withdrawal of noise is.
    gossip_rate
        The largest eigenvalue of the second-moment map; at most the contraction factor ρ.
    noise_rate
        max r_i over the noisy nodes; zero if there are none.
    slowest_nodes
        The nodes at which that maximum is reached.
    """

    rate: float
    regime: Literal["gossip", "noise"]
    gossip_rate: float
    noise_rate: float
    slowest_nodes: npt.NDArray[np.int64]


def asymptotic_rate(graph: Graph, method: Method, *, edge_probabilities: npt.ArrayLike | None = None) -> AsymptoticRate:
    """The exact rate of E G_k as k → ∞ and its regime.

    Where the paper compares r_i with the bound ρ, this compares it with what gossip really does, so the
    noise takes over at a smaller φ than the paper's threshold.

    Examples
    --------
    >>> from sottovoce import NoiseInsertion
    >>> from sottovoce.graphs import cycle
    >>> fast = asymptotic_rate(cycle(10), NoiseInsertion(noise_std=1.0, noise_decay=0.9))
    >>> fast.regime, round(fast.rate, 6)
    ('gossip', 0.963451)
    """
    chances = Chances.connecting(graph, edge_probabilities)
    noise = Noise.of(method, chances)
    gossip = 1.0 - _gossip_gap(chances)
    slowest = slowest_nodes(graph, method, edge_probabilities=edge_probabilities)
    noisy = float(1.0 - noise.gap[slowest].min()) if len(slowest) else 0.0
    return AsymptoticRate(max(gossip, noisy), "noise" if noisy > gossip else "gossip", gossip, noisy, slowest)


def second_moment_rate(graph: Graph, *, edge_probabilities: npt.ArrayLike | None = None) -> float:
    """The largest eigenvalue of the second-moment map: the true rate of standard gossip, at most ρ.

    Examples
    --------
    >>> from sottovoce.graphs import complete
    >>> round(second_moment_rate(complete(4)), 12)
    0.666666666667
    """
    return 1.0 - _gossip_gap(Chances.connecting(graph, edge_probabilities))


def spectral_error(start: Array, noise: Noise, columns: int, chances: Chances, steps: npt.NDArray[np.int64]) -> Array:
    """½ tr Y_k at the given k by Lanczos; the vectors grow until the answers stop changing."""
    last = int(steps.max(initial=0))
    model = settled_model(Lanczos(SecondMomentMap(chances), start), noise, columns, last)
    every = len(steps) == last + 1 and bool((np.diff(steps) == 1).all())
    return model.first(last) if every else model.at(steps)


def settled_model(process: Lanczos, noise: Noise, columns: int, last: int) -> Model:
    """Extend the process until the error it predicts at fifteen steps up to ``last`` has stopped changing.

    Raises
    ------
    NumericalFailure
        If it has not after some thousand vectors.
    """
    probes = np.unique(np.concatenate([[last], np.geomspace(1, max(last, 1), 15).astype(np.int64)]))
    groups = _groups(noise, columns)
    goal, settled, previous = 24, 0, None
    while True:
        process.extend(goal)
        model = process.model(*groups)
        if process.finished or process.num_vectors > last:
            return model
        answer = model.at(probes)
        if previous is not None:
            change = np.max(np.abs(answer - previous) / np.maximum(np.abs(answer), 1e-290))
            settled = settled + 1 if change < _attainable(model.theta_gap, last) else 0
        if settled >= 2:
            return model
        if process.num_vectors >= _MOST_VECTORS:
            raise NumericalFailure(f"Lanczos did not settle in {_MOST_VECTORS} vectors; use algorithm='steps'")
        previous, goal = answer, int(goal * 1.25) + 8


def _attainable(gaps: Array, last: int) -> float:
    """Relative accuracy that rounding allows: an error of the smallest gap counts once for every step."""
    smallest, largest = float(gaps.min()), float(gaps.max())
    if smallest <= 0.0:
        return _TOLERANCE
    rounding = 4.0 * np.finfo(float).eps * (largest / smallest) * (1.0 + min(last * smallest, 700.0))
    return max(_TOLERANCE, float(rounding))


class Lanczos:
    """The process started from Π, with the inner products that the error needs; three matrices in memory."""

    def __init__(self, mapping: SecondMomentMap, start: Array | None) -> None:
        size = mapping.size
        self.mapping, self.start = mapping, start
        self.current = (np.eye(size) - 1.0 / size) / np.sqrt(size - 1.0)
        self.before = np.zeros_like(self.current)
        self.diagonal: list[float] = []
        self.beside: list[float] = []
        self.with_start: list[float] = []
        self.with_nodes: list[Array] = []
        self.finished = False

    @property
    def num_vectors(self) -> int:
        """J."""
        return len(self.diagonal)

    def extend(self, num_vectors: int) -> None:
        """Grow to ``num_vectors``, or until the space is exhausted (symmetric graphs need very few)."""
        while self.num_vectors < num_vectors and not self.finished:
            self._record()
            following = self.mapping.loss(self.current)
            coefficient = _inner(following, self.current)
            following -= coefficient * self.current
            if self.beside:
                following -= self.beside[-1] * self.before
            following -= _inner(following, self.current) * self.current
            # Last, so that nothing grows along the constant vector: there I − T has an eigenvalue 0 to be amplified.
            centred_both(following)
            length = np.sqrt(_inner(following, following))
            self.diagonal.append(coefficient)
            self.beside.append(length)
            if length < 1e-12:
                self.finished = True
                return
            following /= length
            self.before, self.current = self.current, following

    def _record(self) -> None:
        if self.start is not None:
            self.with_start.append(_inner(self.current, self.start))
        energy = self.mapping.edge_chances * self.mapping.edge_energy(self.current)
        self.with_nodes.append(both_ends(self.mapping.graph, energy))

    def ritz(self) -> tuple[Array, Array]:
        """Eigenvalues 1 − θ of the tridiagonal matrix in rising order, and its eigenvectors."""
        if self.num_vectors == 1:
            return np.array(self.diagonal), np.ones((1, 1))
        return eigenpairs(self.diagonal, self.beside[: self.num_vectors - 1])

    def model(self, noise_gap: Array, members: Array) -> Model:
        """E G_k as a combination of powers and geometric sums.

        ``noise_gap`` is ``(groups,)``; ``members`` is ``(n, groups)``, an eighth of the σ² that a node has in a group.
        """
        theta_gap, vectors = self.ritz()
        lead = np.sqrt(self.mapping.size - 1.0) * vectors[0]
        powers = 0.5 * lead * (vectors.T @ np.array(self.with_start))
        sums = lead[:, None] * (vectors.T @ (np.array(self.with_nodes) @ members))
        return Model(np.clip(theta_gap, 0.0, 1.0), powers, noise_gap, sums)


def _groups(noise: Noise, columns: int) -> tuple[Array, Array]:
    """Noisy nodes whose noise shrinks equally fast, for :meth:`Lanczos.model`."""
    noisy = np.flatnonzero(noise.std > 0)
    gaps, which = np.unique(noise.gap[noisy], return_inverse=True)
    members = np.zeros((len(noise.std), len(gaps)))
    members[noisy, which.reshape(-1)] = 0.125 * columns * noise.variance[noisy]
    return gaps, members


@dataclass(frozen=True, eq=False)
class Model:
    """E G_k = Σ_l powers_l θ_l^k + Σ_{l,g} sums_{lg} Σ_{t<k} θ_l^{k−1−t} r_g^t, with 1 − θ and 1 − r as gaps."""

    theta_gap: Array
    powers: Array
    noise_gap: Array
    sums: Array

    def parts(self, k: float) -> tuple[float, Array]:
        """What the start leaves at k, and what the noise of every group leaves."""
        quiet = float(power(self.theta_gap, k) @ self.powers)
        return quiet, np.sum(geometric_sum(k, self.theta_gap[:, None], self.noise_gap) * self.sums, axis=0)

    def at(self, steps: npt.NDArray[np.int64]) -> Array:
        """At chosen k, each on its own."""
        result = np.empty(len(steps))
        theta, noise = self.theta_gap[:, None], self.noise_gap
        for place, k in enumerate(steps):
            result[place] = power(self.theta_gap, k) @ self.powers
            if self.sums.size:
                result[place] += float(np.sum(geometric_sum(int(k), theta, noise) * self.sums))
        return result

    def first(self, last: int) -> Array:
        """At every k = 0..last, by blocks: responses inside a block are tabulated, modes carried on between them."""
        width = min(_BLOCK, last + 1)
        table = power(self.theta_gap, np.arange(width)[:, None])
        forced = np.zeros((width, len(self.noise_gap)))
        for s in range(1, width):
            forced[s] = np.sum(geometric_sum(s, self.theta_gap[:, None], self.noise_gap) * self.sums, axis=0)
        push = geometric_sum(width, self.theta_gap[:, None], self.noise_gap) * self.sums
        carry, modes = power(self.theta_gap, width), self.powers.copy()
        result = np.empty(last + 1)
        for begin in range(0, last + 1, width):
            strength = power(self.noise_gap, begin)
            count = min(width, last + 1 - begin)
            result[begin : begin + count] = (table @ modes + forced @ strength)[:count]
            modes = carry * modes + push @ strength
        return result


def _inner(first: Array, second: Array) -> float:
    return float(np.vdot(first, second))


def _gossip_gap(chances: Chances) -> float:
    """1 − the largest eigenvalue of T, relatively accurate."""
    if chances.edge_probabilities is None and chances.graph.num_nodes > _DENSE:
        known = edge_transitive(chances.graph)
        if known is not None:
            return known.gap
    check_size(chances.graph)
    process = Lanczos(SecondMomentMap(chances), None)
    goal = 16
    while True:
        process.extend(goal)
        gaps, vectors = process.ritz()
        residual = 0.0 if process.finished else process.beside[-1] * abs(vectors[-1, 0])
        if residual <= 1e-7 * max(gaps[0], 1e-14):  # the eigenvalue's own error is about the square of this
            return float(np.clip(gaps[0], 0.0, 1.0))
        if process.num_vectors >= _MOST_VECTORS:
            raise NumericalFailure(
                f"the leading eigenvalue did not settle in {_MOST_VECTORS} Lanczos vectors (residual {residual:.1e})"
            )
        goal = int(goal * 1.25) + 8
