"""How likely edges are to fire, against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce import graphs
from sottovoce.errors import InvalidParameter
from sottovoce.graphs.chances import Chances, checked_probabilities, node_clocks

from .strategies import connected_graphs


@given(connected_graphs(), st.integers(0, 2**32 - 1), st.booleans())
def test_they_are_the_mean_of_one_step(graph, seed, equal):
    """L_p is the mean of b_e b_eᵀ, p_i its diagonal, and ρ the second eigenvalue of I − L_p/2."""
    weights = np.random.default_rng(seed).uniform(0.01, 1, graph.num_edges)
    chances = Chances(graph) if equal else Chances(graph, weights / weights.sum())
    probabilities = np.full(graph.num_edges, 1 / graph.num_edges) if equal else weights / weights.sum()
    mean = np.zeros((graph.num_nodes, graph.num_nodes))
    for p, (i, j) in zip(probabilities, graph.edges, strict=True):
        b = np.zeros(graph.num_nodes)
        b[[i, j]] = 1, -1
        mean += p * np.outer(b, b)
    np.testing.assert_allclose(chances.laplacian.toarray(), mean, atol=1e-14)
    np.testing.assert_allclose(chances.nodes, mean.diagonal(), rtol=1e-12)
    rates = np.linalg.eigvalsh(np.eye(graph.num_nodes) - mean / 2)
    assert 1 - chances.contraction_gap == pytest.approx(rates[-2], rel=1e-9)


def test_edges_that_never_fire_may_leave_pieces():
    """Then nothing contracts; a ring without one edge is a path."""
    ring = graphs.cycle(6)
    assert Chances(ring, [0.2] * 5 + [0.0]).alpha == pytest.approx(0.2 * graphs.algebraic_connectivity(graphs.path(6)))
    assert Chances(ring, [0.25, 0.25, 0.0, 0.25, 0.25, 0.0]).contraction_gap == 0.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0.5, 0.5], r"one entry per edge \(3\), got shape \(2,\)"),
        ([1.5, -0.5, 0.0], "must be ≥ 0, got -0.5"),
        ([0.5, np.nan, 0.5], "must be ≥ 0, got nan"),
        ([0.5, 0.5, 0.5], "must sum to 1, got 1.5"),
    ],
)
def test_bad_probabilities_are_refused(given, message):
    """One number ≥ 0 per edge, with sum one."""
    with pytest.raises(InvalidParameter, match=message):
        Chances(graphs.cycle(3), given)


def test_equal_clocks_on_a_regular_graph_are_equal_edges():
    """Where every node has as many neighbours, clocks of the same rate fire all edges equally often."""
    np.testing.assert_allclose(node_clocks(graphs.cycle(7), np.full(7, 3.0)), 1 / 7)
    np.testing.assert_allclose(Chances(graphs.star(5), node_clocks(graphs.star(5), [4, 0, 0, 0, 0])).nodes[1:], 0.25)


@pytest.mark.parametrize("rates", [[1.0, 1.0], [1.0, -1.0, 1.0], [0.0, 0.0, 0.0], 1.0])
def test_clocks_need_a_rate_for_every_node(rates):
    """One number ≥ 0 per node, and one above 0."""
    with pytest.raises(InvalidParameter, match="rates must be"):
        node_clocks(graphs.cycle(3), rates)


def test_probabilities_in_single_precision_are_taken():
    """They sum to one in their own digits, and are made to in ours; what is off by more is refused."""
    ring = graphs.cycle(300)
    chances = np.random.default_rng(0).random(300).astype(np.float32)
    chances /= chances.sum()
    found = checked_probabilities(chances, 300)
    assert found.dtype == np.float64
    assert abs(found.sum() - 1) < 1e-14
    assert Chances(ring, chances).alpha == pytest.approx(Chances(ring, found).alpha)
    with pytest.raises(InvalidParameter, match=r"must sum to 1, got 1.0001"):
        checked_probabilities(chances * np.float32(1.0001), 300)
    with pytest.raises(InvalidParameter, match="must sum to 1"):
        checked_probabilities(chances.astype(np.float64) * (1 + 1e-6), 300)
