"""Every published experiment, rerun: medians of 21 runs against the levels that the paper's plots show."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.experiments.paper import BASELINE, EXPERIMENTS, by_degree, reproduce


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
