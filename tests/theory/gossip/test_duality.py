"""Primal, dual, flows, and the equivalence with randomized Kaczmarz."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.theory.gossip import duality

GRAPH = sv.graphs.random_geometric(12, seed=5)
VALUES = np.random.default_rng(0).normal(size=12)


def test_gap_identity() -> None:
    """D(y*) − D(y) = ½‖x(y) − c̄‖² for any y, with D(y*) = P(c̄) by strong duality."""
    rng = np.random.default_rng(1)
    best = duality.primal_value(VALUES, np.full(12, VALUES.mean()))
    for _ in range(10):
        y = rng.normal(size=GRAPH.num_edges)
        x = duality.values_of_duals(GRAPH, VALUES, y)
        gap = best - duality.dual_value(GRAPH, VALUES, y)
        assert gap == pytest.approx(0.5 * np.sum((x - VALUES.mean()) ** 2))
        assert gap == pytest.approx(duality.dual_gap(GRAPH, VALUES, y))


def test_weak_duality_and_its_end() -> None:
    """D(y) never exceeds the optimal primal value and reaches it at the flows that lead to consensus."""
    consensus = np.full(12, VALUES.mean())
    y = duality.duals_of_values(GRAPH, VALUES, consensus)
    np.testing.assert_allclose(duality.values_of_duals(GRAPH, VALUES, y), consensus, atol=1e-12)
    assert duality.dual_value(GRAPH, VALUES, y) == pytest.approx(duality.primal_value(VALUES, consensus))
    assert duality.dual_gap(GRAPH, VALUES, y) < 1e-20


def test_shortest_duals_are_shortest() -> None:
    """Adding a circulation to the least-energy flows keeps the values and lengthens the flows."""
    ring = sv.graphs.cycle(5)
    target = np.array([1.0, 0.0, 0.0, 0.0, -1.0])
    y = duality.duals_of_values(ring, np.zeros(5), target)
    around = np.array([1.0 if j == i + 1 else -1.0 for i, j in ring.edges])
    np.testing.assert_allclose(duality.values_of_duals(ring, np.zeros(5), y + around), target, atol=1e-12)
    assert abs(y @ around) < 1e-12
    with pytest.raises(InvalidParameter, match="same sum"):
        duality.duals_of_values(ring, np.zeros(5), np.ones(5))


def test_flows_of_a_run_give_its_values() -> None:
    """Replaying the fired edges of a simulated run: c + Aᵀy are the run's values, and each step raised the dual."""
    run = sv.simulate(GRAPH, VALUES, sv.StandardGossip(), num_steps=60, seed=4, threads=1, progress=False)
    fired = run.fired_edges()
    y = sv.theory.edge_duals(GRAPH, VALUES, fired)
    np.testing.assert_allclose(duality.values_of_duals(GRAPH, VALUES, y), run.values, atol=1e-12)
    heights = [duality.dual_value(GRAPH, VALUES, sv.theory.edge_duals(GRAPH, VALUES, fired[:k])) for k in range(61)]
    assert (np.diff(heights) >= -1e-12).all()


def algorithm_one(fired: np.ndarray, draws: np.ndarray, std: float, decay: float) -> tuple[np.ndarray, ...]:
    """Algorithm 1 as printed, with its own counters; also the fresh noise of every step."""
    x, outstanding, count, fresh = VALUES.copy(), np.zeros(12), np.zeros(12), np.zeros((len(fired), 2))
    for t, edge in enumerate(fired):
        for side, node in enumerate(GRAPH.edges[edge]):
            fresh[t, side] = std * decay ** count[node] * draws[t, side]
            x[node] += fresh[t, side] - outstanding[node]
            outstanding[node] = fresh[t, side]
            count[node] += 1
        x[GRAPH.edges[edge]] = x[GRAPH.edges[edge]].mean()
    return x, outstanding, fresh


def test_flows_under_noise() -> None:
    """With noise x = c + u + Aᵀy exactly, so that the dual gap of the flows is ½‖x − u − c̄‖²."""
    rng = np.random.default_rng(2)
    fired, draws = rng.integers(0, GRAPH.num_edges, 80), rng.normal(size=(80, 2))
    x, outstanding, fresh = algorithm_one(fired, draws, 1.5, 0.8)
    y = sv.theory.edge_duals(GRAPH, VALUES, fired, fresh)
    np.testing.assert_allclose(duality.values_of_duals(GRAPH, VALUES, y) + outstanding, x, atol=1e-12)
    assert duality.dual_gap(GRAPH, VALUES, y) == pytest.approx(0.5 * np.sum((x - outstanding - VALUES.mean()) ** 2))
    with pytest.raises(InvalidParameter, match="fresh_noise"):
        sv.theory.edge_duals(GRAPH, VALUES, fired, fresh[:3])


def test_gossip_is_randomized_kaczmarz() -> None:
    """Projecting onto one row of A x = 0 at a time gives the same iterates as standard gossip on the same edges."""
    run = sv.simulate(GRAPH, VALUES, sv.StandardGossip(), num_steps=200, seed=8, threads=1, progress=False)
    rows, x = duality.incidence(GRAPH).toarray(), VALUES.copy()
    for edge in run.fired_edges():
        row = rows[edge]
        x = x - (row @ x) / (row @ row) * row
    np.testing.assert_allclose(run.values, x, atol=1e-12)
