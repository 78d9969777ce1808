from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """x − ω ½(x_i − x_j)(e_i − e_j) + β(x − x_prev)."""
    x = before = replay.values
    yield x
    for row in replay.edges():
        x, before = x - method.relaxation * 0.5 * (row @ x) * row + method.momentum * (x - before), x
        yield x


@pytest.mark.parametrize(("momentum", "relaxation"), [(0.4, 1.2), (0.0, 0.7), (0.7, 1.0)])
def test_equation(momentum, relaxation):
    """Compiled runs, in which nodes catch up later, follow the equation in which all move in every step."""
    assert_equation(sv.HeavyBallGossip(momentum, relaxation), equation)


def test_only_the_touched_rows_change():
    """A step writes two rows of the table, whatever n is, although every node's value moves."""
    graph = sv.graphs.cycle(50)
    values = np.random.default_rng(0).random(50)
    for method in (sv.HeavyBallGossip(momentum=0.5), sv.AcceleratedGossip()):
        before = sv.simulate(graph, values, method, num_steps=400, seed=1, record=1)
        after = before.resume(1, record=1)
        assert (before.tables != after.tables).any(axis=-1).sum() == 2
        assert (before.values != after.values).sum() > 40


def test_nothing_becomes_denormal():
    """Long after convergence every entry is zero or an ordinary number: denormal ones cost a hundred times as much."""
    for method in (sv.HeavyBallGossip(momentum=0.5), sv.AcceleratedGossip()):
        run = sv.simulate(sv.graphs.cycle(10), np.arange(10.0), method, num_steps=100_000, seed=1, record=1)
        sizes = np.abs(run.tables[run.tables != 0])
        assert sizes.min() >= np.finfo(np.float64).tiny


def test_without_momentum_it_is_standard_gossip():
    """β = 0 and ω = 1 give the plain average, and no caveat."""
    run = sv.simulate(GRAPH, VALUES, sv.HeavyBallGossip(momentum=0.0), num_steps=200, seed=3)
    plain = sv.simulate(GRAPH, VALUES, sv.StandardGossip(), num_steps=200, seed=3)
    np.testing.assert_allclose(run.values, plain.values, atol=1e-15)
    assert run.status is sv.Status.COMPLETED


def test_large_graphs_need_no_spectrum_to_say_so(monkeypatch):
    """Usual momentum on a large graph is outside the guarantee by degrees alone; the bound is a bound."""
    for graph in (GRAPH, sv.graphs.cycle(10), sv.graphs.complete(6), sv.graphs.star(5)):
        method = sv.HeavyBallGossip(momentum=0.5, relaxation=1.3)
        assert method._largest_conceivable(graph) >= method.largest_guaranteed(graph, 1.3)
    monkeypatch.setattr(sv.HeavyBallGossip, "largest_guaranteed", None)
    assert sv.HeavyBallGossip(momentum=0.4).caveats(sv.graphs.cycle(2001))


def test_divergence_is_a_status():
    """Undamped settings blow up, and the status says diverged instead of raising."""
    method = sv.HeavyBallGossip(momentum=0.99, relaxation=1.99)
    run = sv.simulate(sv.graphs.complete(6), np.arange(6.0), method, num_steps=300_000, seed=1, record=1)
    assert run.status is sv.Status.DIVERGED


def test_momentum_outside_the_guarantee_runs_and_says_so():
    """β = 0.4 converges faster than plain gossip, and its status is outside the guarantee."""
    graph = sv.graphs.cycle(20)
    values = np.random.default_rng(1).random(20)
    run = sv.simulate(graph, values, sv.HeavyBallGossip(momentum=0.4), num_steps=3000, seed=1, replicas=50)
    plain = sv.simulate(graph, values, sv.StandardGossip(), num_steps=3000, seed=1, replicas=50)
    assert run.status is sv.Status.OUTSIDE_GUARANTEE
    assert "momentum 0.4" in run.notes[0]
    assert np.median(run.relative_error[:, -1]) < 0.1 * np.median(plain.relative_error[:, -1])


def edge_vectors(graph):
    """b_e = e_i − e_j of every edge."""
    return np.eye(graph.num_nodes)[graph.edges[:, 0]] - np.eye(graph.num_nodes)[graph.edges[:, 1]]


