from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

import sottovoce as sv

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """Every connected component of the edges that fire takes its average."""
    x = replay.values
    yield x
    for ends in replay.sets(method.block_size):
        x = x.copy()
        for component in map(list, nx.connected_components(nx.Graph(ends.tolist()))):
            x[component] = x[component].mean()
        yield x


@pytest.mark.parametrize("size", [1, 4, 9])
def test_equation(size):
    """Compiled runs follow the equation, from one edge to all of them."""
    assert_equation(sv.BlockGossip(block_size=size), equation)


def test_sets_of_one_edge_are_standard_gossip():
    """Same seed, same edges, same bits."""
    run = sv.simulate(GRAPH, VALUES, sv.BlockGossip(block_size=1), num_steps=300, seed=5)
    plain = sv.simulate(GRAPH, VALUES, sv.StandardGossip(), num_steps=300, seed=5)
    np.testing.assert_array_equal(run.values, plain.values)
    np.testing.assert_array_equal(run.fired_edges()[:, 0], plain.fired_edges())


def test_all_edges_at_once_are_exact_after_one_step():
    """The whole graph is one component."""
    run = sv.simulate(GRAPH, VALUES, sv.BlockGossip(block_size=9), num_steps=1, seed=5)
    np.testing.assert_allclose(run.values, VALUES.mean(), atol=1e-15)


def test_every_set_is_equally_likely():
    """The 20 sets of 3 edges out of 6 appear equally often, each with distinct edges: χ² below its 99.99 % point."""
    graph = sv.graphs.cycle(6)
    run = sv.simulate(graph, np.zeros(6), sv.BlockGossip(block_size=3), num_steps=20_000, seed=8, record=1)
    fired = np.sort(run.fired_edges(), axis=1)
    sets = {chosen: k for k, chosen in enumerate(itertools.combinations(range(6), 3))}
    counts = np.bincount([sets[tuple(row)] for row in fired.tolist()], minlength=20)
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 51
    assert run.activations.sum() == 2 * 3 * 20_000


@pytest.mark.parametrize(
    "graph", [sv.graphs.cycle(12), sv.graphs.star(12), sv.graphs.complete(6)], ids=lambda g: g.name
)
def test_sets_shrink_the_error_more_than_their_edges_in_turn(graph):
    """With the same number of edges in all, sets of 4 leave a smaller mean error than single edges, and 8 than 4."""
    values = np.random.default_rng(9).random(graph.num_nodes)
    means = []
    for size in (1, 4, 8):
        method = sv.BlockGossip(block_size=size)
        run = sv.simulate(graph, values, method, num_steps=64 // size, seed=1, replicas=2000, record=1)
        means.append(run.relative_error[:, -1].mean())
    assert means[0] > means[1] > means[2]


@pytest.mark.parametrize("graph", [sv.graphs.path(6), sv.graphs.star(7), GRAPH], ids=lambda g: g.name)
@pytest.mark.parametrize("size", [1, 3])
def test_guarantee_of_single_edges_holds_for_sets(graph, size):
    """E‖x − c̄‖² ≤ ρ^k ‖c − c̄‖² with ρ = 1 − α/(2m), on ensembles of 2 000."""
    values = np.random.default_rng(4).random(graph.num_nodes)
    run = sv.simulate(graph, values, sv.BlockGossip(block_size=size), num_steps=40, seed=3, replicas=2000, record=10)
    rho = sv.BlockGossip(block_size=size).guarantee(graph).factor
    error = run.relative_error.std(axis=0) / np.sqrt(2000)
    assert (run.relative_error.mean(axis=0) - 4 * error <= rho**run.steps * (1 + 1e-12)).all()
