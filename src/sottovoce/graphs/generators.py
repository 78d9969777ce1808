"""The graph families of the field, made as arrays.

The structured families are here and carry their :class:`~sottovoce.graphs.graph.Family`, so that
closed forms apply; the random ones are in :mod:`.random_families` and can be imported from here too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import whole
from .graph import Family, Graph
from .random_families import barabasi_albert, erdos_renyi, random_geometric, random_regular, watts_strogatz
from .validation import check_fits

__all__ = [
    "barabasi_albert",
    "barbell",
    "complete",
    "cycle",
    "erdos_renyi",
    "grid",
    "hypercube",
    "path",
    "random_geometric",
    "random_regular",
    "star",
    "torus",
    "watts_strogatz",
]


def cycle(n: int) -> Graph:
    """Ring of n ≥ 3 nodes. The paper's first test graph is ``cycle(10)``.

    Examples
    --------
    >>> cycle(4).edges.tolist()
    [[0, 1], [1, 2], [2, 3], [0, 3]]
    """
    n = whole("n", n, low=3)
    nodes = np.arange(n)
    edges = np.stack([nodes, (nodes + 1) % n], axis=1)
    edges[-1] = (0, n - 1)
    angle = 2 * np.pi * nodes / n
    return Graph._trusted(
        n,
        edges,
        name=f"cycle({n})",
        family=Family("cycle", (n,)),
        positions=np.stack([np.cos(angle), np.sin(angle)], axis=1),
    )


def path(n: int) -> Graph:
    """Line of n ≥ 2 nodes.

    Examples
    --------
    >>> path(3).edges.tolist()
    [[0, 1], [1, 2]]
    """
    n = whole("n", n, low=2)
    nodes = np.arange(n - 1)
    edges = np.stack([nodes, nodes + 1], axis=1)
    return Graph._trusted(n, edges, name=f"path({n})", family=Family("path", (n,)))


def complete(n: int) -> Graph:
    """Every pair of n ≥ 2 nodes is joined.

    Examples
    --------
    >>> complete(3).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    n = whole("n", n, low=2)
    check_fits(f"complete({n})", n, n * (n - 1) / 2)
    return Graph._trusted(n, _all_pairs(n), name=f"complete({n})", family=Family("complete", (n,)))


def star(n: int) -> Graph:
    """Node 0 joined to each of the n − 1 others; n ≥ 2 counts the centre.

    Examples
    --------
    >>> star(4).edges.tolist()
    [[0, 1], [0, 2], [0, 3]]
    """
    n = whole("n", n, low=2)
    edges = np.stack([np.zeros(n - 1, dtype=np.int64), np.arange(1, n)], axis=1)
    return Graph._trusted(n, edges, name=f"star({n})", family=Family("star", (n,)))


def grid(rows: int, cols: int) -> Graph:
    """Rectangular lattice; node r·cols + c is at row r, column c.

    Examples
    --------
    >>> grid(2, 2).edges.tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    return _lattice(rows, cols, wrap=False)


def torus(rows: int, cols: int) -> Graph:
    """Rectangular lattice with both directions closed into rings; rows, cols ≥ 3.

    Examples
    --------
    >>> torus(3, 3).num_edges
    18
    """
    return _lattice(rows, cols, wrap=True)


def _lattice(rows: int, cols: int, *, wrap: bool) -> Graph:
    smallest = 3 if wrap else 1
    rows, cols = whole("rows", rows, low=smallest), whole("cols", cols, low=smallest)
    if rows * cols < 2:
        raise InvalidParameter("rows and cols must give at least 2 nodes, got 1 × 1")
    node = np.arange(rows * cols).reshape(rows, cols)
    pairs = [(node[:, :-1], node[:, 1:]), (node[:-1, :], node[1:, :])]
    if wrap:
        pairs += [(node[:, 0], node[:, -1]), (node[0, :], node[-1, :])]
    edges = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])
    kind = "torus" if wrap else "grid"
    row, col = np.divmod(np.arange(rows * cols), cols)
    return Graph._trusted(
        rows * cols,
        edges,
        name=f"{kind}({rows}, {cols})",
        family=Family(kind, (rows, cols)),
        positions=np.stack([col, -row], axis=1).astype(np.float64),
    )


def hypercube(dimension: int) -> Graph:
    """2^dimension nodes, joined when their numbers differ in one bit.

    Examples
    --------
    >>> hypercube(2).edges.tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    dimension = whole("dimension", dimension, low=1)
    check_fits(f"hypercube({dimension})", 2.0**dimension, dimension * 2.0 ** (dimension - 1))
    nodes = np.arange(2**dimension)
    edges = [
        np.stack([low, low | bit], axis=1) for bit in 1 << np.arange(dimension) for low in [nodes[nodes & bit == 0]]
    ]
    return Graph._trusted(
        2**dimension, np.concatenate(edges), name=f"hypercube({dimension})", family=Family("hypercube", (dimension,))
    )


def barbell(clique: int, path_length: int = 0) -> Graph:
    """Two complete graphs of ``clique`` ≥ 2 nodes joined by a line of ``path_length`` further nodes.

    Examples
    --------
    >>> barbell(3, 1).num_nodes, barbell(3, 1).num_edges
    (7, 8)
    """
    clique, path_length = whole("clique", clique, low=2), whole("path_length", path_length, low=0)
    check_fits(f"barbell({clique}, {path_length})", 2 * clique + path_length, clique * (clique - 1) + path_length)
    block = _all_pairs(clique)
    bridge = np.arange(clique - 1, clique + path_length)
    edges = np.concatenate([block, np.stack([bridge, bridge + 1], axis=1), block + clique + path_length])
    return Graph._trusted(2 * clique + path_length, edges, name=f"barbell({clique}, {path_length})")


def _all_pairs(n: int) -> npt.NDArray[np.int32]:
    """The n(n−1)/2 pairs of n nodes in order, in no more memory than they need."""
    edges = np.empty((n * (n - 1) // 2, 2), dtype=np.int32)
    nodes = np.arange(n, dtype=np.int32)
    end = 0
    for node in range(n - 1):
        begin, end = end, end + n - 1 - node
        edges[begin:end, 0] = node
        edges[begin:end, 1] = nodes[node + 1 :]
    return edges
