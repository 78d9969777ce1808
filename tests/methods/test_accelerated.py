from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods import accelerated
from sottovoce.methods.accelerated import effective_resistances, spread_of

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """y = a v + (1 − a) x; x ← y − g; v ← b v + (1 − b) y − γ g, with g = ½(y_i − y_j)(e_i − e_j)."""
    mu, nu = method.constants(replay.graph)
    b, gamma = 1.0 - np.sqrt(mu / nu), 1.0 / np.sqrt(mu * nu)
    a = 1.0 / (1.0 + gamma * nu)
    x = v = replay.values
    yield x
    for row in replay.edges():
        y = a * v + (1.0 - a) * x
        g = 0.5 * (row @ y) * row
        x, v = y - g, b * v + (1.0 - b) * y - gamma * g
        yield x


@pytest.mark.parametrize("given", [{}, {"smallest_rate": 0.005, "spread": 20.0}], ids=["exact", "given"])
def test_equation(given):
    """Compiled runs, in which nodes catch up later, follow the equation in which all move in every step."""
    assert_equation(sv.AcceleratedGossip(**given), equation)


def _untyped(graph):
    """The same graph without the family that shortcuts look up."""
    return sv.Graph.from_edges(graph.edges)


def test_acceleration_constants():
    """ν = n − 1 where all edges are alike, m on trees; shortcuts and eigenvalues agree."""
    for graph, nu in ((sv.graphs.cycle(10), 9), (sv.graphs.complete(6), 5), (sv.graphs.hypercube(3), 7)):
        assert spread_of(graph) == nu
        assert spread_of(_untyped(graph)) == pytest.approx(nu)
    assert spread_of(sv.graphs.star(7)) == 6 == spread_of(sv.graphs.path(7))


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
        assert np.mean(after) <= method.guarantee(graph).factor * potential(start) * (1 + 1e-12)


def test_acceleration_contracts_in_one_step():
    """With edges of unequal chances, E[‖v⁺‖²_{(EZ)⁺} + ‖x⁺‖²/μ] ≤ (1 − √(μ/ν)) times the same before."""
    graph, rng = sv.graphs.barbell(3, 1), np.random.default_rng(6)
    chances = rng.dirichlet(np.ones(graph.num_edges))
    found = sv.theory.acceleration(graph, edge_probabilities=chances)
    vectors = np.eye(graph.num_nodes)[graph.edges[:, 0]] - np.eye(graph.num_nodes)[graph.edges[:, 1]]
    inverse = np.linalg.pinv(sum(0.5 * p * np.outer(b, b) for p, b in zip(chances, vectors, strict=True)))
    b_share, gamma = 1 - np.sqrt(found.mu / found.nu), 1 / np.sqrt(found.mu * found.nu)
    a_share = 1 / (1 + gamma * found.nu)
    for _ in range(30):
        x, v = rng.normal(size=(2, graph.num_nodes))
        x, v = x - x.mean(), v - v.mean()
        before, after = v @ inverse @ v + x @ x / found.mu, 0.0
        y = a_share * v + (1 - a_share) * x
        for p, b in zip(chances, vectors, strict=True):
            g = 0.5 * (b @ y) * b
            x_next, v_next = y - g, b_share * v + (1 - b_share) * y - gamma * g
            after += p * (v_next @ inverse @ v_next + x_next @ x_next / found.mu)
        assert after <= found.factor * before * (1 + 1e-9)


def test_equal_chances_are_no_chances():
    """Probabilities that are all equal give the constants of the graph, by another way."""
    for graph in (GRAPH, sv.graphs.cycle(10), sv.graphs.star(7)):
        equal = np.full(graph.num_edges, 1 / graph.num_edges)
        weighted = sv.theory.acceleration(graph, edge_probabilities=equal)
        assert weighted == pytest.approx(sv.theory.acceleration(graph), rel=1e-9)


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
    beyond = sv.AcceleratedGossip(smallest_rate=0.1, spread=2.0)
    assert beyond.caveats(graph)[1].startswith("spread")
    assert beyond.guarantee(graph).factor is None
    assert sv.AcceleratedGossip(smallest_rate=0.01, spread=20.0).caveats(graph) == ()
