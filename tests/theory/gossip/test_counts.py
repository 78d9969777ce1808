from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats

import sottovoce as sv
from sottovoce import errors
from sottovoce.graphs.chances import Chances
from sottovoce.theory.gossip import counts
from sottovoce.theory.gossip.counts import count_limits, count_probability, largest_count, most_steps


def random_graph(rng: np.random.Generator, low: int = 3, high: int = 6) -> sv.Graph:
    """A random tree with random further edges."""
    n = int(rng.integers(low, high))
    edges = {(int(rng.integers(0, k)), k) for k in range(1, n)}
    edges |= {pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.4}
    return sv.Graph.from_edges(sorted(edges), num_nodes=n)


def brute_force(graph: sv.Graph, steps: int, limits: np.ndarray, chances: np.ndarray) -> float:
    """The chance of every sequence of edges, added up one by one."""
    total = 0.0
    for fired in itertools.product(range(graph.num_edges), repeat=steps):
        acted = np.bincount(graph.edges[list(fired)].reshape(-1), minlength=graph.num_nodes)
        if (acted <= limits).all():
            total += math.prod(chances[edge] for edge in fired)
    return total


def sampled(graph: sv.Graph, steps: int, replicas: int, rng: np.random.Generator, chances: np.ndarray) -> np.ndarray:
    """``(replicas, n)`` counts of all nodes."""
    fired = rng.multinomial(steps, chances, size=replicas)
    ends = np.zeros((graph.num_edges, graph.num_nodes))
    ends[np.arange(graph.num_edges), graph.edges[:, 0]] = ends[np.arange(graph.num_edges), graph.edges[:, 1]] = 1
    return fired @ ends


def uniform(graph: sv.Graph) -> np.ndarray:
    return np.full(graph.num_edges, 1 / graph.num_edges)


@pytest.mark.parametrize("seed", range(25))
def test_small_graphs_are_exact(seed):
    """On random graphs with random chances, zero among them, the answer is the sum over all sequences of edges."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    chances = np.where(rng.random(graph.num_edges) < 0.15, 0.0, rng.random(graph.num_edges)) + 1e-9
    chances /= chances.sum()
    steps = int(rng.integers(1, 5))
    limits = rng.integers(0, steps + 2, graph.num_nodes)
    expected = brute_force(graph, steps, limits, chances)
    found = count_probability(graph, steps, limits, edge_probabilities=chances)
    assert found.exact
    assert found.low == pytest.approx(expected, abs=1e-12)
    low, high = counts._between(Chances(graph, chances), steps, limits.astype(float))
    assert low <= expected + 1e-12
    assert expected <= high + 1e-12


@pytest.mark.parametrize("seed", range(15))
def test_bounds_hold_where_counts_are_many(seed):
    """The bounds enclose the exact chance of walks of many steps, also where it is far from one."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 3, 5)
    chances = Chances(graph, rng.dirichlet(np.ones(graph.num_edges)))
    steps = int(rng.integers(10, 30))
    limits = scipy.stats.binom.ppf(rng.uniform(0.5, 0.999), steps, chances.nodes)
    exact = counts._step_by_step(chances, steps, np.minimum(limits, steps))
    low, high = counts._between(chances, steps, limits)
    assert low - 1e-12 <= exact <= high + 1e-12


