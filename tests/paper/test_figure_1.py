"""Figure 1 of the paper: what it shows, claim by claim, on ensembles instead of single runs."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.experiments.paper import GEOMETRIC_SEED
from sottovoce.scenario.values import uniform

REPLICAS = 100


def median_error(graph, method, num_steps):
    values = uniform(graph.num_nodes, 1)
    run = sv.simulate(graph, values, method, num_steps=num_steps, seed=1, replicas=REPLICAS)
    return run.steps, np.median(run.relative_error, axis=0)


def first_below(steps, error, level):
    return int(steps[np.flatnonzero(error <= level)[0]])


def test_on_the_cycle_free_decays_run_beside_the_baseline():
    """On C₁₀ the medians for φ ≤ 0.9 reach 1e−8 within half as many steps again as the baseline."""
    ring = sv.graphs.cycle(10)
    baseline = first_below(*median_error(ring, sv.StandardGossip(), 1000), 1e-8)
    assert 350 < baseline < 500
    for decay in (0.001, 0.01, 0.1, 0.5, 0.9):
        step = first_below(*median_error(ring, sv.NoiseInsertion(1.0, decay), 1000), 1e-8)
        assert baseline <= step < 1.5 * baseline


def test_on_the_cycle_a_decay_of_098_is_driven_by_the_noise():
    """φ = 0.98 is above the threshold 0.951: after 1 000 steps it is still between 1e−3 and 1e−1."""
    _, error = median_error(sv.graphs.cycle(10), sv.NoiseInsertion(1.0, 0.98), 1000)
    assert 1e-3 < error[-1] < 1e-1


def test_on_the_geometric_graph_only_0995_is_slow():
    """RGG(100): after 50 000 steps φ = 0.995 is near 1e−2 and φ ≤ 0.9 far below 1e−12."""
    graph = sv.graphs.random_geometric(100, seed=GEOMETRIC_SEED)
    assert sv.algebraic_connectivity(graph) / 2 == pytest.approx(0.17, abs=0.005)
    _, slow = median_error(graph, sv.NoiseInsertion(1.0, 0.995), 50_000)
    assert 3e-3 < slow[-1] < 1e-1
    for decay in (0.1, 0.9):
        _, free = median_error(graph, sv.NoiseInsertion(1.0, decay), 50_000)
        assert free[-1] < 1e-12


def test_curves_of_a_panel_see_the_same_edges():
    """The figure compares methods, not luck: all runs of a panel fire the same edges."""
    from sottovoce.experiments.paper import reproduce

    panel = next(iter(reproduce("figure-1")))
    fired = [run.fired_edges() for _, run in panel.runs]
    assert len(fired) == 7
    for other in fired[1:]:
        np.testing.assert_array_equal(other, fired[0])
