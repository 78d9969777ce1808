"""Nodes with names: from pairs of names to numbers, and back to people.

Inside, a node is a number. A graph that was made from names keeps them as :attr:`~sottovoce.graphs.Graph.labels`, in
the order in which they first appear, and whoever asks for a node may say either.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidGraph, InvalidInput, InvalidParameter, InvalidValues
from ..foundation.arguments import entries_of, keys_of
from ..foundation.text import shortened

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["are_names", "by_node", "checked_labels", "node_number", "numbered"]


def are_names(pairs: npt.NDArray[Any]) -> bool:
    """Whether an array of pairs holds words and not numbers."""
    return pairs.dtype.kind in "UT" or (pairs.dtype.kind == "O" and all(isinstance(each, str) for each in pairs.flat))


def numbered(names: Iterable[Iterable[Hashable]]) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """``(m, 2)`` numbers for pairs of names, and the names in the order of their numbers.

    Examples
    --------
    >>> pairs, labels = numbered([("ada", "bob"), ("carol", "bob")])
    >>> pairs.tolist(), labels
    ([[0, 1], [2, 1]], ('ada', 'bob', 'carol'))
    """
    number: dict[Hashable, int] = {}
    pairs = [[number.setdefault(name, len(number)) for name in pair] for pair in names]
    return np.array(pairs, dtype=np.int64), checked_labels(number, len(number))


def checked_labels(labels: Iterable[Hashable], num_nodes: int) -> tuple[str, ...]:
    """One distinct, non-empty name per node.

    Raises
    ------
    InvalidGraph
        If there is not one per node, or one is empty or there twice.
    """
    names = tuple(str(label) for label in labels)
    if len(names) != num_nodes:
        raise InvalidGraph(f"labels must be one name per node ({num_nodes}), got {len(names)}")
    if not all(name.strip() for name in names):
        raise InvalidGraph("labels must not be empty")
    if len(set(names)) != len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InvalidGraph(f"labels must be distinct, got {shortened(twice)!r} twice")
    return names


def node_number(graph: Graph, node: object, what: str = "node") -> int:
    """The number of a node that is given by name or number.

    Raises
    ------
    InvalidParameter
        If the graph has no such node.
    """
    last = graph.num_nodes - 1
    if isinstance(node, str):
        if graph.labels is None:
            named = "the nodes of this graph have no names"
            raise InvalidParameter(f"{what} must be a number in 0..{last}, got {shortened(node)!r}; {named}")
        if node not in graph.numbers:
            raise InvalidParameter(f"{what} must be one of {_some(graph.labels)}, got {shortened(node)!r}")
        return graph.numbers[node]
    try:
        number = operator.index(node)  # type: ignore[arg-type]
    except TypeError:
        kind = type(node).__name__
        raise InvalidParameter(f"{what} must be the number or the name of a node, got {kind}") from None
    if not 0 <= number <= last:
        raise InvalidParameter(f"{what} must be in 0..{last}, got {number}")
    return number


def by_node(
    given: Any, graph: Graph, *, name: str = "private_values", error: type[InvalidInput] = InvalidValues
) -> list[Any]:
    """What a mapping, or a pandas Series or table, says of each node by its name or number, in the order of the nodes.

    Raises
    ------
    InvalidValues
        Or ``error``, if a node is missing, named twice or unknown. No value is shown.
    """
    found: dict[int, Any] = {}  # labels are text; where the graph comes from, names may have been numbers
    for key, value in zip(keys_of(given) or (), entries_of(given), strict=True):
        try:
            node = node_number(graph, str(key) if str(key) in graph.numbers else key)
        except InvalidParameter as unknown:
            raise error(f"{name}: {unknown}") from None
        if node in found:
            raise error(f"{name} must have one entry per node, got two for {graph.label(node)}")
        found[node] = value
    absent = [graph.label(node) for node in range(graph.num_nodes) if node not in found]
    if absent:
        raise error(f"{name} must have an entry for every node; none for {_some(absent)}")
    return [found[node] for node in range(graph.num_nodes)]


def _some(names: Sequence[str]) -> str:
    return ", ".join(shortened(name) for name in names[:8]) + (f", … ({len(names)} in all)" if len(names) > 8 else "")
