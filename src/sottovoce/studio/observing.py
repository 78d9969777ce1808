"""Who is curious: from what a page asks to a view of :mod:`sottovoce.privacy`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..foundation.arguments import number, whole
from ..graphs.graph import Graph
from ..graphs.naming import NodeNumber

if TYPE_CHECKING:
    from ..privacy import View

__all__ = ["Observer", "read_observer", "read_prior"]


@dataclass(frozen=True)
class Observer:
    """Curious nodes, everyone but one, or tapped wires: exactly one of the three."""

    nodes: tuple[int, ...] = ()
    but: int | None = None
    edges: tuple[tuple[int, int], ...] = ()

    def asked(self) -> dict[str, Any]:
        """As a page says it."""
        if self.but is not None:
            return {"but": self.but}
        return {"nodes": list(self.nodes)} if self.nodes else {"edges": [list(edge) for edge in self.edges]}

    def view(self) -> View:
        """What an audit takes."""
        from ..privacy import CuriousNodes, EveryoneBut, WireTap

        if self.but is not None:
            return EveryoneBut(NodeNumber(self.but))
        if self.nodes:
            return CuriousNodes(NodeNumber(node) for node in self.nodes)
        return WireTap((NodeNumber(first), NodeNumber(second)) for first, second in self.edges)

    def words(self, graph: Graph) -> str:
        """Who it is, for a person."""
        if self.but is not None:
            return f"everyone but {graph.label(self.but)} together"
        if self.edges:
            return f"somebody who taps {len(self.edges)} wire{'s' if len(self.edges) > 1 else ''}"
        named = [graph.label(node) for node in self.nodes]
        return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]} together"


def read_observer(message: Mapping[str, Any], graph: Graph) -> Observer | None:
    """The observer that a message names; ``None``: nobody.

    Raises
    ------
    InvalidParameter
        If it names nodes or edges that the graph does not have, or leaves nobody to be curious about.
    """
    if "observer" not in message:
        node = message.get("node")
        return None if node is None else Observer(nodes=(_node(node, graph),))
    given = message["observer"]
    if given is None:
        return None
    if not isinstance(given, Mapping) or len(given) != 1 or next(iter(given)) not in ("nodes", "but", "edges"):
        raise InvalidParameter('observer must be {"nodes": […]}, {"but": node} or {"edges": [[node, node], …]}')
    (kind, named), *_ = given.items()
    if kind == "but":
        return Observer(but=_node(named, graph))
    if not isinstance(named, list) or not 1 <= len(named) <= max(graph.num_nodes, graph.num_edges):
        raise InvalidParameter(f"{kind} must be a list of at least one")
    if kind == "edges":
        return Observer(edges=_edges(named, graph))
    nodes = tuple(sorted({_node(node, graph) for node in named}))
    if len(nodes) == graph.num_nodes:
        raise InvalidParameter("nodes must leave somebody out: there is nobody else to be curious about")
    return Observer(nodes=nodes)


def read_prior(message: Mapping[str, Any]) -> float | None:
    """What is believed beforehand: a standard deviation, or ``None`` for nothing at all."""
    prior = message.get("prior")
    if prior is None:
        return None
    if isinstance(prior, bool) or not isinstance(prior, int | float):
        raise InvalidParameter("prior must be a number above 0")
    return number("prior", prior, low=1e-100, high=1e100)


def _node(given: object, graph: Graph) -> int:
    if isinstance(given, str):
        return graph.node(given)
    return whole("node", given, low=0, high=graph.num_nodes - 1)


def _edges(named: list[Any], graph: Graph) -> tuple[tuple[int, int], ...]:
    pairs = set()
    for edge in named:
        if not isinstance(edge, list) or len(edge) != 2:
            raise InvalidParameter("edges must be pairs of nodes")
        first, second = sorted(_node(end, graph) for end in edge)
        if second not in graph.neighbours_of(first):
            raise InvalidParameter(f"edges must be edges of the graph; {first} and {second} are not connected")
        pairs.add((first, second))
    return tuple(sorted(pairs))
