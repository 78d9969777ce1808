"""How likely each edge of a graph is to fire at a step, and what follows from that alone.

The paper lets every edge fire equally often. No proof needs that: with p_e the chance of edge e,
p_i = Σ_{e∋i} p_e takes the place of d_i/m and L_p = Σ p_e b_e b_eᵀ the place of L/m.
Rates are kept as *gaps*, 1 − ρ, because on a long cycle ρ rounds to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import InvalidGraph, InvalidParameter
from ..foundation.arguments import Array, checked, unnamed
from .graph import Graph, check_graph
from .spectrum import algebraic_connectivity
from .spectrum.ritz import assembled
from .validation import check_connected

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["Chances", "both_ends", "checked_probabilities", "connecting_probabilities", "node_clocks"]


@dataclass(frozen=True, eq=False)
class Chances:
    """The chance of every edge and of every node, the mean Laplacian and its contraction.

    Parameters
    ----------
    graph
        The graph.
    edge_probabilities
        ``(m,)`` numbers ≥ 0 that add up to one, in the order of ``graph.edges``; ``None`` for equal ones.
    connectivity
        α_p = λ₂(L_p) if it is known already (α/m for equal probabilities); otherwise it is computed when needed.

    Examples
    --------
    >>> from sottovoce.graphs import path
    >>> chances = Chances(path(3), [0.25, 0.75])
    >>> chances.nodes.tolist()
    [0.25, 1.0, 0.75]
    >>> round(Chances(path(3)).contraction_gap, 12)
    0.25
    """

    graph: Graph
    edge_probabilities: npt.ArrayLike | None = None
    connectivity: float | None = None

    def __post_init__(self) -> None:
        check_graph(self.graph)
        if self.edge_probabilities is not None:
            chances = checked_probabilities(self.edge_probabilities, self.graph.num_edges)
            object.__setattr__(self, "edge_probabilities", chances / float(chances.sum()))

    @classmethod
    def connecting(
        cls, graph: Graph, edge_probabilities: npt.ArrayLike | None = None, connectivity: float | None = None
    ) -> Chances:
        """The same, for statements on an average that all nodes reach: edges that can fire must connect the graph.

        Raises
        ------
        InvalidParameter
            If they do not.
        """
        if edge_probabilities is not None:
            edge_probabilities = connecting_probabilities(edge_probabilities, graph)
        return cls(graph, edge_probabilities, connectivity)

    @cached_property
    def edges(self) -> Array:
        """``(m,)`` p_e."""
        if self.edge_probabilities is None:
            return np.full(self.graph.num_edges, 1.0 / self.graph.num_edges)
        return np.asarray(self.edge_probabilities)

    @cached_property
    def nodes(self) -> Array:
        """``(n,)`` p_i: the chance that node i is activated at a step."""
        if self.edge_probabilities is None:
            return np.asarray(self.graph.degrees / self.graph.num_edges)
        return np.minimum(both_ends(self.graph, self.edges), 1.0)

    @cached_property
    def laplacian(self) -> scipy.sparse.csr_array:
        """L_p = Σ p_e b_e b_eᵀ in CSR form."""
        return assembled(self.graph.edges, self.edges, self.nodes)

    @cached_property
    def alpha(self) -> float:
        """α_p, the second smallest eigenvalue of L_p."""
        if self.connectivity is not None:
            return float(self.connectivity)
        if self.edge_probabilities is None:
            return float(algebraic_connectivity(self.graph)) / self.graph.num_edges
        return _weighted_connectivity(self.graph, self.edges)

    @property
    def contraction_gap(self) -> float:
        """1 − ρ = α_p/2, at most one (reached on two nodes)."""
        return min(self.alpha / 2.0, 1.0)


def node_clocks(graph: Graph, rates: npt.ArrayLike, *, by_end: bool = False) -> Array:
    """The chance of every edge where each node has a clock of its own and calls a neighbour when it ticks.

    Node i's clock ticks at rate r_i, as a Poisson process; all its neighbours are equally likely. Then the next edge
    to fire is e = (i, j) with probability (r_i/d_i + r_j/d_j)/Σ r.

    Parameters
    ----------
    graph
        The graph.
    rates
        ``(n,)`` rates ≥ 0, not all zero, in any unit.
    by_end
        ``(m, 2)``: the chance that the edge fires because the first end called, and the second.

    Returns
    -------
    ndarray
        ``(m,)`` to be given as ``edge_probabilities``.

    Examples
    --------
    >>> from sottovoce.graphs import path
    >>> node_clocks(path(3), [1.0, 1.0, 2.0]).tolist()
    [0.375, 0.625]
    """
    check_graph(graph)
    found = np.asarray(checked("rates", rates, low=0.0))
    if found.shape != (graph.num_nodes,):
        raise InvalidParameter(f"rates must be one number per node ({graph.num_nodes}), got shape {found.shape}")
    found = np.where(graph.degrees > 0, found, 0.0)  # who has no neighbour calls nobody
    if not found.any():
        raise InvalidParameter("rates must be above 0 at some node that has a neighbour, got none")
    calls = found / found.sum() / np.maximum(graph.degrees, 1)
    ends: Array = calls[graph.edges]
    return ends if by_end else np.asarray(ends.sum(axis=1))


def both_ends(graph: Graph, per_edge: Array) -> Array:
    """``(n,)`` the sum of an edge quantity over the edges of each node."""
    ends, size = graph.edges, graph.num_nodes
    return np.asarray(
        np.bincount(ends[:, 0], per_edge, size) + np.bincount(ends[:, 1], per_edge, size), dtype=np.float64
    )


def checked_probabilities(edge_probabilities: npt.ArrayLike, num_edges: int) -> Array:
    """A copy of the probabilities, one per edge, that may be given in single precision.

    Raises
    ------
    InvalidParameter
        If there is not one per edge, one is negative or not finite, or they do not sum to one: to nine digits, or to
        those that numbers of fewer digits have. Such are divided by their sum.
    """
    given = np.asarray(unnamed("edge_probabilities", edge_probabilities, of="edges"))
    few_digits = given.dtype.kind == "f" and given.dtype.itemsize < 8
    chances = np.array(given, dtype=np.float64)
    if chances.shape != (num_edges,):
        raise InvalidParameter(
            f"edge_probabilities must have one entry per edge ({num_edges}), got shape {chances.shape}"
        )
    if not np.all(chances >= 0):  # also refuses NaN
        raise InvalidParameter(f"edge_probabilities must be ≥ 0, got {chances.min():g}")
    total = float(chances.sum())
    if not abs(total - 1.0) <= (100.0 * float(np.finfo(given.dtype).eps) if few_digits else 1e-9):
        raise InvalidParameter(f"edge_probabilities must sum to 1, got {total:g}")
    return chances / total if few_digits else chances


def connecting_probabilities(edge_probabilities: npt.ArrayLike, graph: Graph) -> Array:
    """:func:`checked_probabilities`, where edges that can fire connect the graph.

    Raises
    ------
    InvalidParameter
        Also if they leave it in pieces, which never agree.
    """
    chances = checked_probabilities(edge_probabilities, graph.num_edges)
    if not chances.all():
        try:
            what = "the graph of edges that can fire"
            check_connected(graph.edges[chances > 0], graph.num_nodes, what, graph.labels)
        except InvalidGraph as error:
            raise InvalidParameter(f"edge_probabilities leave no way to a common average: {error}") from None
    return chances


def _weighted_connectivity(graph: Graph, chances: Array) -> float:
    """λ₂ of the weighted Laplacian; zero where the edges that do fire leave the graph in pieces."""
    fires = chances > 0
    if not fires.all():
        try:
            graph = Graph.from_edges(graph.edges[fires], num_nodes=graph.num_nodes)
        except InvalidGraph:
            return 0.0
    return float(algebraic_connectivity(graph, weights=chances[fires]))
