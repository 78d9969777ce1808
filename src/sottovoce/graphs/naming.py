"""Nodes with names: from pairs of names to numbers, and back to people.

Inside, a node is a number. A graph that was made from names keeps them as :attr:`~sottovoce.graphs.Graph.labels`, in
the order in which they first appear, and whoever asks for a node may say either.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ..errors import InvalidGraph, InvalidInput, InvalidParameter, InvalidValues
from ..foundation.arguments import entries_of, keys_of
from ..foundation.text import shortened

if TYPE_CHECKING:
    from .graph import Graph

__all__ = [
    "NodeNumber",
    "are_names",
    "by_node",
    "check_distinct",
    "checked_labels",
    "node_number",
    "node_numbers",
    "numbered",
]


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


class NodeNumber(int):
    """A number that is known to be one: where names look like numbers, it is not taken for a name."""


def node_number(graph: Graph, node: object, what: str = "node") -> int:
    """The number of a node that is given by name or number.

    Text is always a name. Where names are whole numbers, as those of networkx often are, a number that could be the
    name of another node is refused: nobody can tell which one is meant.

    Raises
    ------
    InvalidParameter
        If the graph has no such node, or it could be one of two.

    Examples
    --------
    >>> from sottovoce.graphs import Graph
    >>> graph = Graph.from_edges([("1", "2"), ("2", "3")])
    >>> node_number(graph, "1")
    0
    >>> node_number(graph, 1)
    Traceback (most recent call last):
    ...
    sottovoce.errors.InvalidParameter: node must say which one is meant, got 1: node number 0 is named 1, ...
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
    if not isinstance(node, NodeNumber):
        _check_unmistakable(graph, number, what)
    if not 0 <= number <= last:
        raise InvalidParameter(f"{what} must be in 0..{last}, got {number}")
    return number


def _check_unmistakable(graph: Graph, number: int, what: str) -> None:
    """Refuse a number that is the name of another node than the one with this number."""
    if graph.labels is None or graph.numbers.get(str(number), number) == number:
        return
    names = f"node number {graph.numbers[str(number)]} is named {number}"
    if 0 <= number < graph.num_nodes:
        names += f", node number {number} is named {shortened(graph.labels[number])}"
    raise InvalidParameter(
        f"{what} must say which one is meant, got {number}: {names}; a name is written as text, '{number}'"
    )


def node_numbers(keys: Sequence[Any], graph: Graph, what: str = "node") -> list[int]:
    """The numbers of the nodes that the keys of a mapping mean.

    If every node is there, all keys are names if they can be, and numbers if they can be that: names that are whole
    numbers need not be written as text. Otherwise each key is read by itself, as :func:`node_number` does.

    Raises
    ------
    InvalidParameter
        If a key means no node, or could mean two.

    Examples
    --------
    >>> from sottovoce.graphs import Graph
    >>> graph = Graph.from_edges([("1", "2"), ("2", "3")])
    >>> node_numbers([3, 1, 2], graph), node_numbers([2, 0, 1], graph), node_numbers(["3", 0], graph)
    ([2, 0, 1], [2, 0, 1], [2, 0])
    """
    if len(keys) >= graph.num_nodes:
        names = [graph.numbers.get(str(key)) for key in keys]
        if None not in names:
            return cast("list[int]", names)
        if all(isinstance(key, int | np.integer) for key in keys) and {*keys} == {*range(graph.num_nodes)}:
            return [int(key) for key in keys]
    return [node_number(graph, _name_or_number(key, graph), what) for key in keys]


def _name_or_number(key: Any, graph: Graph) -> Any:
    """Labels are text: what is neither text nor a number was some object where the graph comes from."""
    return key if isinstance(key, str | int | np.integer) or str(key) not in graph.numbers else str(key)


def check_distinct(nodes: Sequence[int], graph: Graph, name: str, error: type[InvalidInput] = InvalidValues) -> None:
    """Refuse nodes of which one is there twice.

    Raises
    ------
    InvalidValues
        Or ``error``.
    """
    if len({*nodes}) < len(nodes):
        twice = next(node for node, count in Counter(nodes).items() if count > 1)
        raise error(f"{name} must have one entry per node, got two for {graph.label(twice)}")


def by_node(
    given: Any, graph: Graph, *, name: str = "private_values", error: type[InvalidInput] = InvalidValues
) -> list[Any]:
    """What a mapping, or a pandas Series or table, says of each node by its name or number, in the order of the nodes.

    Raises
    ------
    InvalidValues
        Or ``error``, if a node is missing, named twice or unknown. No value is shown.
    """
    try:
        nodes = node_numbers(keys_of(given) or (), graph)
    except InvalidParameter as unknown:
        raise error(f"{name}: {unknown}") from None
    check_distinct(nodes, graph, name, error)
    found = dict(zip(nodes, entries_of(given), strict=True))
    absent = [graph.label(node) for node in range(graph.num_nodes) if node not in found]
    if absent:
        raise error(f"{name} must have an entry for every node; none for {_some(absent)}")
    return [found[node] for node in range(graph.num_nodes)]


def _some(names: Sequence[str]) -> str:
    return ", ".join(shortened(name) for name in names[:8]) + (f", … ({len(names)} in all)" if len(names) > 8 else "")
