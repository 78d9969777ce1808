"""Random graph families, made as arrays.

Each takes a ``seed`` (``None`` draws one from the operating system), is drawn again until it is
connected, and says in its name which seed it came from: the same seed gives the same graph.
"""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidGraph, InvalidParameter
from ..foundation.arguments import number, whole
from ..foundation.extras import require
from .graph import Graph
from .validation import check_fits, components, edge_keys, edges_of_keys

__all__ = ["barabasi_albert", "erdos_renyi", "random_geometric", "random_regular", "watts_strogatz"]

MAX_TRIES = 200
"""How often a random family is drawn again before we say that its parameters make it disconnected."""

FEW_POINTS = 500
"""So many are compared each with each: SciPy's tree takes longer to import."""

SWITCHING_ROUNDS, SWITCHES = 10, 40
"""Repairs of a random pairing before it is drawn again: ten rounds of forty attempts for each bad edge."""


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
    n = whole("n", n, low=2)
    reach = math.sqrt(math.log(n) / n) if radius is None else number("radius", radius, low=0.0, high=math.sqrt(2))

    def draw(rng: np.random.Generator) -> Graph:
        points = rng.random((n, 2))
        # Number the points along a curve of cells, so that neighbours in space are neighbours in memory.
        points = points[np.lexsort((points[:, 0], np.floor(points[:, 1] / max(reach, 1e-9))))]
        keys = edge_keys(_close_pairs(points, reach))
        keys.sort()
        return Graph._trusted(n, edges_of_keys(keys), positions=points)

    label = f"random_geometric({n}" + ("" if radius is None else f", radius={radius:g}")
    return _until_connected(draw, label, seed)


def _close_pairs(points: npt.NDArray[np.float64], reach: float) -> npt.NDArray[np.int64]:
    """``(m, 2)`` the pairs of points at most ``reach`` apart, the smaller number first."""
    if len(points) > FEW_POINTS:
        require("scipy", by=f"a random geometric graph of more than {FEW_POINTS} nodes")
        from scipy.spatial import cKDTree

        tree = cKDTree(points, balanced_tree=False, compact_nodes=False)  # as good for uniform points, made faster
        return np.asarray(tree.query_pairs(reach, output_type="ndarray"))
    across, down = (column[:, None] - column for column in points.T)
    return np.argwhere(np.triu(across * across + down * down <= reach * reach, k=1))


def erdos_renyi(n: int, p: float, *, seed: int | None = None) -> Graph:
    """Each of the n(n−1)/2 pairs is joined independently with probability p."""
    n, p = whole("n", n, low=2), number("p", p, low=0.0, high=1.0)
    pairs = n * (n - 1) // 2
    check_fits(f"erdos_renyi({n}, {p:g})", n, pairs * p)

    def draw(rng: np.random.Generator) -> Graph:
        chosen = _distinct(rng, pairs, int(rng.binomial(pairs, p)))
        return Graph._trusted(n, _pair_of_rank(chosen, n))

    return _until_connected(draw, f"erdos_renyi({n}, {p:g}", seed)


def random_regular(n: int, degree: int, *, seed: int | None = None) -> Graph:
    """Every node has exactly ``degree`` neighbours, chosen at random.

    Stubs are paired at random; loops and repeated edges are then removed by random switches, which
    leaves the graph asymptotically uniform for fixed degree.
    """
    n, degree = whole("n", n, low=3), whole("degree", degree, low=2)
    if degree >= n or n * degree % 2:
        raise InvalidParameter(f"degree must be below n = {n} with n·degree even, got {degree}")

    def draw(rng: np.random.Generator) -> Graph:
        if degree > (n - 1) // 2:  # a dense regular graph is the complement of a sparse one
            return Graph._trusted(n, _complement(_paired_stubs(rng, n, n - 1 - degree), n))
        return Graph._trusted(n, _paired_stubs(rng, n, degree))

    return _until_connected(draw, f"random_regular({n}, {degree}", seed)


def watts_strogatz(n: int, k: int, p: float, *, seed: int | None = None) -> Graph:
    """Ring where each node is joined to its k nearest, each edge rewired with probability p; k is even."""
    n, k = whole("n", n, low=3), whole("k", k, low=2)
    if k >= n:
        raise InvalidParameter(f"k must be below n = {n}, got {k}")
    if k % 2:  # networkx would take k - 1 and not say so
        raise InvalidParameter(f"k must be even, as many neighbours on one side as on the other, got {k}")
    require("networkx", by="watts_strogatz")
    p = number("p", p, low=0.0, high=1.0)

    def draw(rng: np.random.Generator) -> Graph:
        import networkx as nx

        return _from_networkx_edges(n, nx.watts_strogatz_graph(n, k, p, seed=int(rng.integers(2**31))))

    return _until_connected(draw, f"watts_strogatz({n}, {k}, {p:g}", seed)


def barabasi_albert(n: int, attach: int, *, seed: int | None = None) -> Graph:
    """Nodes arrive one by one and join ``attach`` earlier ones, preferring those of high degree."""
    n, attach = whole("n", n, low=2), whole("attach", attach, low=1)
    if attach >= n:
        raise InvalidParameter(f"attach must be below n = {n}, got {attach}")

    def draw(rng: np.random.Generator) -> Graph:
        keys = edge_keys(_preferential(n, attach, random.Random(int(rng.integers(2**31)))))
        keys.sort()
        return Graph._trusted(n, edges_of_keys(keys))

    return _until_connected(draw, f"barabasi_albert({n}, {attach}", seed)


