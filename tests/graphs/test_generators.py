"""The families: what they promise of their edges, and reproducible randomness."""

from __future__ import annotations

import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce import graphs
from sottovoce.errors import InvalidGraph, InvalidParameter
from sottovoce.graphs import random_families

RANDOM = {
    "random_geometric": lambda seed: graphs.random_geometric(60, seed=seed),
    "random_regular": lambda seed: graphs.random_regular(40, 4, seed=seed),
    "erdos_renyi": lambda seed: graphs.erdos_renyi(40, 0.2, seed=seed),
    "watts_strogatz": lambda seed: graphs.watts_strogatz(40, 4, 0.3, seed=seed),
    "barabasi_albert": lambda seed: graphs.barabasi_albert(40, 2, seed=seed),
}


def same(graph: sv.Graph, other: nx.Graph) -> bool:
    return nx.utils.graphs_equal(
        nx.Graph(graph.to_networkx().edges), nx.Graph(nx.convert_node_labels_to_integers(other).edges)
    )


@pytest.mark.parametrize(
    ("graph", "other"),
    [
        (graphs.cycle(7), nx.cycle_graph(7)),
        (graphs.path(6), nx.path_graph(6)),
        (graphs.complete(6), nx.complete_graph(6)),
        (graphs.star(6), nx.star_graph(5)),
        (graphs.grid(3, 4), nx.grid_2d_graph(3, 4)),
        (graphs.grid(1, 5), nx.grid_2d_graph(1, 5)),
        (graphs.torus(3, 5), nx.grid_2d_graph(3, 5, periodic=True)),
        (graphs.barbell(4, 3), nx.barbell_graph(4, 3)),
    ],
    ids=lambda g: g.name if isinstance(g, sv.Graph) else "",
)
def test_structured_families_equal_networkx(graph, other):
    """Same nodes in the same order, same edges."""
    assert same(graph, other)


@given(st.integers(1, 8))
def test_a_hypercube_joins_numbers_that_differ_in_one_bit(dimension):
    """2^d nodes of degree d."""
    graph = graphs.hypercube(dimension)
    assert graph.num_nodes == 2**dimension
    assert (graph.degrees == dimension).all()
    assert all(int(a ^ b).bit_count() == 1 for a, b in graph.edges)


@pytest.mark.parametrize("name", RANDOM)
def test_random_families_are_valid_connected_graphs(name):
    """What a generator trusts itself to have made passes the checks for strangers, in the same order."""
    for seed in range(5):
        graph = RANDOM[name](seed)
        checked = sv.Graph.from_edges(graph.edges, graph.num_nodes)
        assert checked == graph
        assert (np.diff(graph.edges, axis=1) > 0).all()
        assert np.array_equal(np.lexsort((graph.edges[:, 1], graph.edges[:, 0])), np.arange(graph.num_edges))


@pytest.mark.parametrize("name", RANDOM)
def test_the_same_seed_gives_the_same_graph(name):
    """And another seed another one; the seed is in the name, also when it was drawn."""
    assert RANDOM[name](3) == RANDOM[name](3)
    assert RANDOM[name](3) != RANDOM[name](4)
    assert RANDOM[name](3).name.endswith("seed=3)")
    drawn = RANDOM[name](None)
    seed = int(drawn.name.rsplit("seed=", 1)[1].rstrip(")"))
    assert RANDOM[name](seed) == drawn


@given(st.integers(3, 40), st.integers(2, 39), st.integers(0, 2**32 - 1))
def test_random_regular_graphs_are_regular(n, degree, seed):
    """Every node has exactly the degree asked for, dense or sparse."""
    assume(degree < n and n * degree % 2 == 0)
    graph = graphs.random_regular(n, degree, seed=seed)
    assert (graph.degrees == degree).all()
    assert graph.num_edges == n * degree // 2


