"""Theory and simulation meet: the exact expectation lies inside the confidence band of large ensembles.

The slow ones are the φ of Figure 1 with 10⁵ runs of C₁₀ and 10⁴ of RGG(100).
"""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

CYCLE = sv.graphs.cycle(10)
GEOMETRIC = sv.graphs.random_geometric(100, seed=1)

CASES = [
    pytest.param(CYCLE, sv.StandardGossip(), 200, 4000, id="cycle, standard"),
    pytest.param(CYCLE, sv.NoiseInsertion(1.0, 0.98), 600, 4000, id="cycle, φ = 0.98"),
    pytest.param(CYCLE, sv.NoiseInsertion(1.0, 0.0), 150, 4000, id="cycle, φ = 0"),
    pytest.param(CYCLE, sv.NoiseInsertion.largest_free(CYCLE, 1.0), 300, 4000, id="cycle, largest free φ"),
    pytest.param(GEOMETRIC, sv.NoiseInsertion(1.0, 0.9), 4000, 600, id="geometric, φ = 0.9"),
    pytest.param(GEOMETRIC, sv.NoiseInsertion.largest_free(GEOMETRIC, 1.0), 4000, 500, id="geometric, largest free φ"),
    *(
        pytest.param(
            graph, sv.NoiseInsertion(1.0, decay), steps, runs, id=f"{name}, φ = {decay}", marks=pytest.mark.slow
        )
        for name, graph, steps, runs, decays in (
            ("cycle, φ of Figure 1", CYCLE, 300, 100_000, (0.001, 0.01, 0.1, 0.5, 0.9, 0.98)),
            ("geometric, φ of Figure 1", GEOMETRIC, 6000, 10_000, (0.001, 0.5, 0.9, 0.995)),
        )
        for decay in decays
    ),
]

BY_HAND = {  # equal private values, σ = 1, φ = 0.7: E ½‖x − c̄‖² after 1, 2, … steps, to four digits
    "K2": (sv.graphs.complete(2), [0.5, 0.245, 0.12005]),
    "P3": (sv.graphs.path(3), [0.5000, 0.4962, 0.4318, 0.3529]),
    "C5": (sv.graphs.cycle(5), [0.5000, 0.7480, 0.8504, 0.8684]),
    "star with 4 leaves": (sv.graphs.star(5), [0.5000, 0.6219, 0.6587, 0.6608]),
}


def assert_inside(graph: sv.Graph, values: np.ndarray, method: sv.Method, run: sv.Solution, **more: object) -> None:
    """The ensemble mean of ½‖x − c̄‖² is within 4.5 standard errors of the expectation at every recorded step."""
    half = 0.5 * run.squared_error
    expected = sv.theory.expected_error(graph, values, method, at=run.steps, **more)  # type: ignore[arg-type]
    error = half.std(axis=0, ddof=1) / np.sqrt(half.shape[0])
    off = np.abs(half.mean(axis=0) - expected) / np.maximum(error, 1e-12 * expected.max())
    assert off.max() < 4.5
    assert error[-1] < 0.2 * expected[-1], "the band is too wide to tell anything"


@pytest.mark.parametrize(("graph", "method", "num_steps", "replicas"), CASES)
def test_expectation_is_the_ensemble_mean(graph: sv.Graph, method: sv.Method, num_steps: int, replicas: int) -> None:
    """On both graphs of the paper, at sixteen steps of each run."""
    values = np.random.default_rng(7).random(graph.num_nodes)
    run = sv.simulate(
        graph, values, method, num_steps=num_steps, seed=11, replicas=replicas, record=16, threads=1, progress=False
    )
    assert_inside(graph, values, method, run)


@pytest.mark.parametrize("name", BY_HAND)
def test_engine_and_theory_equal_a_table_worked_out_by_hand(name: str) -> None:
    """The mean of 10⁵ runs within four standard errors, the exact expectation to the table's four digits."""
    graph, expected = BY_HAND[name]
    steps, values, method = np.arange(1, len(expected) + 1), np.full(graph.num_nodes, 3.0), sv.NoiseInsertion(1.0, 0.7)
    np.testing.assert_allclose(sv.theory.expected_error(graph, values, method, at=steps), expected, atol=6e-5)
    run = sv.simulate(graph, values, method, num_steps=len(expected), seed=5, replicas=100_000, record=steps)
    half = run.squared_error / 2
    assert np.all(np.abs(half.mean(axis=0) - expected) < 4 * half.std(axis=0) / np.sqrt(run.replicas) + 6e-5)


def test_node_clocks() -> None:
    """Edge probabilities of equal node clocks on a star: theory and simulation use them the same way."""
    graph = sv.graphs.star(6)
    inverse = 1.0 / graph.degrees
    clocks = (inverse[graph.edges[:, 0]] + inverse[graph.edges[:, 1]]) / graph.num_nodes
    chances = clocks * (np.arange(graph.num_edges) + 1.0)
    chances /= chances.sum()
    values, method = np.arange(6.0), sv.NoiseInsertion(1.0, np.linspace(0.0, 0.9, 6))
    run = sv.simulate(
        graph, values, method, num_steps=60, seed=3, replicas=6000, record=10, edge_probabilities=chances, threads=1,
        progress=False,
    )  # fmt: skip
    assert_inside(graph, values, method, run, edge_probabilities=chances)


def test_split_is_what_the_runs_show() -> None:
    """Disagreement and error of the mean, each on its own, match an ensemble's final values."""
    method, values = sv.NoiseInsertion(1.0, 0.9), np.random.default_rng(5).random(10)
    run = sv.simulate(CYCLE, values, method, num_steps=80, seed=4, replicas=6000, threads=1, progress=False)
    parts = sv.theory.expected_error_split(CYCLE, values, method, at=[80])
    mean = run.values.mean(axis=1)
    for sample, expected in (
        (0.5 * ((run.values - mean[:, None]) ** 2).sum(axis=1), parts.disagreement[0]),
        (5.0 * (mean - values.mean()) ** 2, parts.mean_error[0]),
        (5.0 * run.outstanding_noise.mean(axis=1) ** 2, parts.mean_error[0]),
    ):
        assert sample.mean() == pytest.approx(expected, abs=4.5 * sample.std() / np.sqrt(6000))


def test_value_without_its_noise_has_the_same_expected_error() -> None:
    """E‖x − c̄‖² = E‖(x − u) − c̄‖²: the step on which the short proof rests, seen in a run."""
    method, values = sv.NoiseInsertion(1.0, 0.95), np.random.default_rng(6).random(10)
    run = sv.simulate(CYCLE, values, method, num_steps=60, seed=9, replicas=8000, threads=1, progress=False)
    clean = run.values - run.outstanding_noise
    gap = ((run.values - values.mean()) ** 2).sum(axis=1) - ((clean - values.mean()) ** 2).sum(axis=1)
    assert abs(gap.mean()) < 4.5 * gap.std() / np.sqrt(8000)
    np.testing.assert_allclose(clean.mean(axis=1), values.mean(), atol=1e-12)
