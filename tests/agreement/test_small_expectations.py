"""Ensemble means of the engine are the exact expectations of small graphs."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

EXACT = {
    "K2": (sv.graphs.complete(2), [0.5, 0.245, 0.12005]),
    "P3": (sv.graphs.path(3), [0.5000, 0.4962, 0.4318, 0.3529]),
    "C5": (sv.graphs.cycle(5), [0.5000, 0.7480, 0.8504, 0.8684]),
    "star with 4 leaves": (sv.graphs.star(5), [0.5000, 0.6219, 0.6587, 0.6608]),
}


@pytest.mark.parametrize("name", EXACT)
def test_ensemble_mean_is_the_exact_expectation(name):
    """E ½‖x − c̄‖² for equal private values, σ = 1, φ = 0.7, within four standard errors of 10⁵ replicas."""
    graph, expected = EXACT[name]
    steps = np.arange(1, len(expected) + 1)
    run = sv.simulate(
        graph, np.full(graph.num_nodes, 3.0), sv.NoiseInsertion(1.0, 0.7),
        num_steps=len(expected), seed=5, replicas=100_000, record=steps,
    )  # fmt: skip
    half = run.squared_error / 2
    error = 4 * half.std(axis=0) / np.sqrt(run.replicas)
    assert np.all(np.abs(half.mean(axis=0) - expected) < error + 6e-5)  # the table has four digits