def _preferential(n: int, attach: int, rng: random.Random) -> npt.NDArray[np.int64]:
    """Edges (newer, earlier): a star of ``attach`` + 1 nodes, then each node joins ends of earlier edges.

    Draw for draw what networkx does, so that a seed gives the graph it gave there, without making its dictionaries.
    """
    ends = [0] * attach + list(range(1, attach + 1))  # every node as often as it has edges
    for newer in range(attach + 1, n):
        earlier: set[int] = set()
        while len(earlier) < attach:
            earlier.add(rng.choice(ends))
        ends.extend(earlier)
        ends.extend([newer] * attach)
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2, attach)
    return pairs.transpose(0, 2, 1).reshape(-1, 2)


# -- shared by the random families ------------------------------------------------------------------


def _until_connected(draw: Callable[[np.random.Generator], Graph], label: str, seed: int | None) -> Graph:
    """Draw with (seed, 0), (seed, 1), … until the graph is connected."""
    seed = secrets.randbits(32) if seed is None else whole("seed", seed, low=0)
    for attempt in range(MAX_TRIES):
        graph = draw(np.random.default_rng([seed, attempt]))
        if graph.num_edges >= graph.num_nodes - 1 and components(graph.edges, graph.num_nodes)[0] == 1:
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
    chosen = _sorted_once(rng.integers(population, size=count))
    while len(chosen) < count:
        chosen = _sorted_once(np.concatenate([chosen, rng.integers(population, size=count - len(chosen))]))
    return chosen


def _sorted_once(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """``np.unique``, whose hashing takes twenty times as long as sorting for 10⁷ numbers."""
    numbers.sort()
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if len(numbers) else numbers


def _pair_of_rank(rank: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """The rank-th pair (i < j) in lexicographic order."""
    first = np.arange(n, dtype=np.int64)
    start = first * (2 * n - first - 1) // 2  # pairs before those that begin with i
    i = np.searchsorted(start, rank, side="right") - 1
    return np.stack([i, rank - start[i] + i + 1], axis=1)


def _paired_stubs(rng: np.random.Generator, n: int, degree: int) -> npt.NDArray[np.int32]:
    """Random pairing of n·degree stubs, loops and repeats switched away; rows in lexicographic order."""
    if degree == 0:
        return np.empty((0, 2), dtype=np.int32)
    for _ in range(MAX_TRIES):
        stubs = np.repeat(np.arange(n, dtype=np.int32), degree)
        rng.shuffle(stubs)
        keys = edge_keys(stubs.reshape(-1, 2))
        del stubs
        keys.sort()
        if _switch_away(rng, keys):
            return edges_of_keys(keys)
    raise InvalidGraph(f"no simple graph found with n = {n} and degree {degree}")


def _switch_away(rng: np.random.Generator, keys: npt.NDArray[np.int64]) -> bool:
    """Replace loops and repeats in the sorted ``keys``, in place; False if random switches do not manage."""
    return any(_switching_round(rng, keys) for _ in range(SWITCHING_ROUNDS))


def _switching_round(rng: np.random.Generator, keys: npt.NDArray[np.int64]) -> bool:
    """Up to :data:`SWITCHES` attempts for every bad edge; ``keys`` stay sorted and True means that they are simple.

    A bad edge (u, v) and a random good edge (x, y) become (u, x) and (v, y), provided that both are
    new and no loops. Only what changes is looked at: after the first sort the work is that of the
    few bad edges (about (degree² − 1)/4 of them). Edges made or taken in a round are left alone until the next.
    """
    ends = edges_of_keys(keys)
    bad = np.flatnonzero((ends[:, 0] == ends[:, 1]) | np.concatenate([[False], keys[1:] == keys[:-1]]))
    u, v = ends[bad, 0], ends[bad, 1]
    taken = np.zeros(len(keys), dtype=bool)  # bad, or switched away
    taken[bad] = True
    added = np.empty(0, dtype=np.int64)
    for _ in range(SWITCHES):
        if len(u) == 0:
            break
        partner = rng.integers(len(keys), size=len(u))
        flip = rng.integers(2, size=len(u))
        x, y = ends[partner, flip], ends[partner, 1 - flip]
        new = np.stack([edge_keys(np.stack([u, x], axis=1)), edge_keys(np.stack([v, y], axis=1))], axis=1)
        fine = (u != x) & (v != y) & ~taken[partner] & ~_present(new, keys, added).any(axis=1)
        fine[fine] = _no_conflict(partner[fine], new[fine])
        taken[partner[fine]] = True
        added = np.sort(np.concatenate([added, new[fine].reshape(-1)]))
        u, v = u[~fine], v[~fine]
    if len(bad):
        keys[taken] = np.concatenate([added, edge_keys(np.stack([u, v], axis=1))])
        keys.sort()
    return len(u) == 0


def _present(wanted: npt.NDArray[np.int64], *sorted_keys: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which of ``wanted`` occur in one of the sorted arrays. (Those taken away this round still count: harmless.)"""
    found = np.zeros(wanted.shape, dtype=bool)
    for keys in sorted_keys:
        if len(keys):
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found |= keys[place] == wanted
    return found


def _no_conflict(partner: npt.NDArray[np.int64], new: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Among switches of one round, those that share no partner and no new edge with an earlier one."""
    alone = np.zeros(len(partner), dtype=bool)
    alone[np.unique(partner, return_index=True)[1]] = True
    _, first, count = np.unique(new.reshape(-1), return_index=True, return_counts=True)
    once = np.zeros(new.size, dtype=bool)
    once[first[count == 1]] = True
    return alone & once.reshape(new.shape).all(axis=1)


def _complement(edges: npt.NDArray[np.int32], n: int) -> npt.NDArray[np.int64]:
    """All pairs that are not in ``edges``."""
    mask = np.triu(np.ones((n, n), dtype=bool), 1)
    mask[edges[:, 0], edges[:, 1]] = False
    return np.argwhere(mask)