def test_random_regular_graphs_are_spread_evenly():
    """Every cubic graph on 6 labelled nodes occurs.

    There are 70 of them: 60 prisms and 10 copies of K₃,₃. Switching is only asymptotically uniform, so the share
    of K₃,₃ (1/7 if uniform) is checked loosely.
    """
    seen = Counter(graphs.random_regular(6, 3, seed=seed).edges.tobytes() for seed in range(1500))
    assert len(seen) == 70
    bipartite = [key for key in seen if nx.is_bipartite(nx.Graph(np.frombuffer(key, np.int32).reshape(-1, 2).tolist()))]
    assert len(bipartite) == 10
    assert 0.05 < sum(seen[key] for key in bipartite) / 1500 < 0.3


def test_switching_removes_every_loop_and_repeat():
    """A pairing full of loops and repeats becomes simple, with the same degrees."""
    n = 60
    stubs = np.repeat(np.arange(n, dtype=np.int32), 4)  # in order: two loops at every node
    keys = random_families.edge_keys(stubs.reshape(-1, 2))
    assert random_families._switch_away(np.random.default_rng(1), np.sort(keys)) is False  # no good edge to switch with
    rng = np.random.default_rng(2)
    half = stubs.copy()
    rng.shuffle(half[: 2 * n])
    keys = np.sort(random_families.edge_keys(half.reshape(-1, 2)))
    assert random_families._switch_away(rng, keys) is True
    edges = random_families.edges_of_keys(keys)
    assert (edges[:, 0] != edges[:, 1]).all()
    assert len(np.unique(keys)) == len(keys)
    assert np.bincount(edges.reshape(-1)).tolist() == [4] * n


@given(st.integers(3, 200), st.integers(0, 1000))
def test_random_geometric_joins_exactly_the_close_pairs(n, seed):
    """An edge wherever two points are no further apart than √(log n / n), and nowhere else."""
    graph = graphs.random_geometric(n, seed=seed)
    points = graph.positions
    assert points.shape == (n, 2)
    assert ((points >= 0) & (points < 1)).all()
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    expected = np.argwhere(np.triu(distance <= math.sqrt(math.log(n) / n), 1))
    assert graph.edges.tolist() == expected.tolist()


def test_random_geometric_takes_a_radius():
    """A radius of √2 joins everything."""
    assert graphs.random_geometric(20, math.sqrt(2), seed=1).num_edges == 190
    assert "radius=0.5" in graphs.random_geometric(20, 0.5, seed=1).name


def test_erdos_renyi_has_the_right_number_of_edges_on_average():
    """p·n(n−1)/2 within five standard errors; p = 1 is the complete graph."""
    counts = [graphs.erdos_renyi(40, 0.5, seed=seed).num_edges for seed in range(40)]
    assert abs(np.mean(counts) - 390) < 5 * math.sqrt(195 / 40)
    assert graphs.erdos_renyi(7, 1.0, seed=0) == sv.Graph.from_edges(graphs.complete(7).edges)


@given(st.integers(2, 12))
def test_pair_ranks_enumerate_all_pairs(n):
    """In lexicographic order, each once."""
    ranks = np.arange(n * (n - 1) // 2)
    assert random_families._pair_of_rank(ranks, n).tolist() == [[i, j] for i in range(n) for j in range(i + 1, n)]


def test_barabasi_albert_and_watts_strogatz_have_their_edge_counts():
    """m(n − m) and nk/2 edges."""
    assert graphs.barabasi_albert(30, 3, seed=1).num_edges == 81
    assert graphs.watts_strogatz(30, 4, 0.5, seed=1).num_edges == 60


def test_parameters_that_never_give_a_connected_graph_are_an_error():
    """It says how often it tried."""
    with pytest.raises(InvalidGraph, match="not connected in 200 draws"):
        graphs.erdos_renyi(50, 0.01, seed=1)
    with pytest.raises(InvalidGraph, match="ask for more or longer edges"):
        graphs.random_geometric(50, 0.0, seed=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: graphs.cycle(2), "n must be a whole number ≥ 3, got 2"),
        (lambda: graphs.cycle(5.5), "n must be a whole number ≥ 3, got 5.5"),
        (lambda: graphs.cycle("5"), "n must be a whole number ≥ 3, got '5'"),
        (lambda: graphs.cycle(True), "n must be a whole number"),
        (lambda: graphs.cycle(float("nan")), "n must be a whole number"),
        (lambda: graphs.grid(1, 1), "rows and cols must give at least 2 nodes"),
        (lambda: graphs.torus(2, 4), "rows must be a whole number ≥ 3"),
        (lambda: graphs.hypercube(0), "dimension must be a whole number ≥ 1"),
        (lambda: graphs.barbell(3, -1), "path_length must be a whole number ≥ 0"),
        (lambda: graphs.random_geometric(10, -0.1), r"radius must be finite and in \[0, 1.41421\], got -0.1"),
        (lambda: graphs.random_geometric(10, seed=-1), "seed must be a whole number ≥ 0, got -1"),
        (lambda: graphs.random_regular(5, 3), r"degree must be below n = 5 with n·degree even, got 3"),
        (lambda: graphs.erdos_renyi(10, 1.5), r"p must be finite and in \[0, 1\], got 1.5"),
        (lambda: graphs.watts_strogatz(10, 10, 0.1), "k must be below n = 10, got 10"),
        (lambda: graphs.watts_strogatz(5, 3, 0.1), "k must be even, as many neighbours on one side as on the other"),
        (lambda: graphs.barabasi_albert(5, 5), "attach must be below n = 5, got 5"),
    ],
)
def test_bad_sizes_name_the_parameter_the_range_and_what_was_given(make, message):
    """As every error here does."""
    with pytest.raises(InvalidParameter, match=message):
        make()


