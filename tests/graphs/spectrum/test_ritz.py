"""Judging approximate eigenvectors: quotients, residuals and error bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce import graphs
from sottovoce.graphs.spectrum.ritz import Problem, error_bound

from ..strategies import connected_graphs


def eigenvectors(graph):
    values, vectors = np.linalg.eigh(graphs.laplacian(graph).toarray())
    return values, vectors


@given(connected_graphs(min_nodes=6), st.integers(0, 2**32 - 1), st.floats(-10, -1))
def test_the_error_bound_holds_for_disturbed_eigenvectors(graph, seed, exponent):
    """Whatever the disturbance: some eigenvalue lies within the bound, and never above the quotient's reach."""
    values, vectors = eigenvectors(graph)
    noise = np.random.default_rng(seed).standard_normal((graph.num_nodes, 3))
    ritz = Problem(graph.num_nodes, graph.edges).examine(vectors[:, 1:4] + 10**exponent * noise)
    found = ritz.estimate()
    assert found.value >= values[1] - 1e-12
    assert np.abs(values[1:] - found.value).min() <= found.error + 1e-12
    assert np.allclose(ritz.vectors.T @ ritz.vectors, np.eye(3), atol=1e-10)
    assert np.abs(ritz.vectors.sum(axis=0)).max() < 1e-10


@given(connected_graphs(min_nodes=6), st.integers(0, 2**32 - 1))
def test_residuals_and_quotients_are_those_of_the_matrix(graph, seed):
    """‖Lv − θv‖ and vᵀLv, computed here from the assembled matrix."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2, graph.num_edges)
    ritz = Problem(graph.num_nodes, graph.edges, weights).examine(rng.standard_normal((graph.num_nodes, 2)))
    matrix = graphs.laplacian(graph, weights).toarray()
    for value, residual, vector in zip(ritz.values, ritz.residuals, ritz.vectors.T, strict=True):
        assert vector @ matrix @ vector == pytest.approx(value, rel=1e-9)
        assert np.linalg.norm(matrix @ vector - value * vector) == pytest.approx(residual, rel=1e-7, abs=1e-10)


def test_quotients_keep_relative_accuracy_on_long_rings():
    """The exact eigenvector of cycle(10⁵), rounded to doubles, gives α = 4·10⁻⁹ to thirteen digits."""
    n = 10**5
    ring = graphs.cycle(n)
    vector = np.cos(2 * np.pi * np.arange(n) / n)
    found = Problem(n, ring.edges).examine(vector[:, None]).estimate()
    assert found.value == pytest.approx(4 * np.sin(np.pi / n) ** 2, rel=1e-11)


def test_the_bound_treats_multiple_eigenvalues_as_a_group():
    """Two equal values and a distant third: squares of residuals over the distance, not the residual itself."""
    assert error_bound(np.array([1.0, 1.0, 3.0]), np.array([1e-4, 1e-4, 0.1])) == pytest.approx(2e-8 / 1.9)
    assert error_bound(np.array([1.0, 1.0, 1.0]), np.array([1e-4, 1e-4, 1e-4])) == pytest.approx(1e-4)