@pytest.mark.parametrize(
    "graph",
    [sv.graphs.star(5), sv.graphs.cycle(4), sv.Graph.from_edges([(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)])],
)
def test_independent_sides_equal_the_walk(graph):
    """Stars and complete bipartite graphs: two multinomials give what the walk step by step gives."""
    rng, chances = np.random.default_rng(1), Chances(graph)
    assert counts._independent_sides(chances) is not None
    for _ in range(5):
        steps = int(rng.integers(5, 20))
        limits = rng.integers(steps // 3, steps + 1, graph.num_nodes).astype(float)
        walked = counts._step_by_step(chances, steps, limits)
        assert counts._exactly(chances, steps, limits) == pytest.approx(walked, rel=1e-11, abs=1e-15)


def test_a_star_may_have_any_chances_but_other_bipartite_graphs_may_not():
    """The two ends are independent on every star, and on a four-cycle only if the chances are a product."""
    assert counts._independent_sides(Chances(sv.graphs.star(4), [0.5, 0.3, 0.2])) is not None
    square = sv.graphs.cycle(4)
    assert counts._independent_sides(Chances(square, [0.4, 0.2, 0.2, 0.2])) is None
    assert counts._independent_sides(Chances(sv.graphs.cycle(6))) is None


@pytest.mark.parametrize("size", [2, 3, 5])
def test_complete_graphs_equal_the_walk(size):
    """Taking out node after node gives what the walk gives, with limits of their own for all nodes."""
    rng, graph = np.random.default_rng(size), sv.graphs.complete(size)
    for _ in range(4):
        steps = int(rng.integers(4, 16))
        limits = rng.integers(steps // 3, steps + 1, size).astype(float)
        walked = counts._step_by_step(Chances(graph), steps, limits)
        assert counts._complete(steps, limits) == pytest.approx(walked, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize(
    ("graph", "steps", "limits", "kept"),
    [
        (sv.graphs.complete(10), 26, 6, 0.0057),
        (sv.graphs.star(20), 90, [90, *[8] * 19], 0.342),
    ],
    ids=str,
)
def test_promises_that_count_one_node_only_are_rarely_kept(graph, steps, limits, kept):
    """Limits that one node keeps on average, or in 95 % of runs, are kept by all at once in so few runs."""
    found = count_probability(graph, steps, limits)
    assert found.exact
    assert found.low == pytest.approx(kept, rel=0.02)
    acted = sampled(graph, steps, 40_000, np.random.default_rng(1), uniform(graph))
    share = (acted <= np.asarray(limits)).all(axis=1).mean()
    assert abs(share - found.low) < 5 * math.sqrt(found.low * (1 - found.low) / 40_000)


@pytest.mark.parametrize("probability", [0.9, 0.99])
@pytest.mark.parametrize(
    ("graph", "steps"),
    [
        (sv.graphs.complete(10), 26),
        (sv.graphs.star(20), 90),
        (sv.graphs.cycle(10), 200),
        (sv.graphs.random_geometric(100, seed=1), 3620),
        (sv.graphs.barabasi_albert(40, 2, seed=3), 500),
    ],
    ids=str,
)
def test_limits_are_kept_as_often_as_promised_and_not_much_more_often(graph, steps, probability):
    """Joint limits hold in at least the promised share of runs; one less for every node breaks the promise."""
    replicas = 20_000
    acted = sampled(graph, steps, replicas, np.random.default_rng(5), uniform(graph))
    error = 4 * math.sqrt(probability * (1 - probability) / replicas)
    one = largest_count(graph, steps, probability)
    limits = count_limits(graph, steps, probability)
    assert (acted.max(axis=1) <= one).mean() >= probability - error
    assert one == steps or (acted.max(axis=1) <= one - 1).mean() <= probability + error
    assert (acted <= limits).all(axis=1).mean() >= probability - error
    assert (acted <= np.where(limits < steps, limits - 1, limits)).all(axis=1).mean() <= probability + error
    assert most_steps(graph, limits, probability) >= steps


@pytest.mark.parametrize("seed", range(8))
def test_most_steps_is_the_last_that_keeps_the_limits(seed):
    """With random chances: so many steps keep the promise, one more does not."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    chances = rng.dirichlet(np.ones(graph.num_edges))
    limits = rng.integers(1, 6, graph.num_nodes)
    steps = int(most_steps(graph, limits, 0.8, edge_probabilities=chances))
    assert count_probability(graph, steps, limits, edge_probabilities=chances).low >= 0.8
    assert count_probability(graph, steps + 1, limits, edge_probabilities=chances).low < 0.8


def test_long_runs_and_many_nodes():
    """A million steps, or ten thousand nodes, take no longer than a moment and the bounds nearly meet."""
    ring = sv.graphs.cycle(10_000)
    limit = largest_count(ring, 10**6, 0.95)
    low, high = count_probability(ring, 10**6, limit)
    assert 0.95 <= low <= high < low + 0.002
    assert count_probability(sv.graphs.star(50), 10**5, count_limits(sv.graphs.star(50), 10**5, 0.95)).low >= 0.95


def test_no_limit_and_no_steps():
    """Without limits nothing is exceeded; after no steps nobody has acted; a limit of zero holds for no step."""
    graph = sv.graphs.cycle(5)
    assert most_steps(graph, math.inf, 0.9) == math.inf
    assert count_probability(graph, 0, 0) == (1.0, 1.0)
    assert most_steps(graph, 0, 0.9) == 0.0
    assert count_probability(graph, 7, math.inf) == (1.0, 1.0)


def test_bad_input_is_named():
    """Each error names its parameter."""
    graph = sv.graphs.cycle(5)
    with pytest.raises(errors.InvalidParameter, match="limits"):
        count_probability(graph, 3, -1)
    with pytest.raises(errors.InvalidParameter, match="num_steps"):
        count_probability(graph, -3, 1)
    with pytest.raises(errors.InvalidParameter, match="probability"):
        largest_count(graph, 3, 1.0)