@pytest.mark.parametrize("graph", [sv.graphs.cycle(10), sv.graphs.star(5), sv.graphs.complete(4)], ids=lambda g: g.name)
def test_heavy_ball_factor_bounds_the_exact_second_moments(graph):
    """At 90 % of the largest guaranteed β, exact E‖x^k − c̄‖² stays below q^k (1 + q − a₁) ‖x⁰ − c̄‖²."""
    n, beta = graph.num_nodes, 0.9 * sv.HeavyBallGossip.largest_guaranteed(graph)
    method = sv.HeavyBallGossip(momentum=beta)
    q = method.guarantee(graph).factor
    assert q == sv.theory.heavy_ball_factor(graph, beta) < 1
    low = sv.algebraic_connectivity(graph) / (2 * graph.num_edges)
    first = 1 + 3 * beta + 2 * beta**2 - (1 + beta) * low
    x = np.random.default_rng(5).normal(size=n)
    moments = np.outer(np.tile(x - x.mean(), 2), np.tile(x - x.mean(), 2))
    start, eye, zero = np.trace(moments[:n, :n]), np.eye(n), np.zeros((n, n))
    steps = [
        np.block([[(1 + beta) * eye - 0.5 * np.outer(b, b), -beta * eye], [eye, zero]]) for b in edge_vectors(graph)
    ]
    for k in range(1, 120):
        moments = sum(step @ moments @ step.T for step in steps) / graph.num_edges
        assert np.trace(moments[:n, :n]) <= q**k * (1 + q - first) * start


@pytest.mark.parametrize("graph", [GRAPH, sv.graphs.cycle(10), sv.graphs.complete(5)], ids=lambda g: g.name)
@pytest.mark.parametrize("relaxation", [0.7, 1.0, 1.4])
def test_largest_guaranteed_momentum_is_where_the_factor_reaches_one(graph, relaxation):
    """β* solves factor = 1, and from there on nothing is promised."""
    largest = sv.HeavyBallGossip.largest_guaranteed(graph, relaxation)
    assert sv.theory.heavy_ball_factor(graph, largest, relaxation) == pytest.approx(1.0, abs=1e-12)
    assert sv.HeavyBallGossip(1.01 * largest, relaxation).guarantee(graph) == sv.methods.Guarantee()


def test_heavy_ball_mean():
    """With the momentum of for_mean the companion matrix of E x has spectral radius √β on disagreement."""
    graph = sv.graphs.cycle(10)
    beta = sv.HeavyBallGossip.for_mean(graph).momentum
    mean = np.eye(10) - sum(np.outer(b, b) for b in edge_vectors(graph)) / 20
    centre = np.eye(10) - 0.1
    companion = np.block([[(1 + beta) * centre - (np.eye(10) - mean), -beta * centre], [centre, np.zeros((10, 10))]])
    assert np.abs(np.linalg.eigvals(companion)).max() == pytest.approx(np.sqrt(beta), rel=1e-6)
    assert sv.theory.heavy_ball_factor(graph, beta) > 1


def test_largest_eigenvalue_of_large_graphs(monkeypatch):
    """Beyond 500 nodes an iteration finds what the dense solver finds."""
    graph = sv.graphs.random_geometric(60, seed=1)
    dense = sv.theory.heavy_ball_factor(graph, 0.01)
    monkeypatch.setattr("sottovoce.methods.heavy_ball.DENSE_NODES", 10)
    assert sv.theory.heavy_ball_factor(graph, 0.01) == pytest.approx(dense, rel=1e-12)


def test_bad_input_is_named():
    """Momentum of 1 and relaxation of 2 are refused by the formulas as by the method."""
    for call, says in (
        (lambda: sv.theory.heavy_ball_factor(GRAPH, 1.0), r"momentum .* \[0, 1\)"),
        (lambda: sv.theory.heavy_ball_momentum(GRAPH, 2.0), r"relaxation .* \(0, 2\)"),
    ):
        with pytest.raises(InvalidParameter, match=says):
            call()


@pytest.mark.parametrize(
    "graph", [sv.graphs.complete(2), sv.graphs.complete(3), sv.graphs.path(4)], ids=lambda g: g.name
)
@pytest.mark.parametrize("relaxation", [0.3, 1.0, 1.5, 1.95])
def test_mean_converges_at_the_momentum_for_every_relaxation(graph, relaxation):
    """With heavy_ball_momentum the mean of x follows a companion matrix of spectral radius √β, also for ω > 1."""
    beta = sv.theory.heavy_ball_momentum(graph, relaxation)
    size = graph.num_nodes
    centre = np.eye(size) - 1 / size
    pull = relaxation * sum(np.outer(b, b) for b in edge_vectors(graph)) / (2 * graph.num_edges)
    companion = np.block([[(1 + beta) * centre - pull, -beta * centre], [centre, np.zeros((size, size))]])
    assert np.abs(np.linalg.eigvals(companion)).max() <= np.sqrt(beta) * (1 + 1e-6) + 1e-9
