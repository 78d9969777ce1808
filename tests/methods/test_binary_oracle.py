from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter

from .equations import assert_equation
from .settings import GRAPH, VALUES, off_average

GRAPHS = [sv.graphs.cycle(6), sv.graphs.star(5), GRAPH]


def equation(method, replay):
    """The smaller end goes up by λ_t and the larger down; an adaptive λ_t is a share of the mean difference."""
    x, edges = replay.values, replay.graph.edges
    yield x
    for step, row in enumerate(replay.edges()):
        level = np.abs(x[edges[:, 0]] - x[edges[:, 1]]).mean()
        size = level * method.adaptive_share if method.adaptive else method.step_at(step)
        x = x + (size if row @ x < 0 else -size) * row
        yield x


@pytest.mark.parametrize("step_size", [0.03, "2/t", "0.3/sqrt(t)", "adaptive", "L/4"])
def test_equation(step_size):
    """Compiled runs follow the equation, for every kind of step."""
    assert_equation(sv.BinaryOracle(step_size=step_size), equation)


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
    step, bound = sv.theory.best_binary_step(initial, k)
    assert method.step_size == step
    assert _spreads_of_ensemble(graph, values, method, k).min() <= bound


@pytest.mark.parametrize("rule", ["0.3/t", "0.3/sqrt(t)", "0.3/sqrt(t+1)"])
def test_shrinking_steps_keep_the_general_bound(rule):
    """min_t E L^t ≤ (G₀ + Σ λ²)/Σ λ for any steps; a/√(t+1) from t = 0 is a/√t from t = 1."""
    method, k = sv.BinaryOracle(step_size=rule), 40
    sizes = np.array([method.step_at(t) for t in range(k)])
    power = 1.0 if rule == "0.3/t" else 0.5
    np.testing.assert_allclose(sizes, 0.3 / np.arange(1, k + 1) ** power)
    bound = sv.theory.binary_oracle_bound(0.5 * off_average(VALUES), sizes)
    assert _spreads_of_ensemble(GRAPH, VALUES, method, k).min() <= bound


def test_binary_oracle_changes_the_error_by_what_the_bound_adds_up():
    """Averaged over edges, one step changes G = ½‖x − c̄‖² by exactly −λL + λ²."""
    graph, x, step = sv.graphs.star(5), np.array([0.0, 3.0, -1.0, 0.5, 2.0]), 0.3
    method = sv.BinaryOracle(step_size=step)
    after = []
    for i, j in graph.edges:
        nodes = method.initial(graph, x)
        method.update(nodes, int(i), int(j), 0.0, 0.0, 0, method.parameters(graph))
        after.append(0.5 * off_average(nodes[:, 0]))
    assert np.mean(after) == pytest.approx(0.5 * off_average(x) - step * spread(graph, x) + step**2)


def test_binary_oracle_bounds_fit_together():
    """The best constant step meets its closed bound and others do not; the 1/√t bound covers the plain sum."""
    step, bound = sv.theory.best_binary_step(4.0, 50)
    assert sv.theory.binary_oracle_bound(4.0, np.full(50, step)) == pytest.approx(bound)
    for worse in (0.9 * step, 1.1 * step):
        assert sv.theory.binary_oracle_bound(4.0, np.full(50, worse)) > bound
    for last in (0, 5, 1000):
        plain = sv.theory.binary_oracle_bound(2.0, 0.7 / np.sqrt(np.arange(last + 1) + 1))
        assert plain <= sv.theory.inverse_root_binary_bound(2.0, 0.7, last)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sv.theory.binary_oracle_bound(1.0, []), "step_sizes"),
        (lambda: sv.theory.best_binary_step(0.0, 5), "error_limit"),
        (lambda: sv.BinaryOracle.for_horizon(initial_error=0.0, num_steps=5), "initial_error"),
        (lambda: sv.BinaryOracle.for_horizon(initial_error=1.0, num_steps=0), "num_steps"),
        (lambda: sv.theory.adaptive_binary_factor(GRAPH, 1.0), "share"),
    ],
)
def test_bad_input_is_named(call, says):
    """The error names the parameter as the caller knows it."""
    with pytest.raises(InvalidParameter, match=says):
        call()


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: g.name)
@pytest.mark.parametrize(("rule", "share"), [("adaptive", 0.5), ("L/4", 0.25)])
def test_adaptive_binary_factor(graph, rule, share):
    """Averaged over all edges exactly, ‖x − c̄‖² shrinks by 1 − 2s(1 − s)α/m² or more: s = ½ gives 1 − α/(2m²)."""
    method = sv.BinaryOracle(step_size=rule)
    assert method.adaptive_share == share
    parameters = method.parameters(graph)
    factor = method.guarantee(graph).factor
    assert factor == pytest.approx(1 - 2 * share * (1 - share) * sv.algebraic_connectivity(graph) / graph.num_edges**2)
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = rng.standard_normal(graph.num_nodes)
        after = []
        for i, j in graph.edges:
            nodes = method.initial(graph, values)
            method.update(nodes, int(i), int(j), 0.0, 0.0, 0, parameters)
            after.append(off_average(nodes[:, 0]))
        assert np.mean(after) <= factor * off_average(values) * (1 + 1e-12)


def test_other_steps_promise_nothing():
    """Neither a constant nor a shrinking step has a known factor or limit."""
    for size in (0.1, "1/t"):
        assert sv.BinaryOracle(step_size=size).guarantee(GRAPH) == sv.methods.Guarantee()


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
