"""The exact expectation against very large ensembles: minutes, not seconds."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

pytestmark = pytest.mark.slow

CYCLE = sv.graphs.cycle(10)
GEOMETRIC = sv.graphs.random_geometric(100, seed=1)


@pytest.mark.parametrize("decay", [0.001, 0.01, 0.1, 0.5, 0.9, 0.98])
def test_cycle_of_figure_1(decay: float) -> None:
    """C₁₀, every φ of Figure 1, 10⁵ runs: within five standard errors at twenty steps."""
    check(CYCLE, sv.NoiseInsertion(1.0, decay), num_steps=300, replicas=100_000)


@pytest.mark.parametrize("decay", [0.001, 0.5, 0.9, 0.995])
def test_geometric_graph_of_figure_1(decay: float) -> None:
    """RGG(100), φ of Figure 1, 10⁴ runs: within five standard errors at twenty steps."""
    check(GEOMETRIC, sv.NoiseInsertion(1.0, decay), num_steps=6000, replicas=10_000)


def check(graph: sv.Graph, method: sv.Method, *, num_steps: int, replicas: int) -> None:
    values = np.random.default_rng(0).random(graph.num_nodes)
    run = sv.simulate(graph, values, method, num_steps=num_steps, seed=1, replicas=replicas, record=20, progress=False)
    half = 0.5 * run.squared_error
    expected = sv.theory.expected_error(graph, values, method, at=run.steps)
    error = half.std(axis=0, ddof=1) / np.sqrt(replicas)
    assert (np.abs(half.mean(axis=0) - expected) < 5 * error + 1e-12 * expected.max()).all()
    assert error[-1] < 0.1 * expected[-1]
