from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

from .settings import GRAPH, VALUES


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


def test_guaranteed_momentum_on_the_cycle():
    """On C₁₀ with ω = 1 the proof reaches up to β < 0.0046, and solves a₁ + a₂ = 1."""
    largest = sv.HeavyBallGossip.largest_guaranteed(sv.graphs.cycle(10))
    assert 0.0045 < largest < 0.0046
    low, high = 0.3819660112501051 / 20, 4 / 20
    assert 4 * largest + 4 * largest**2 + largest * (high - low) == pytest.approx(low)


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


@pytest.mark.parametrize("graph", [sv.graphs.cycle(6), sv.graphs.star(5), sv.graphs.complete(4)], ids=lambda g: g.name)
def test_mean_square_bound_holds_inside_the_guarantee(graph):
    """E‖x^k − c̄‖² ≤ q^k (1 + q − a₁)‖x⁰ − c̄‖² at 90 % of the largest guaranteed β, on ensembles."""
    values = np.random.default_rng(2).random(graph.num_nodes)
    beta = 0.9 * sv.HeavyBallGossip.largest_guaranteed(graph)
    eigenvalues = np.linalg.eigvalsh(sv.graphs.laplacian(graph).toarray()) / (2 * graph.num_edges)
    a1 = 1 + 3 * beta + 2 * beta**2 - (1 + beta) * eigenvalues[1]
    a2 = beta + 2 * beta**2 + beta * eigenvalues[-1]
    q = (a1 + np.sqrt(a1**2 + 4 * a2)) / 2
    run = sv.simulate(graph, values, sv.HeavyBallGossip(momentum=beta), num_steps=60, seed=4, replicas=2000, record=20)
    assert q < 1
    assert run.status is sv.Status.COMPLETED
    mean = run.relative_error.mean(axis=0)
    error = run.relative_error.std(axis=0) / np.sqrt(2000)
    assert (mean - 4 * error <= q**run.steps * (1 + q - a1)).all()


def test_mean_converges_at_the_accelerated_rate():
    """With β = (1 − √(0.99 λ))² the *expected* value converges at β; on C₁₀ that is 0.7439."""
    graph = sv.graphs.cycle(10)
    method = sv.HeavyBallGossip.for_mean(graph)
    assert method.momentum == pytest.approx(0.7439, abs=1e-4)
    values = np.random.default_rng(3).random(10)
    mean_map = np.eye(10) - sv.graphs.laplacian(graph).toarray() / 20
    x = before = values
    for _ in range(100):
        x, before = mean_map @ x + method.momentum * (x - before), x
    assert ((x - values.mean()) ** 2).sum() <= 1e3 * method.momentum**100 * ((values - values.mean()) ** 2).sum()
