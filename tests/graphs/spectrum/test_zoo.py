"""The algebraic connectivity of every graph of the zoo, with the optional multigrid solver and without it."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.graphs.spectrum import solvers
from sottovoce.graphs.spectrum.ritz import Problem

from ..zoo import ZOO


@pytest.fixture(params=[True, False], ids=["pyamg", "without"])
def multigrid(request, monkeypatch):
    """Whether pyamg is there."""
    if not request.param:
        monkeypatch.setattr(solvers, "has_multigrid", lambda: False)
    return request.param


@pytest.mark.parametrize("name", ZOO)
def test_small_specimens_agree_with_the_full_matrix(name, multigrid):
    """700 nodes, LAPACK on the dense Laplacian; relative to the largest eigenvalue it is exact to rounding."""
    graph, weights = ZOO[name](700)
    full = np.linalg.eigvalsh(graphs.laplacian(graph, weights).toarray())
    found = graphs.connectivity(graph, weights)
    assert abs(found.value - full[1]) <= found.error + 1e-13 * full[-1]
    assert found.digits >= 5


@pytest.mark.parametrize("name", ZOO)
def test_both_ways_agree_and_residuals_are_small(name, monkeypatch):
    """4 000 nodes: with pyamg and without it, seven digits, and the vector found is an eigenvector."""
    graph, weights = ZOO[name](4_000)
    one = graphs.connectivity(graph, weights)
    monkeypatch.setattr(solvers, "has_multigrid", lambda: False)
    other = graphs.connectivity(type(graph).from_edges(graph.edges), weights)
    assert one.value == pytest.approx(other.value, rel=1e-7)
    scale = Problem(graph.num_nodes, graph.edges, weights).norm_bound
    for found in (one, other):
        assert found.residual <= 1e-6 * scale
        assert found.digits >= 7


def test_the_factor_is_tried_where_multigrid_fails(monkeypatch):
    """A multigrid that returns nonsense is followed by the fill-reducing factor."""
    from sottovoce.graphs.spectrum.ritz import Estimate

    graph = graphs.random_geometric(2000, 0.06, seed=1)
    right = graphs.connectivity(graph).value
    monkeypatch.setattr("sottovoce.graphs.spectrum.lanczos.lanczos", lambda p, **_: None)
    monkeypatch.setattr(solvers, "multigrid", lambda p, **_: Estimate(1e-3, 1e-3, 1e-3))
    found = graphs.connectivity(type(graph).from_edges(graph.edges))
    assert found.solver == "factorised"
    assert found.value == pytest.approx(right, rel=1e-8)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ZOO)
def test_large_specimens_have_five_digits(name):
    """10⁵ nodes."""
    graph, weights = ZOO[name](100_000)
    assert graphs.connectivity(graph, weights).digits >= 5
