"""What every statement of the theory starts from: which edges fire how often, how much noise, which values.

The paper lets every edge fire equally often. Nothing in the theory needs that: with p_e the chance
of edge e, p_i = Σ_{e∋i} p_e takes the place of d_i/m and L_p = Σ p_e b_e b_eᵀ the place of L/m.
Rates are kept as *gaps*, 1 − ρ and 1 − r_i, because on a long cycle ρ rounds to one.
Bounds are in :mod:`.bounds`, the exact expectation in :mod:`.exact`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...errors import InvalidGraph, InvalidParameter, InvalidValues, Unsupported
from ...foundation.arguments import per_node
from ...graphs.graph import Graph
from ...graphs.spectrum import algebraic_connectivity
from ...methods import Method, NoiseInsertion, StandardGossip

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["Chances", "Floats", "Noise", "as_steps", "both_ends", "centred", "initial_error"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Chances:
    """How likely each edge is to fire at a step, and what follows from it alone.

    Parameters
    ----------
    graph
        The graph.
    edge_probabilities
        ``(m,)`` numbers ≥ 0 that add up to one, in the order of ``graph.edges``; ``None`` for equal ones.
    connectivity
        α_p = λ₂(L_p) if it is known already (α/m for equal probabilities); otherwise it is computed when needed.
    """

    graph: Graph
    edge_probabilities: Floats | None = None
    connectivity: float | None = None

    def __post_init__(self) -> None:
        if self.edge_probabilities is not None:
            object.__setattr__(self, "edge_probabilities", _checked_probabilities(self.graph, self.edge_probabilities))

    @cached_property
    def edges(self) -> Floats:
        """``(m,)`` p_e."""
        if self.edge_probabilities is None:
            return np.full(self.graph.num_edges, 1.0 / self.graph.num_edges)
        return self.edge_probabilities

    @cached_property
    def nodes(self) -> Floats:
        """``(n,)`` p_i: the chance that node i is activated at a step."""
        if self.edge_probabilities is None:
            return np.asarray(self.graph.degrees / self.graph.num_edges)
        return np.minimum(both_ends(self.graph, self.edges), 1.0)

    @cached_property
    def laplacian(self) -> scipy.sparse.csr_array:
        """L_p = Σ p_e b_e b_eᵀ in CSR form."""
        import scipy.sparse

        ends, size = self.graph.edges, self.graph.num_nodes
        rows = np.concatenate([ends[:, 0], ends[:, 1], np.arange(size)])
        columns = np.concatenate([ends[:, 1], ends[:, 0], np.arange(size)])
        entries = np.concatenate([-self.edges, -self.edges, self.nodes])
        return scipy.sparse.csr_array((entries, (rows, columns)), shape=(size, size))

    @cached_property
    def alpha(self) -> float:
        """α_p, the second smallest eigenvalue of L_p."""
        if self.connectivity is not None:
            return float(self.connectivity)
        if self.edge_probabilities is None:
            return float(algebraic_connectivity(self.graph)) / self.graph.num_edges
        return _weighted_connectivity(self.graph, self.edge_probabilities)

    @property
    def contraction_gap(self) -> float:
        """1 − ρ = α_p/2, at most one (reached on two nodes)."""
        return min(self.alpha / 2.0, 1.0)


@dataclass(frozen=True, eq=False)
class Noise:
    """σ and φ of every node and the gap 1 − r_i = p_i (1 − φ_i²) of its squared amplitude."""

    std: Floats
    decay: Floats
    gap: Floats

    @classmethod
    def of(cls, method: Method, chances: Chances) -> Noise:
        """Read a method; standard gossip is noise insertion with σ = 0.

        Raises
        ------
        Unsupported
            For methods whose second moments do not follow this theory.
        """
        size = chances.graph.num_nodes
        if isinstance(method, StandardGossip):
            std, decay = np.zeros(size), np.zeros(size)
        elif isinstance(method, NoiseInsertion):
            std = per_node("noise_std", method.noise_std, size)
            decay = per_node("noise_decay", method.noise_decay, size)
        else:
            name = getattr(method, "name", type(method).__name__)
            raise Unsupported(f"method must be StandardGossip or NoiseInsertion for this theory, got {name}")
        return cls(std, decay, chances.nodes * ((1.0 - decay) * (1.0 + decay)))

    @property
    def variance(self) -> Floats:
        """``(n,)`` σ_i²."""
        return self.std**2


def centred(graph: Graph, private_values: npt.ArrayLike) -> Floats:
    """``(n, d)`` private values minus their mean; one number per node counts as d = 1.

    Raises
    ------
    InvalidValues
        If the shape does not fit the graph or an entry is not finite. The message contains no value.
    """
    try:
        values = np.asarray(private_values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValues("private_values must be numbers") from None
    if values.ndim not in (1, 2) or values.shape[0] != graph.num_nodes:
        raise InvalidValues(f"private_values must have one row per node ({graph.num_nodes}), got shape {values.shape}")
    if not np.isfinite(values).all():
        raise InvalidValues("private_values must be finite")
    values = values.reshape(graph.num_nodes, -1)
    result: Floats = values - values.mean(axis=0)
    return result


def both_ends(graph: Graph, per_edge: Floats) -> Floats:
    """``(n,)`` the sum of an edge quantity over the edges of each node."""
    ends, size = graph.edges, graph.num_nodes
    return np.asarray(
        np.bincount(ends[:, 0], per_edge, size) + np.bincount(ends[:, 1], per_edge, size), dtype=np.float64
    )


def initial_error(graph: Graph, private_values: npt.ArrayLike) -> float:
    """G_0 = ½‖c − c̄‖²."""
    return 0.5 * float(np.sum(centred(graph, private_values) ** 2))


def as_steps(num_steps: int | None, at: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
    """The values of k to evaluate: 0..num_steps, or ``at`` where given.

    Raises
    ------
    InvalidParameter
        If neither is given, or a number is negative or not whole.
    """
    if at is None:
        if num_steps is None or int(num_steps) != num_steps or num_steps < 0:
            raise InvalidParameter(f"num_steps must be a whole number ≥ 0, got {num_steps}")
        return np.arange(int(num_steps) + 1)
    asked = np.atleast_1d(np.asarray(at))
    steps = asked.astype(np.int64)
    if asked.ndim != 1 or (asked != steps).any() or (steps < 0).any():
        raise InvalidParameter("at must be a list of whole numbers ≥ 0")
    return steps


def _checked_probabilities(graph: Graph, given: npt.ArrayLike) -> Floats:
    chances = np.asarray(given, dtype=np.float64)
    if chances.shape != (graph.num_edges,):
        raise InvalidParameter(
            f"edge_probabilities must have one entry per edge ({graph.num_edges}), got shape {chances.shape}"
        )
    if not np.all(chances >= 0):  # also refuses NaN
        raise InvalidParameter(f"edge_probabilities must be ≥ 0, got {chances.min():g}")
    total = float(chances.sum())
    if not abs(total - 1.0) <= 1e-9:
        raise InvalidParameter(f"edge_probabilities must sum to 1, got {total:g}")
    result: Floats = chances / total
    return result


def _weighted_connectivity(graph: Graph, chances: Floats) -> float:
    """λ₂ of the weighted Laplacian; zero where the edges that do fire leave the graph in pieces."""
    fires = chances > 0
    if not fires.all():
        try:
            graph = Graph.from_edges(graph.edges[fires], num_nodes=graph.num_nodes)
        except InvalidGraph:
            return 0.0
    return float(algebraic_connectivity(graph, weights=chances[fires]))