@pytest.mark.slow
def test_ten_million_nodes():
    """random_regular(10⁷, 8) is made with the right degrees and passes validation."""
    graph = graphs.random_regular(10**7, 8, seed=1)
    assert graph.edges.dtype == np.int32
    assert (graph.degrees == 8).all()
    assert sv.Graph.from_edges(graph.edges).num_edges == 4 * 10**7


@pytest.mark.parametrize(("n", "attach"), [(5, 1), (40, 2), (300, 5), (60, 17), (4, 3)])
def test_preferential_attachment_is_that_of_networkx(n, attach):
    """Draw for draw: a seed gives the graph that it gave when networkx made it."""
    seed = int(np.random.default_rng([3, 0]).integers(2**31))
    expected = nx.barabasi_albert_graph(n, attach, seed=seed)
    assert same(graphs.barabasi_albert(n, attach, seed=3), expected)


def test_distinct_numbers_are_what_unique_gave():
    """Sorting instead of hashing changes the time, not the draw."""
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    chosen = random_families._distinct(rng, 1000, 400)
    drawn = np.unique(other.integers(1000, size=400))
    while len(drawn) < 400:
        drawn = np.unique(np.concatenate([drawn, other.integers(1000, size=400 - len(drawn))]))
    assert np.array_equal(chosen, drawn)


@pytest.mark.parametrize(
    ("make", "edges"),
    [
        (lambda: graphs.complete(10**6), "499,999,500,000"),
        (lambda: graphs.barbell(10**6), "999,999,000,000"),
        (lambda: graphs.hypercube(40), "21,990,232,555,520"),
        (lambda: graphs.erdos_renyi(10**6, 0.5, seed=1), "249,999,750,000"),
    ],
)
def test_what_no_memory_holds_is_refused_with_its_size(make, edges):
    """A sentence instead of a MemoryError."""
    with pytest.raises(InvalidGraph, match=rf"would have .* nodes and {edges} edges; this machine's memory"):
        make()


@pytest.mark.parametrize("reach", [0.0, 0.05, 0.3, 2.0])
def test_a_few_points_have_the_pairs_that_the_tree_finds(monkeypatch, reach):
    """Compared each with each or by SciPy's tree: the same pairs, also at exactly the distance."""
    from sottovoce.graphs import random_families

    on_a_grid = np.argwhere(np.ones((12, 12))) * 0.05
    for points in (on_a_grid, *(np.random.default_rng(seed).random((200, 2)) for seed in range(20))):
        few = random_families._close_pairs(points, reach)
        with monkeypatch.context() as patch:
            patch.setattr(random_families, "FEW_POINTS", 0)
            many = random_families._close_pairs(points, reach)
        assert sorted(map(tuple, few.tolist())) == sorted(map(tuple, many.tolist()))
