from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

from .settings import GRAPH, VALUES, off_average

GRAPHS = [sv.graphs.cycle(6), sv.graphs.star(5), GRAPH]


def spread(graph, values):
    return np.abs(values[..., graph.edges[:, 0]] - values[..., graph.edges[:, 1]]).mean(axis=-1)


def _spreads_of_ensemble(graph, values, method, num_steps, replicas=300):
    """E L^t for t = 0..num_steps − 1, estimated."""
    run = sv.simulate(graph, values, method, num_steps=1, seed=9, replicas=replicas)
    means = [spread(graph, values), spread(graph, run.values).mean()]
    for _ in range(num_steps - 2):
        run = run.resume(1)
        means.append(spread(graph, run.values).mean())
    return np.array(means)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: g.name)
def test_horizon_optimal_step_keeps_its_promise(graph):
    """min_t E L^t ≤ 2√(R/k) for the step made for k steps."""
    values = np.random.default_rng(1).random(graph.num_nodes)
    initial, k = 0.5 * off_average(values), 40
    method = sv.BinaryOracle.for_horizon(initial_error=initial, num_steps=k)
    assert method.step_size == pytest.approx(np.sqrt(initial / k))
    assert _spreads_of_ensemble(graph, values, method, k).min() <= 2 * np.sqrt(initial / k)


@pytest.mark.parametrize("rule", ["0.3/t", "0.3/sqrt(t)", "0.3/sqrt(t+1)"])
def test_shrinking_steps_keep_the_general_bound(rule):
    """min_t E L^t ≤ (G₀ + Σ λ²)/Σ λ for any steps; a/√(t+1) from t = 0 is a/√t from t = 1."""
    method, k = sv.BinaryOracle(step_size=rule), 40
    sizes = np.array([method.step_at(t) for t in range(k)])
    power = 1.0 if rule == "0.3/t" else 0.5
    np.testing.assert_allclose(sizes, 0.3 / np.arange(1, k + 1) ** power)
    bound = (0.5 * off_average(VALUES) + (sizes**2).sum()) / sizes.sum()
    assert _spreads_of_ensemble(GRAPH, VALUES, method, k).min() <= bound


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: g.name)
@pytest.mark.parametrize(("rule", "share"), [("adaptive", 0.5), ("L/4", 0.25)])
def test_adaptive_step_contracts_in_expectation(graph, rule, share):
    """Averaged over all edges exactly, ‖x − c̄‖² shrinks by 1 − 2s(1 − s)α/m² or more: s = ½ gives 1 − α/(2m²)."""
    method = sv.BinaryOracle(step_size=rule)
    assert method.adaptive_share == share
    parameters = method.parameters(graph)
    factor = 1 - 2 * share * (1 - share) * sv.algebraic_connectivity(graph) / graph.num_edges**2
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = rng.standard_normal(graph.num_nodes)
        after = []
        for i, j in graph.edges:
            nodes = method.initial(graph, values)
            method.update(nodes, int(i), int(j), 0.0, 0.0, 0, parameters)
            after.append(off_average(nodes[:, 0]))
        assert np.mean(after) <= factor * off_average(values) * (1 + 1e-12)


def test_running_sum_does_not_drift():
    """After 200 000 adaptive steps the sum kept from edge to edge is the sum over all edges."""
    graph = sv.graphs.random_geometric(40, seed=3)
    values = np.random.default_rng(4).random(40)
    method = sv.BinaryOracle(step_size="L/4")
    for steps in (5_001, 200_001):
        run = sv.simulate(graph, values, method, num_steps=steps, seed=1, record=1)
        kept = run.tables[0, 0, 0, 1] / graph.num_edges
        assert kept == pytest.approx(spread(graph, run.values), rel=1e-8, abs=1e-15)


def test_ties_move_the_second_end_up():
    """Equal ends are treated as x_i ≥ x_j."""
    graph = sv.graphs.path(2)
    run = sv.simulate(graph, [1.0, 1.0], sv.BinaryOracle(step_size=0.25), num_steps=1, seed=1)
    assert run.values.tolist() == [0.75, 1.25]
