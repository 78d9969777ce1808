"""Accelerated gossip: Nesterov's acceleration of randomized Kaczmarz on the system x_i = x_j for all edges.

y = a v + (1 − a) x; g = ½(y_i − y_j)(e_i − e_j); x ← y − g; v ← b v + (1 − b) y − γ g, with b = 1 − √(μ/ν),
γ = 1/√(μν), a = 1/(1 + γν) (Liu and Wright 2016; Loizou and Richtárik 2018 for gossip). x, y and v move at every
node in every step; at a node that is not touched, v − x shrinks by κ = b(1 − a) and x gains a(v − x), so r idle
steps have a closed form and a node catches up when it is touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ..foundation.numbers import NEGLIGIBLE
from ..graphs.chances import Chances
from ..graphs.graph import Graph
from .base import VALUE, Array, Guarantee, Method, PairMethod
from .registry import register
from .released import InTheClear, Released

__all__ = ["AcceleratedGossip", "Acceleration", "acceleration", "effective_resistances", "spread_of"]

AHEAD, SETTLED = 1, 2
"""Columns: v − x, and the step at which the row is true."""

A, B, GAMMA = 0, 1, 2

DENSE_NODES = 2000
"""Up to here the spread is computed exactly, with dense matrices; beyond, a bound on it is used."""


def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
    """Both ends catch up to ``step``, then make it."""
    a, b, gamma = parameters[A], parameters[B], parameters[GAMMA]
    kappa = b * (1.0 - a)
    for end in range(2):
        own = i if end == 0 else j
        power = kappa ** (step - nodes[own, SETTLED])
        nodes[own, VALUE] += a * (1.0 - power) / (1.0 - kappa) * nodes[own, AHEAD]
        left = nodes[own, AHEAD] * power
        nodes[own, AHEAD] = left if abs(left) >= NEGLIGIBLE else 0.0
        nodes[own, SETTLED] = step + 1.0
    # y = x + a(v − x); v − x after the step is κ(v − x) + (1 − γ)g, since b v + (1 − b) y − y = κ(v − x).
    nodes[i, VALUE] += a * nodes[i, AHEAD]
    nodes[j, VALUE] += a * nodes[j, AHEAD]
    g = 0.5 * (nodes[i, VALUE] - nodes[j, VALUE])
    nodes[i, VALUE] -= g
    nodes[j, VALUE] += g
    nodes[i, AHEAD] = kappa * nodes[i, AHEAD] + (1.0 - gamma) * g
    nodes[j, AHEAD] = kappa * nodes[j, AHEAD] - (1.0 - gamma) * g


def settle(nodes: Array, step: int, parameters: Array) -> None:
    """Every node catches up to ``step``."""
    a = parameters[A]
    kappa = parameters[B] * (1.0 - a)
    for own in range(nodes.shape[0]):
        power = kappa ** (step - nodes[own, SETTLED])
        nodes[own, VALUE] += a * (1.0 - power) / (1.0 - kappa) * nodes[own, AHEAD]
        nodes[own, AHEAD] *= power
        nodes[own, SETTLED] = step


@register
@dataclass(frozen=True)
class AcceleratedGossip(PairMethod):
    """Accelerated randomized Kaczmarz as gossip; both constants come from the graph unless given.

    Parameters
    ----------
    smallest_rate
        μ > 0, any lower bound on α/(2m), the rate of plain gossip. ``None``: α/(2m) itself.
    spread
        ν ≥ 1, any upper bound on m·λ_max of the pencil (AᵀRA, AᵀA) with the effective resistances of the edges
        in R. ``None``: exact up to 2000 nodes, beyond that a bound from triangles.

    Notes
    -----
    E[‖v − x*‖²_{(EZ)⁺} + ‖x − x*‖²/μ] contracts by 1 − √(μ/ν) a step. ν = n − 1 on graphs whose edges are all
    alike. On complete graphs μν = 1: v stays equal to x, and the method *is* standard gossip.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> round(AcceleratedGossip().factor(cycle(10)), 5)
    0.95393
    """

    smallest_rate: float | None = None
    spread: float | None = None

    name: ClassVar[str] = "accelerated"
    num_fields: ClassVar[int] = 3
    lazy: ClassVar[bool] = True
    assumes_equal_edges: ClassVar[bool] = True
    own_rows_only: ClassVar[bool] = True
    update = staticmethod(update)
    settle = staticmethod(settle)

    def __post_init__(self) -> None:
        if self.smallest_rate is not None:
            self.check("smallest_rate", low=0.0, high=1.0, low_open=True, why="α/(2m) never exceeds 1")
        if self.spread is not None:
            self.check("spread", low=1.0, why="a spread below 1 is impossible")

    @classmethod
    def customary(cls, graph: Graph) -> tuple[Method, ...]:
        return (cls(),)

    def constants(self, graph: Graph) -> Acceleration:
        """(μ, ν) used on ``graph``."""
        mu = Chances(graph).contraction_gap if self.smallest_rate is None else self.smallest_rate
        return Acceleration(mu, spread_of(graph) if self.spread is None else self.spread)

    def factor(self, graph: Graph) -> float:
        """1 − √(μ/ν), the guaranteed contraction per step."""
        return self.constants(graph).factor

    def caveats(self, graph: Graph) -> tuple[str, ...]:
        if self.smallest_rate is None and self.spread is None:
            return ()
        found = []
        mu, nu = acceleration(graph)
        if self.smallest_rate is not None and self.smallest_rate > mu * (1.0 + 1e-9):
            found.append(f"smallest_rate {self.smallest_rate:g} is above α/(2m) = {mu:.4g}, where the proof stops")
        if self.spread is not None and self.spread < nu * (1.0 - 1e-9):
            found.append(f"spread {self.spread:g} is below {nu:.4g}, where the proof starts")
        return tuple(found)

    def parameters(self, graph: Graph) -> Array:
        mu, nu = self.constants(graph)
        gamma = 1.0 / np.sqrt(mu * nu)
        return np.array([1.0 / (1.0 + gamma * nu), 1.0 - np.sqrt(mu / nu), gamma])

    def releases(self, graph: Graph) -> Released:
        return InTheClear()

    def guarantee(self, graph: Graph) -> Guarantee:
        return Guarantee(None if self.caveats(graph) else self.factor(graph), 0.0)

    def needs(self) -> str:
        return "the number of steps made in the network, and bounds on the spectrum of the graph"

    def label(self) -> str:
        return "accelerated gossip"


class Acceleration(NamedTuple):
    """Parameters and factor of accelerated gossip.

    Attributes
    ----------
    mu
        λ₂ of E Z = ½ L_p: α/(2m) for equally likely edges.
    nu
        The largest generalized eigenvalue of (Σ p_e R_e b_e b_eᵀ, Σ p_e b_e b_eᵀ), R_e the effective resistance of e
        when edges conduct p_e. It is n − 1 on edge-transitive graphs and m on trees.
    factor
        1 − √(μ/ν), by which E[‖v − c̄‖²_{(EZ)⁺} + ‖x − c̄‖²/μ] shrinks per step.
    """

    mu: float
    nu: float

    @property
    def factor(self) -> float:
        """1 − √(μ/ν)."""
        return 1.0 - math.sqrt(self.mu / self.nu)


def acceleration(graph: Graph, *, edge_probabilities: npt.ArrayLike | None = None) -> Acceleration:
    """μ and ν of accelerated gossip.

    For equally likely edges ν is :func:`spread_of`, an upper bound beyond 2000 nodes; given probabilities take dense
    linear algebra (n up to a few thousand).

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> found = acceleration(cycle(10))
    >>> round(found.nu, 9), round(found.factor, 5)
    (9.0, 0.95393)
    """
    chances = Chances.connecting(graph, edge_probabilities)
    if edge_probabilities is None:
        return Acceleration(chances.contraction_gap, spread_of(graph))
    return Acceleration(chances.contraction_gap, _exact_spread(graph, graph.num_edges * chances.edges))


def effective_resistances(graph: Graph, conductances: Array | None = None) -> Array:
    """``(m,)`` resistance between the ends of each edge when edges conduct as given, by default one siemens each.

    Examples
    --------
    >>> from sottovoce.graphs import cycle
    >>> effective_resistances(cycle(4)).tolist()
    [0.75, 0.75, 0.75, 0.75]
    """
    loads = np.ones(graph.num_edges) if conductances is None else conductances
    inverse = np.linalg.inv(_dense_laplacian(graph, loads) + 1.0 / graph.num_nodes)
    i, j = graph.edges.T
    resistances: Array = (inverse[i, i] + inverse[j, j] - 2.0 * inverse[i, j]).round(14)
    return resistances


def _dense_laplacian(graph: Graph, loads: Array) -> Array:
    """Σ load_e b_e b_eᵀ."""
    incidence = np.zeros((graph.num_edges, graph.num_nodes))
    incidence[np.arange(graph.num_edges), graph.edges[:, 0]] = 1.0
    incidence[np.arange(graph.num_edges), graph.edges[:, 1]] = -1.0
    return np.asarray(incidence.T @ (loads[:, None] * incidence))


@lru_cache(maxsize=64)
def spread_of(graph: Graph) -> float:
    """ν: m times the largest generalized eigenvalue of (AᵀRA, AᵀA), or an upper bound on large graphs.

    On trees every resistance is 1, so ν = m; where all edges are alike Foster's theorem gives ν = n − 1.
    The bound for large graphs is m·max R_e with R_e ≤ 1/(1 + t_e/2): the edge itself in parallel with the
    t_e paths of length two beside it, everything else taken away.
    """
    n, m = graph.num_nodes, graph.num_edges
    if m == n - 1:
        return float(m)
    if graph.family is not None and graph.family.name in {"cycle", "complete", "hypercube"}:
        return float(n - 1)
    if n > DENSE_NODES:
        adjacency = graph.to_scipy().astype(np.float64)
        i, j = graph.edges.T
        triangles = np.asarray((adjacency[i] * adjacency[j]).sum(axis=1)).reshape(-1)
        return float(m / (1.0 + triangles.min() / 2.0))
    return _exact_spread(graph, np.ones(m))


def _exact_spread(graph: Graph, conductances: Array) -> float:
    """m times the largest generalized eigenvalue of (AᵀRCA, AᵀCA), C the conductances and R the resistances."""
    import scipy.linalg

    n = graph.num_nodes
    weighted = _dense_laplacian(graph, conductances * effective_resistances(graph, conductances))
    # The constant vector, a null direction of both matrices, is given eigenvalue 0.
    plain = _dense_laplacian(graph, conductances) + 1.0 / n
    top = scipy.linalg.eigh(weighted, plain, eigvals_only=True, subset_by_index=[n - 1, n - 1])[0]
    return float(graph.num_edges * top)
