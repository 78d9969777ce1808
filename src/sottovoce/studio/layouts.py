"""Where nodes are drawn, for graphs whose family has a customary picture; the page lays out all others."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..graphs.graph import Graph

__all__ = ["positions"]


def positions(graph: Graph) -> list[list[float]] | None:
    """``(n, 2)`` coordinates, or ``None`` where the page should find them itself.

    Examples
    --------
    >>> from sottovoce.graphs import path, random_regular
    >>> positions(path(3))
    [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    >>> positions(random_regular(10, 3, seed=1)) is None
    True
    """
    if graph.positions is not None:
        return _listed(graph.positions)
    family = graph.family.name if graph.family else ""
    nodes = np.arange(graph.num_nodes)
    if family == "path":
        width = graph.num_nodes if graph.num_nodes <= 12 else math.ceil(math.sqrt(2 * graph.num_nodes))
        row, column = np.divmod(nodes, width)  # long paths wind to and fro
        column = np.where(row % 2 == 0, column, width - 1 - column)
        return _listed(np.stack([column, -row], axis=1).astype(float) + 0.0)
    if family == "complete":
        angle = 2 * np.pi * nodes / graph.num_nodes
        return _listed(np.stack([np.sin(angle), np.cos(angle)], axis=1))
    if family == "star":
        angle = 2 * np.pi * nodes / max(1, graph.num_nodes - 1)
        circle = np.stack([np.sin(angle), np.cos(angle)], axis=1)
        circle[0] = 0.0
        return _listed(circle)
    return None


def _listed(places: npt.NDArray[np.float64]) -> list[list[float]]:
    pairs: list[list[float]] = places.tolist()
    return pairs
