"""One's own graphs and private values, from text: edge lists with names and weights, GraphML, columns of numbers.

The answers are for the page: what was read, and a preview of how (:mod:`.tables`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import InvalidFile, InvalidGraph
from ..foundation.extras import require
from ..graphs.graph import Graph
from ..graphs.naming import checked_labels
from .limits import Limits
from .tables import SHOWN_ROWS, Choices, Table, read_table

if TYPE_CHECKING:
    import networkx

__all__ = ["read_graph", "read_values"]

Ends = list[tuple[int, int]] | list[tuple[str, str]]


def read_graph(text: str, name: str, choices: Choices, limits: Limits) -> dict[str, Any]:
    r"""A graph: two columns of nodes, a third of weights if there is one; or GraphML.

    Examples
    --------
    >>> answer = read_graph("ada;bob;2,5\nbob;carl;1\n", "friends.csv", Choices(), Limits())
    >>> answer["edges"], answer["labels"], answer["weights"]
    ([[0, 1], [1, 2]], ['ada', 'bob', 'carl'], [2.5, 1.0])
    """
    if "<graphml" in text[:5000]:
        return _read_graphml(text, name, limits)
    limits.check("lines", text.count("\n"), 2 * limits.edges)
    if not text.strip():
        raise InvalidFile(f"{name} contains no edges")
    table = read_table(text, name, choices, least=2)
    ends = _ends(table, limits)
    weights = _weights(table)
    graph = _checked(ends, table)
    return _answer(graph, name, weights, table.preview(), limits)


def read_values(text: str, name: str, choices: Choices, limits: Limits) -> dict[str, Any]:
    r"""Private values: the last column, by name or number where the first column has those.

    A single line of many numbers counts as one column.

    Examples
    --------
    >>> read_values("1, 2, 3", "pasted", Choices(), Limits())["values"]
    [1.0, 2.0, 3.0]
    >>> read_values("0;0,5\n1;0,25\n", "pasted", Choices(), Limits())["values"]
    [0.5, 0.25]
    >>> read_values("node,value\n1,8\n0,4\n", "pasted", Choices(), Limits())["values"]
    [4.0, 8.0]
    """
    table = read_table(text, name, choices)
    if len(table.rows) == 1 and table.number(0, 0) is not None:
        column, labels = [_finite(table, 0, k) for k in range(len(table.rows[0]))], None
    else:
        column = [_finite(table, row, len(cells) - 1) for row, cells in enumerate(table.rows)]
        column, labels = _placed(table, column)
    limits.check("numbers", len(column), limits.nodes)
    return {"name": name, "values": column, "labels": labels, "preview": table.preview()}


# -- edges ------------------------------------------------------------------------------------------


def _ends(table: Table, limits: Limits) -> Ends:
    """The first two columns: numbers if all of them are, otherwise names."""
    for cells, line in zip(table.rows, table.lines, strict=True):
        if len(cells) < 2 or not (cells[0] and cells[1]):
            raise InvalidFile(f"{table.name}, line {line}: expected two nodes, as numbers or names")
    if not all(_is_whole(cells[0]) and _is_whole(cells[1]) for cells in table.rows):
        if _is_whole(table.rows[0][0]) and _is_whole(table.rows[0][1]):
            wrong = next(k for k, cells in enumerate(table.rows) if not (_is_whole(cells[0]) and _is_whole(cells[1])))
            raise InvalidFile(
                f"{table.name}, line {table.lines[wrong]}: expected two whole numbers, as in line {table.lines[0]}"
            )
        return [(cells[0], cells[1]) for cells in table.rows]
    pairs = [(int(cells[0]), int(cells[1])) for cells in table.rows]
    limits.check("nodes", max(max(pair) for pair in pairs) + 1, limits.nodes)
    return pairs


def _is_whole(cell: str) -> bool:
    digits = cell[1:] if cell[:1] in "+-" else cell
    return digits.isascii() and digits.isdigit() and len(digits) <= 18


def _weights(table: Table) -> list[float] | None:
    """The third column, if there is one and every edge has a number above 0 in it."""
    if not all(len(cells) >= 3 for cells in table.rows):
        return None
    found = [table.number(row, 2) for row in range(len(table.rows))]
    if all(weight is None for weight in found):
        return None  # a column of words
    for weight, line in zip(found, table.lines, strict=True):
        if weight is None or not 0 < weight < math.inf:
            raise InvalidFile(f"{table.name}, line {line}: a weight must be a number above 0")
    return [float(weight) for weight in found if weight is not None]


def _checked(ends: Ends, table: Table) -> Graph:
    """The graph, or a sentence with the line that is wrong."""
    try:
        return Graph.from_edges(ends, name=table.name[:40])
    except InvalidGraph as error:
        line = _wrong_line(ends, table)
        where = "" if line is None else f", line {line}"
        raise InvalidFile(f"{table.name}{where}: {error}") from None


def _wrong_line(ends: Ends, table: Table) -> int | None:
    """Where the first loop, negative number or repeated edge stands; ``None`` if something else is wrong."""
    seen = set()
    for (first, second), line in zip(ends, table.lines, strict=True):
        edge = frozenset((first, second))
        if first == second or edge in seen or any(isinstance(end, int) and end < 0 for end in edge):
            return line
        seen.add(edge)
    return None


def _answer(
    graph: Graph, name: str, weights: list[float] | None, preview: dict[str, Any], limits: Limits
) -> dict[str, Any]:
    limits.check("nodes", graph.num_nodes, limits.nodes)
    limits.check("edges", graph.num_edges, limits.edges)
    return {
        "name": name,
        "edges": graph.edges.tolist(),
        "numNodes": graph.num_nodes,
        "labels": None if graph.labels is None else list(graph.labels),
        "weights": weights,
        "preview": preview,
    }


# -- GraphML ----------------------------------------------------------------------------------------


def _read_graphml(text: str, name: str, limits: Limits) -> dict[str, Any]:
    """Undirected; nodes by their attribute ``name`` or ``label``, or else their identifier; weights if all have one."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InvalidFile(f"{name}: GraphML with a document type is not read")
    limits.check("edges", text.count("<edge"), limits.edges)
    limits.check("nodes", text.count("<node"), limits.nodes)
    require("networkx", by="reading GraphML")
    import networkx as nx

    try:
        found: networkx.Graph[Any] = nx.Graph(nx.parse_graphml(text))
    except Exception:  # its parser raises many kinds
        raise InvalidFile(f"{name} is not GraphML that can be read") from None
    if not found.number_of_edges():
        raise InvalidFile(f"{name} contains no edges")
    names = _graphml_names(found)
    place = {node: k for k, node in enumerate(found)}
    given = [data.get("weight") for *_, data in found.edges(data=True)]
    usable = [float(each) for each in given if isinstance(each, int | float) and 0 < each < math.inf]
    weights = usable if len(usable) == len(given) else None
    try:
        edges = [(place[i], place[j]) for i, j in found.edges]
        graph = Graph.from_edges(edges, num_nodes=len(place), name=name[:40])
        graph = replace(graph, labels=checked_labels(names.values(), len(place)))
    except InvalidGraph as error:
        raise InvalidFile(f"{name}: {error}") from None
    pairs = [(names[i], names[j]) for i, j in found.edges]
    rows = [[*pair, *([f"{weights[k]:g}"] if weights else [])] for k, pair in enumerate(pairs[:SHOWN_ROWS])]
    preview = {"format": "GraphML", "delimiter": None, "decimal": None, "header": False, "rows": rows}
    return _answer(graph, name, weights, preview | {"numRows": len(pairs)}, limits)


