from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods import accelerated
from sottovoce.methods.accelerated import effective_resistances, spread_of

from .settings import GRAPH, VALUES


def _untyped(graph):
    """The same graph without the family that shortcuts look up."""
    return sv.Graph.from_edges(graph.edges)


def test_known_spreads():
    """ν = n − 1 where all edges are alike, m on trees; shortcuts and eigenvalues agree."""
    for graph, nu in ((sv.graphs.cycle(10), 9), (sv.graphs.complete(6), 5), (sv.graphs.hypercube(3), 7)):
        assert spread_of(graph) == nu
        assert spread_of(_untyped(graph)) == pytest.approx(nu)
    assert spread_of(sv.graphs.star(7)) == 6 == spread_of(sv.graphs.path(7))


def test_factor_on_the_cycle():
    """C₁₀: 0.95393 a step, against 0.98090 for plain gossip."""
    assert sv.AcceleratedGossip().factor(sv.graphs.cycle(10)) == pytest.approx(0.95393, abs=5e-6)


def test_foster():
    """Effective resistances add up to n − 1."""
    assert effective_resistances(GRAPH).sum() == pytest.approx(GRAPH.num_nodes - 1)


def test_nothing_is_gained_on_complete_graphs():
    """μν = 1, so v stays with x and the run is that of standard gossip."""
    graph = sv.graphs.complete(8)
    run = sv.simulate(graph, VALUES, sv.AcceleratedGossip(), num_steps=100, seed=1)
    plain = sv.simulate(graph, VALUES, sv.StandardGossip(), num_steps=100, seed=1)
    np.testing.assert_allclose(run.values, plain.values, atol=1e-14)
    rho = 1 - sv.algebraic_connectivity(graph) / (2 * graph.num_edges)
    assert sv.AcceleratedGossip().factor(graph) == pytest.approx(rho)


@pytest.mark.parametrize(
    "graph", [sv.graphs.cycle(7), sv.graphs.star(5), GRAPH, sv.graphs.barbell(3, 1)], ids=lambda g: g.name
)
def test_potential_contracts_in_expectation(graph):
    """Averaged over all edges exactly, ‖v − x*‖²_{(EZ)⁺} + ‖x − x*‖²/μ shrinks by 1 − √(μ/ν), from any state."""
    method = sv.AcceleratedGossip()
    mu, _ = method.constants(graph)
    inverse = np.linalg.pinv(sv.graphs.laplacian(graph).toarray() / (2 * graph.num_edges))
    parameters = method.parameters(graph)

    def potential(nodes):
        x, v = nodes[:, 0], nodes[:, 0] + nodes[:, 1]
        return v @ inverse @ v + x @ x / mu

    rng = np.random.default_rng(1)
    for _ in range(20):
        start = method.initial(graph, rng.standard_normal(graph.num_nodes))
        start[:, 1] = rng.standard_normal(graph.num_nodes)
        start[:, :2] -= start[:, :2].mean(axis=0)  # x* = 0 for both
        after = []
        for i, j in graph.edges:
            nodes = start.copy()
            method.update(nodes, int(i), int(j), 0.0, 0.0, 0, parameters)
            method.settle(nodes, 1, parameters)
            after.append(potential(nodes))
        assert np.mean(after) <= method.factor(graph) * potential(start) * (1 + 1e-12)


def test_it_is_faster_where_it_should_be():
    """On C₄₀ the median error after 8 000 steps is orders below that of plain gossip."""
    graph = sv.graphs.cycle(40)
    values = np.random.default_rng(3).random(40)
    final = {}
    for method in (sv.StandardGossip(), sv.AcceleratedGossip()):
        run = sv.simulate(graph, values, method, num_steps=8000, seed=1, replicas=20, record=1)
        final[method.name] = np.median(run.relative_error[:, -1])
    assert final["accelerated"] < 1e-3 * final["standard"]


def test_bound_for_large_graphs_is_a_bound(monkeypatch):
    """Without dense matrices ν comes from triangles, and is never below the exact value."""
    for graph in (GRAPH, sv.graphs.random_geometric(30, seed=2)):
        exact = spread_of(graph)
        monkeypatch.setattr(accelerated, "DENSE_NODES", 3)
        spread_of.cache_clear()
        bound = spread_of(graph)
        monkeypatch.undo()
        spread_of.cache_clear()
        assert exact * (1 - 1e-12) <= bound <= graph.num_edges


def test_constants_beyond_the_proof_are_noted():
    """A given μ above α/(2m) or ν below the exact one runs outside the guarantee; safe ones do not."""
    graph = sv.graphs.cycle(10)
    assert sv.AcceleratedGossip(smallest_rate=0.1, spread=2.0).caveats(graph)[1].startswith("spread")
    assert sv.AcceleratedGossip(smallest_rate=0.01, spread=20.0).caveats(graph) == ()
