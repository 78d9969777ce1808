"""Every published experiment, rerun: medians of 21 runs against the levels that the paper's plots show."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.experiments.paper import BASELINE, EXPERIMENTS, by_degree, free_decays, reproduce
from sottovoce.scenario.values import uniform


def _medians(name):
    """{panel: {curve: (recorded steps, median relative error)}}."""
    return {
        result.panel.name: {
            label: (run.steps, np.median(np.atleast_2d(run.relative_error), axis=0)) for label, run in result.runs
        }
        for result in reproduce(name, seed=1, replicas=21)
    }


def _ends(curves):
    return {label: errors[-1] for label, (_, errors) in curves.items()}


def _passes(curve, level=1e-8):
    steps, values = curve
    return int(steps[np.flatnonzero(values <= level)[0]])


def test_decays_by_degree_end_where_published():
    """γ = 0.1, 0.2, 0.3 end within a factor of five of 2e−3, 5e−7 and 1e−10; γ ≥ 0.5 passes 1e−8 near the baseline."""
    curves = _medians("decay-by-degree")["geometric"]
    ends = _ends(curves)
    for gamma, level in ((0.1, 2e-3), (0.2, 5e-7), (0.3, 1e-10)):
        assert level / 5 < ends[f"γ = {gamma}"] < 5 * level
    for gamma in (0.5, 1, 2):
        assert _passes(curves[f"γ = {gamma}"]) < 1.6 * _passes(curves[BASELINE])


def test_threshold_decays_follow_the_rate_from_theory():
    """At the threshold errors fall as ρ^k: slower noise bends the line, and every node's own φ_i does not."""
    curves = _medians("threshold")["geometric"]
    experiment = EXPERIMENTS["threshold"].panels[0]
    rate = experiment.lines[0].factor(experiment.graph())
    steps, values = curves["φᵢ = √(1 − α/2dᵢ)"]
    late = steps > 50_000
    fitted = np.exp(np.polyfit(steps[late], np.log(values[late]), 1)[0])
    assert np.log(fitted) == pytest.approx(np.log(rate), rel=0.06)
    decays = experiment.histogram.values(experiment.graph())
    assert decays.shape == (100,)
    assert 0.97 < decays.min() < decays.max() < 1


def test_binary_oracle_levels():
    """On C₁₀: 1/√t ends near 5e−3, λ = 0.1 near 1e−1, and the adaptive curve that was published is that of L/2."""
    curves = _medians("binary-oracle")["cycle"]
    ends = _ends(curves)
    assert 1e-3 < ends["λ = 1/√t"] < 1e-2
    assert 3e-2 < ends["λ = 0.1"] < 3e-1
    assert 350 < _passes(curves[BASELINE]) < 500
    assert 600 < _passes(curves["adaptive, L/2"]) < 900
    assert _passes(curves["adaptive, L/4"]) > 1200


def test_gap_oracle_levels():
    """It comes to rest within a factor of three of the published levels, on both graphs."""
    published = {"cycle": (2e-1, 6e-3, 7e-5), "geometric": (9e-2, 4e-3, 6e-5)}
    found = _medians("gap-oracle")
    for panel, levels in published.items():
        ends = _ends(found[panel])
        for gap, level in zip((0.2, 0.02, 0.002), levels, strict=True):
            assert level / 3 < ends[f"ε = {gap}"] < 3 * level, (panel, gap)


def test_larger_noise_costs_a_constant_number_of_steps():
    """Ten times σ is a hundred times the error, all along: the rate is the same and the curves are shifted."""
    for curves in _medians("noise-size").values():
        ends = _ends(curves)
        assert 30 < ends["σ = 10"] / ends["σ = 1"] < 300
        delays = np.diff([_passes(curves[label]) for label in ("σ = 0.1", "σ = 1", "σ = 10")])
        assert (delays > 0).all()


LEVELS = [
    pytest.param(panel, level, id=f"{name}, {panel.name}, {level.curve}")
    for name, experiment in EXPERIMENTS.items()
    for panel in experiment.panels
    for level in panel.levels
]


@pytest.mark.parametrize(("panel", "level"), LEVELS)
def test_published_levels_lie_among_fresh_problems(panel, level):
    """Of 40 fresh graphs, values and schedules some end below and some above the level read from the paper's plot."""
    (curve,) = [curve for curve in panel.curves if curve.label == level.curve]
    varies = panel.name == "geometric"
    draws = {"graphs": 40 if varies else 1, "values": 1 if varies else 40, "schedules": 1}
    found = sv.ensemble(
        panel.family, "uniform", curve.method, num_steps=level.step, seed=1, record=[level.step], **draws
    )
    assert 0.08 < found.rank(level.error) < 0.95


def test_our_graph_is_a_typical_one():
    """α/2 and the smallest φ_i are the paper's, edges and the baseline after 6 000 steps those of fresh problems."""
    panel = EXPERIMENTS["figure-1"].panels[1]
    graph = panel.graph()
    assert sv.algebraic_connectivity(graph) / 2 == pytest.approx(0.172, abs=0.001)
    assert free_decays(graph).min() == pytest.approx(0.983, abs=5e-4)
    fresh = sv.ensemble("rgg:100", "uniform", sv.StandardGossip(), num_steps=6000, seed=1, values=1, schedules=1)
    edges = [fresh.problems.problem(k, 0)[0].num_edges for k in range(100)]
    assert 0.1 < np.mean(np.array(edges) < graph.num_edges) < 0.9
    run = sv.simulate(graph, uniform(100, 1), sv.StandardGossip(), num_steps=6000, seed=1, replicas=21)
    assert 0.25 < fresh.rank(float(np.median(run.final_relative_error))) < 0.75


def test_ranks_are_where_runs_lie_among_fresh_problems():
    """A panel says of every curve which share of its fresh problems ends below our run and below the paper's level."""
    result = next(iter(reproduce("figure-1", seed=1, fresh=30)))
    for row, (label, run), (_, fresh) in zip(result.ranks(), result.runs, result.fresh, strict=True):
        ends = fresh.errors_at().reshape(-1)
        assert row["curve"] == label
        assert row["ours"] == run.relative_error[-1]
        assert row["ours_rank"] == np.mean(ends < run.relative_error[-1])
        assert row["fresh_median"] == np.median(ends)
    assert result.ranks()[-1]["published_rank"] == np.mean(result.fresh[-1][1].errors_at() < 6e-3)
    assert result.ranks()[0]["published_rank"] is None


def test_gamma_may_not_exceed_the_smallest_degree():
    """√(1 − γ/d) needs γ ≤ d at every node."""
    with pytest.raises(errors.InvalidParameter, match=r"\(0, 1\]"):
        by_degree(sv.graphs.star(5), 2.0)


def test_every_row_of_the_published_table_is_declared():
    """Six experiments, each with what was published in words."""
    assert set(EXPERIMENTS) == {
        "figure-1", "decay-by-degree", "threshold", "noise-size", "binary-oracle", "gap-oracle",
    }  # fmt: skip
    assert all(panel.published for experiment in EXPERIMENTS.values() for panel in experiment.panels)
