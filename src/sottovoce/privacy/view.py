"""Views: who watches, and what they see. Descriptions only; what follows from a view is :mod:`.auditing`.

Every view is taken to know the graph, every node's σ and φ, and which edge fired at which step: the
worst case. A view answers two questions about a graph: which nodes belong to the observer, and on which
edges it learns both messages of an exchange.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, Unsupported
from ..graphs.graph import Graph
from ..graphs.naming import NodeNumber

__all__ = ["CuriousNodes", "EveryoneBut", "Pooled", "View", "WireTap", "honest_nodes"]

Mask = npt.NDArray[np.bool_]

KNOWS_EXCHANGES = "knows the graph, every node's noise_std and noise_decay, and which edge fired at every step"
FOLLOWED = "everyone follows the method; the observer listens and computes, it does not lie"


class View:
    """Base of all views. Subclasses are frozen descriptions."""

    def observers(self, graph: Graph) -> Mask:
        """``(n,)`` which nodes belong to the observer."""
        raise NotImplementedError

    def heard_edges(self, graph: Graph) -> Mask:
        """``(m,)`` on which edges the observer learns both messages of an exchange."""
        raise NotImplementedError

    def describe(self) -> str:
        """Who watches, in a few words."""
        raise NotImplementedError

    def assumptions(self, knows: str = KNOWS_EXCHANGES) -> tuple[str, ...]:
        """What the observer is taken to see and know, for every report."""
        return (self._sees(), knows, FOLLOWED)

    def _sees(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True, init=False)
class CuriousNodes(View):
    """Nodes of the network that follow the method and pool what they see.

    They know their own private values, draws and values, and receive the noisy value of the other end
    at each of their exchanges.

    Parameters
    ----------
    nodes
        The curious nodes, by number or name; at least one.

    Examples
    --------
    >>> import sottovoce as sv
    >>> view = CuriousNodes([0])
    >>> view.heard_edges(sv.graphs.path(3)).tolist()
    [True, False]
    """

    nodes: tuple[int | str, ...]

    def __init__(self, nodes: Iterable[int | str]) -> None:
        object.__setattr__(self, "nodes", _distinct("nodes", nodes))

    def observers(self, graph: Graph) -> Mask:
        return _node_mask(self.nodes, graph)

    def heard_edges(self, graph: Graph) -> Mask:
        own = self.observers(graph)[graph.edges]
        return own[:, 0] | own[:, 1]

    def describe(self) -> str:
        names = ", ".join(map(str, self.nodes))
        if any(isinstance(node, str) for node in self.nodes):
            return f"curious {names}" + (", pooled" if len(self.nodes) > 1 else "")
        return f"curious node {names}" if len(self.nodes) == 1 else f"curious nodes {names}, pooled"

    def _sees(self) -> str:
        return f"{self.describe()}: own private values, own draws, and every message received"


@dataclass(frozen=True, init=False)
class WireTap(View):
    """An outsider that reads both messages on some edges, and nothing else.

    Parameters
    ----------
    edges
        Pairs of nodes such as ``[(0, 1)]`` or ``[("ada", "bob")]``, or indices into ``graph.edges`` such as ``[0, 1]``.
        The bare tuple ``(0, 1)`` reads as either and is refused.

    Examples
    --------
    >>> import sottovoce as sv
    >>> WireTap([(2, 1)]).heard_edges(sv.graphs.path(3)).tolist()
    [False, True]
    >>> WireTap([1]) .heard_edges(sv.graphs.path(3)).tolist()
    [False, True]
    """

    edges: tuple[int | tuple[int | str, int | str], ...]

    def __init__(self, edges: Iterable[int | tuple[int | str, int | str]]) -> None:
        object.__setattr__(self, "edges", _named_edges(edges))
        if not self.edges:
            raise InvalidParameter("edges must name at least one edge to tap, got none")

    def observers(self, graph: Graph) -> Mask:
        return np.zeros(graph.num_nodes, dtype=np.bool_)

    def heard_edges(self, graph: Graph) -> Mask:
        index = {(int(i), int(j)): k for k, (i, j) in enumerate(graph.edges)}
        mask = np.zeros(graph.num_edges, dtype=np.bool_)
        for edge in self.edges:
            if isinstance(edge, tuple):
                first, second = sorted(graph.node(end) for end in edge)
                key = (first, second)
                if key not in index:
                    raise InvalidParameter(f"edges must be edges of the graph; {edge} is not one")
                mask[index[key]] = True
            elif not 0 <= edge < graph.num_edges:
                raise InvalidParameter(f"edges must be in 0..{graph.num_edges - 1}, got {edge}")
            else:
                mask[edge] = True
        return mask

    def describe(self) -> str:
        return f"wire-tap on {len(self.edges)} edge{'s' if len(self.edges) > 1 else ''}"

    def _sees(self) -> str:
        return f"{self.describe()}: both messages of every exchange on a tapped edge, and nothing else"


@dataclass(frozen=True)
class EveryoneBut(View):
    """The worst coalition against one node: all others pool everything they know.

    Parameters
    ----------
    node
        The one honest node, by number or name.
    """

    node: int | str

    def observers(self, graph: Graph) -> Mask:
        return ~_node_mask((self.node,), graph)

    def heard_edges(self, graph: Graph) -> Mask:
        return np.ones(graph.num_edges, dtype=np.bool_)

    def describe(self) -> str:
        return f"everyone but {_called(self.node)}, colluding"

    def _sees(self) -> str:
        return f"{self.describe()}: all private values, draws and messages but those of {_called(self.node)}"


@dataclass(frozen=True, init=False)
class Pooled(View):
    """Several views that share what they see, such as a curious node with a wire-tap elsewhere."""

    views: tuple[View, ...]

    def __init__(self, *views: View) -> None:
        if not views:
            raise InvalidParameter("views must name at least one view, got none")
        object.__setattr__(self, "views", tuple(views))

    def observers(self, graph: Graph) -> Mask:
        mask: Mask = np.any([view.observers(graph) for view in self.views], axis=0)
        return mask

    def heard_edges(self, graph: Graph) -> Mask:
        mask: Mask = np.any([view.heard_edges(graph) for view in self.views], axis=0)
        return mask

    def describe(self) -> str:
        return " with ".join(view.describe() for view in self.views)

    def _sees(self) -> str:
        return "; ".join(view._sees() for view in self.views)


def honest_nodes(view: View, graph: Graph) -> npt.NDArray[np.int64]:
    """The nodes that do not belong to the observer, in increasing order.

    Raises
    ------
    Unsupported
        If ``view`` is no view.
    InvalidParameter
        If it names nodes that the graph does not have, or leaves nobody to protect.
    """
    if not isinstance(view, View):
        raise Unsupported(f"view must be CuriousNodes, WireTap, EveryoneBut or Pooled, got {type(view).__name__}")
    honest = np.flatnonzero(~view.observers(graph))
    if len(honest) == 0:
        raise InvalidParameter("view must leave at least one honest node, got all nodes as observers")
    return honest


def _distinct(name: str, nodes: Iterable[int | str]) -> tuple[int | str, ...]:
    if isinstance(nodes, str):
        raise InvalidParameter(f"{name} must be a list: [{nodes!r}], got {nodes!r}")
    try:
        found = tuple(sorted({_node(node) for node in nodes}, key=lambda node: (isinstance(node, str), node)))
    except TypeError:
        kinds = sorted({type(node).__name__ for node in nodes}) if hasattr(nodes, "__iter__") else []
        kind = type(nodes).__name__ + (f" of {', '.join(kinds)}" if kinds else "")
        raise InvalidParameter(f"{name} must be a sequence of node numbers or names, got {kind}") from None
    if not found:
        raise InvalidParameter(f"{name} must name at least one node, got none")
    return found


def _node(node: object) -> int | str:
    if isinstance(node, bool):
        raise TypeError
    return node if isinstance(node, str | NodeNumber) else operator.index(node)  # type: ignore[arg-type]


def _called(node: int | str) -> str:
    return node if isinstance(node, str) else f"node {node}"


def _named_edges(edges: Iterable[int | tuple[int | str, int | str]]) -> tuple[int | tuple[int | str, int | str], ...]:
    if isinstance(edges, tuple) and len(edges) == 2 and all(isinstance(part, int | np.integer) for part in edges):
        i, j = edges
        raise InvalidParameter(
            f"edges must be a list: [({i}, {j})] taps the edge between nodes {i} and {j}, [{i}, {j}] the edges with "
            f"the indices {i} and {j}; got ({i}, {j}), which could mean either"
        )
    if not isinstance(edges, Iterable):
        raise InvalidParameter(f"edges must be a list of node pairs or edge indices, got {type(edges).__name__}")
    return tuple(_edge(edge) for edge in edges)


def _edge(edge: object) -> int | tuple[int | str, int | str]:
    try:
        if isinstance(edge, Iterable) and not isinstance(edge, str):
            i, j = (_node(end) for end in edge)
            return i, j
        return operator.index(edge)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidParameter(f"edges must be pairs of nodes or edge indices, got {edge!r}") from None


def _node_mask(nodes: tuple[int | str, ...], graph: Graph) -> Mask:
    mask = np.zeros(graph.num_nodes, dtype=np.bool_)
    mask[[graph.node(node) for node in nodes]] = True
    return mask