def _graphml_names(graph: Any) -> dict[Any, str]:
    """One distinct name per node."""
    for attribute in ("name", "label"):
        names = {node: str(data.get(attribute, "")).strip() for node, data in graph.nodes(data=True)}
        if all(names.values()) and len(set(names.values())) == len(names):
            return names
    return {node: str(node) for node in graph}


# -- values -----------------------------------------------------------------------------------------


def _finite(table: Table, row: int, column: int) -> float:
    found = table.number(row, column)
    if found is None:
        raise InvalidFile(f"{table.name}, line {table.lines[row]}: expected numbers")
    if not math.isfinite(found):
        raise InvalidFile(f"{table.name}, line {table.lines[row]}: numbers must be finite")
    return found


def _placed(table: Table, column: list[float]) -> tuple[list[float], list[str] | None]:
    """Values in the order of their nodes: those that the first column numbers, or with the names that it gives."""
    if not all(len(cells) >= 2 for cells in table.rows):
        return column, None
    keys = [cells[0] for cells in table.rows]
    if any(table.number(row, 0) is None for row in range(len(keys))):
        if len(set(keys)) < len(keys):
            raise InvalidFile(f"{table.name}: every name must be there once")
        return column, keys
    if all(map(_is_whole, keys)) and sorted(map(int, keys)) == list(range(len(keys))):
        return [value for _, value in sorted(zip(map(int, keys), column, strict=True))], None
    return column, None
