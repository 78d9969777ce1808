"""The graph families of the field, made as arrays.

Structured families carry their :class:`~sottovoce.graphs.graph.Family`, so that closed forms apply.
Random families take a ``seed`` (``None`` draws one from the operating system), are drawn again until
they are connected, and say in their name which seed they came from.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidGraph, InvalidParameter
from .graph import Family, Graph, components

MAX_TRIES = 200
"""How often a random family is drawn again before we say that its parameters make it disconnected."""


def _at_least(name: str, value: int, smallest: int) -> int:
    if isinstance(value, bool) or int(value) != value or value < smallest:
        raise InvalidParameter(f"{name} must be a whole number ≥ {smallest}, got {value!r}")
    return int(value)


def _in_interval(name: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise InvalidParameter(f"{name} must be in [{low:g}, {high:g}], got {value!r}")
    return float(value)


def cycle(n: int) -> Graph:
    """Ring of n ≥ 3 nodes. The paper's first test graph is ``cycle(10)``.

    Examples
    --------
    >>> cycle(4).edges.tolist()
    [[0, 1], [1, 2], [2, 3], [0, 3]]
    """
    n = _at_least("n", n, 3)
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
    n = _at_least("n", n, 2)
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
    n = _at_least("n", n, 2)
    edges = np.stack(np.triu_indices(n, 1), axis=1)
    return Graph._trusted(n, edges, name=f"complete({n})", family=Family("complete", (n,)))


def star(n: int) -> Graph:
    """Node 0 joined to each of the n − 1 others; n ≥ 2 counts the centre.

    Examples
    --------
    >>> star(4).edges.tolist()
    [[0, 1], [0, 2], [0, 3]]
    """
    n = _at_least("n", n, 2)
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
    rows, cols = _at_least("rows", rows, smallest), _at_least("cols", cols, smallest)
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
    dimension = _at_least("dimension", dimension, 1)
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
    clique, path_length = _at_least("clique", clique, 2), _at_least("path_length", path_length, 0)
    block = np.stack(np.triu_indices(clique, 1), axis=1)
    bridge = np.arange(clique - 1, clique + path_length)
    edges = np.concatenate([block, np.stack([bridge, bridge + 1], axis=1), block + clique + path_length])
    return Graph._trusted(2 * clique + path_length, edges, name=f"barbell({clique}, {path_length})")


def random_geometric(n: int, radius: float | None = None, *, seed: int | None = None) -> Graph:
    """n points uniform on the unit square, joined when closer than ``radius``.

    The paper's second test graph is ``random_geometric(100)``: its default radius is √(log n / n),
    just above the threshold of connectivity, and it is drawn again until connected.

    Parameters
    ----------
    n
        Number of nodes, ≥ 2.
    radius
        Distance below which two nodes are neighbours; default √(log n / n).
    seed
        Any whole number ≥ 0; ``None`` draws one from the operating system. It is part of the name.
    """
    n = _at_least("n", n, 2)
    reach = math.sqrt(math.log(n) / n) if radius is None else _in_interval("radius", radius, 0.0, math.sqrt(2))

    def draw(rng: np.random.Generator) -> Graph:
        from scipy.spatial import cKDTree

        points = rng.random((n, 2))
        # Number the points along a curve of cells, so that neighbours in space are neighbours in memory.
        points = points[np.lexsort((points[:, 0], np.floor(points[:, 1] / max(reach, 1e-9))))]
        pairs = cKDTree(points).query_pairs(reach, output_type="ndarray")
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        return Graph._trusted(n, pairs, positions=points)

    label = f"random_geometric({n}" + ("" if radius is None else f", radius={radius:g}")
    return _until_connected(draw, label, seed)


def erdos_renyi(n: int, p: float, *, seed: int | None = None) -> Graph:
    """Each of the n(n−1)/2 pairs is joined independently with probability p."""
    n, p = _at_least("n", n, 2), _in_interval("p", p, 0.0, 1.0)
    pairs = n * (n - 1) // 2

    def draw(rng: np.random.Generator) -> Graph:
        chosen = _distinct(rng, pairs, int(rng.binomial(pairs, p)))
        return Graph._trusted(n, _pair_of_rank(chosen, n))

    return _until_connected(draw, f"erdos_renyi({n}, {p:g}", seed)


def random_regular(n: int, degree: int, *, seed: int | None = None) -> Graph:
    """Every node has exactly ``degree`` neighbours, chosen at random.

    Stubs are paired at random; loops and repeated edges are then removed by random switches, which
    leaves the graph asymptotically uniform for fixed degree.
    """
    n, degree = _at_least("n", n, 3), _at_least("degree", degree, 2)
    if degree >= n or n * degree % 2:
        raise InvalidParameter(f"degree must be below n = {n} with n·degree even, got {degree}")

    def draw(rng: np.random.Generator) -> Graph:
        if degree > (n - 1) // 2:  # a dense regular graph is the complement of a sparse one
            return Graph._trusted(n, _complement(_paired_stubs(rng, n, n - 1 - degree), n))
        return Graph._trusted(n, _paired_stubs(rng, n, degree))

    return _until_connected(draw, f"random_regular({n}, {degree}", seed)


def watts_strogatz(n: int, k: int, p: float, *, seed: int | None = None) -> Graph:
    """Ring where each node is joined to its k nearest, each edge rewired with probability p."""
    n, k = _at_least("n", n, 3), _at_least("k", k, 2)
    if k >= n:
        raise InvalidParameter(f"k must be below n = {n}, got {k}")
    p = _in_interval("p", p, 0.0, 1.0)

    def draw(rng: np.random.Generator) -> Graph:
        import networkx as nx

        return _from_networkx_edges(n, nx.watts_strogatz_graph(n, k, p, seed=int(rng.integers(2**31))))

    return _until_connected(draw, f"watts_strogatz({n}, {k}, {p:g}", seed)


def barabasi_albert(n: int, attach: int, *, seed: int | None = None) -> Graph:
    """Nodes arrive one by one and join ``attach`` earlier ones, preferring those of high degree."""
    n, attach = _at_least("n", n, 2), _at_least("attach", attach, 1)
    if attach >= n:
        raise InvalidParameter(f"attach must be below n = {n}, got {attach}")

    def draw(rng: np.random.Generator) -> Graph:
        import networkx as nx

        return _from_networkx_edges(n, nx.barabasi_albert_graph(n, attach, seed=int(rng.integers(2**31))))

    return _until_connected(draw, f"barabasi_albert({n}, {attach}", seed)


# -- shared by the random families ------------------------------------------------------------------


def _until_connected(draw: Callable[[np.random.Generator], Graph], label: str, seed: int | None) -> Graph:
    """Draw with (seed, 0), (seed, 1), … until the graph is connected."""
    seed = secrets.randbits(32) if seed is None else _at_least("seed", seed, 0)
    for attempt in range(MAX_TRIES):
        graph = draw(np.random.default_rng([seed, attempt]))
        if graph.num_edges >= graph.num_nodes - 1 and components(graph)[0] == 1:
            return Graph._trusted(
                graph.num_nodes, graph.edges, name=f"{label}, seed={seed})", positions=graph.positions
            )
    raise InvalidGraph(f"{label}) was not connected in {MAX_TRIES} draws; ask for more or longer edges")


def _from_networkx_edges(n: int, graph: Any) -> Graph:
    edges = np.sort(np.array(graph.edges, dtype=np.int64).reshape(-1, 2), axis=1)
    return Graph._trusted(n, edges[np.lexsort((edges[:, 1], edges[:, 0]))])


def _distinct(rng: np.random.Generator, population: int, count: int) -> npt.NDArray[np.int64]:
    """``count`` distinct sorted numbers below ``population``, in O(count) memory."""
    if count > population // 2:
        left_out = _distinct(rng, population, population - count)
        return np.setdiff1d(np.arange(population), left_out, assume_unique=True)
    chosen = np.unique(rng.integers(population, size=count))
    while len(chosen) < count:
        chosen = np.unique(np.concatenate([chosen, rng.integers(population, size=count - len(chosen))]))
    return chosen


def _pair_of_rank(rank: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """The rank-th pair (i < j) in lexicographic order."""
    first = np.arange(n, dtype=np.int64)
    start = first * (2 * n - first - 1) // 2  # pairs before those that begin with i
    i = np.searchsorted(start, rank, side="right") - 1
    return np.stack([i, rank - start[i] + i + 1], axis=1)


def _paired_stubs(rng: np.random.Generator, n: int, degree: int) -> npt.NDArray[np.int64]:
    """Random pairing of n·degree stubs, loops and repeats switched away; sorted rows."""
    if degree == 0:
        return np.empty((0, 2), dtype=np.int64)
    stubs = np.repeat(np.arange(n, dtype=np.int64), degree)
    rng.shuffle(stubs)
    ends = stubs.reshape(-1, 2)
    for _ in range(10_000):
        bad = _loops_and_repeats(ends, n)
        if len(bad) == 0:
            ends.sort(axis=1)
            return ends[np.argsort(ends[:, 0] * n + ends[:, 1])]
        partner = rng.integers(len(ends), size=len(bad))
        for mine, other in zip(bad, partner, strict=True):
            ends[mine, 1], ends[other, 1] = ends[other, 1], ends[mine, 1]
    raise InvalidGraph(f"no simple graph found with n = {n} and degree {degree}")


def _loops_and_repeats(ends: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """Rows of ``ends`` that are loops or repeat another row."""
    keys = ends.min(axis=1) * n + ends.max(axis=1)
    order = np.argsort(keys, kind="stable")
    repeat = np.zeros(len(ends), dtype=bool)
    repeat[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return np.flatnonzero(repeat | (ends[:, 0] == ends[:, 1]))


def _complement(edges: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """All pairs that are not in ``edges``."""
    mask = np.triu(np.ones((n, n), dtype=bool), 1)
    mask[edges[:, 0], edges[:, 1]] = False
    return np.argwhere(mask)
