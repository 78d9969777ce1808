"""Figures of what observers learn show what the numbers say."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.plotting.privacy import (
    node_positions,
    plot_exposure,
    plot_frontier,
    plot_knowledge,
    plot_matrix,
    triangle_comparison,
)
from sottovoce.privacy import CuriousNodes, audit, audit_rounds, exposure
from sottovoce.privacy.frontiers import Frontier, Point

GRAPH = sv.graphs.cycle(8)
NOISE = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8)
EDGES = np.random.default_rng(1).integers(0, 8, 60)


@pytest.mark.parametrize("prior", [1.0, None])
def test_exposure_over_time_draws_the_history(prior: float | None) -> None:
    """The featured lines are the histories of the best known nodes, and the baseline is dashed beside them."""
    report = audit(GRAPH, NOISE, EDGES, CuriousNodes([0]), prior)
    baseline = audit(GRAPH, sv.StandardGossip(), EDGES, CuriousNodes([0]), prior)
    lines = {line.get_label(): line for line in plot_exposure(report, baseline=baseline).get_lines()}
    best = lines[f"node {report.most_exposed}"]
    drawn = np.where(np.isfinite(report.history), report.history, np.nan)[:, report.most_exposed]
    np.testing.assert_array_equal(best.get_ydata(), drawn)
    assert f"node {report.most_exposed}, no noise" in lines
    assert report.plot(lw=3).get_lines()[-1].get_linewidth() == 3


def test_network_is_coloured_by_knowledge() -> None:
    """Colours are the posterior deviations, the observer is a square, disclosed nodes are ringed."""
    baseline = audit(GRAPH, sv.StandardGossip(), EDGES, CuriousNodes([0]))
    axes = plot_knowledge(baseline)
    honest = ~baseline.observers
    np.testing.assert_array_equal(axes.collections[1].get_array(), baseline.posterior_std[honest])
    labels = axes.get_legend_handles_labels()[1]
    assert "observer" in labels
    assert ("disclosed" in labels) == bool(baseline.disclosed[honest].any())


def test_matrix_and_frontier_are_drawn() -> None:
    """The matrix shows deviations with an empty diagonal; the frontier has a point for every method."""
    who = exposure(GRAPH, NOISE, EDGES)
    image = plot_matrix(who)[0].get_images()[0].get_array()
    assert image is not None
    assert np.ma.getmaskarray(image).trace() == 8
    assert len(who.plot()) == 2
    points = [
        Point("standard", 0.0, 0.0, 100, 0.3, 0.0),
        Point("noise-insertion", 1.0, 0.5, 120, 0.5, 0.2),
        Point("noise-insertion", 1.0, 0.9, None, 0.7, 0.4),
        Point("one-shot noise", 0.1, 1.0, 110, 0.3, 0.1),
        Point("nozari", 0.1, 0.5, 120, 0.1, 0.1, epsilon=14.0),
        Point("huang", 0.1, 0.9, 240, 0.2, 0.1, epsilon=16.0),
    ]
    frontier = Frontier(GRAPH, 0.01, 1.0, tuple(points))
    labels = plot_frontier(frontier)[0].get_legend_handles_labels()[1]
    expected = ["noise insertion, σ = 1", "Nozari (Laplace)", "Huang (Laplace)", "standard gossip"]
    assert labels == [*expected, "one-shot DP noise, s = 0.1"]
    assert len(frontier.plot()) == 2


def test_triangle_figure() -> None:
    """Pairwise gossip levels off, broadcast goes to zero, in one picture."""
    graph = sv.graphs.complete(3)
    pairwise = audit(graph, NOISE, [2, 0, 1, 2, 0, 1], CuriousNodes([0]), 10.0)
    method = sv.MoMurray(noise_std=1.0, noise_decay=0.8)
    broadcast = audit_rounds(graph, method, CuriousNodes([0]), 10.0, num_rounds=60).history
    lines = triangle_comparison(pairwise, broadcast).axes[0].get_lines()
    assert np.asarray(lines[0].get_ydata())[-1] > 7.0
    assert np.asarray(lines[1].get_ydata())[-1] < 1e-3


def test_positions_are_the_graphs_own_or_repeatable() -> None:
    """A graph with coordinates keeps them; one without gets the same layout every time."""
    own = sv.graphs.random_geometric(12, seed=1)
    assert own.positions is not None
    assert np.array_equal(node_positions(own), own.positions)
    for graph in (sv.Graph.from_edges([(0, 1), (1, 2)]), sv.Graph.from_edges([(i, i + 1) for i in range(90)])):
        assert np.array_equal(node_positions(graph), node_positions(graph))
