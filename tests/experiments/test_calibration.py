"""Noise set to a common target: against a closed form, against audits, and where it cannot be set."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.experiments.calibration import calibrated
from sottovoce.experiments.compare import customary_methods
from sottovoce.experiments.observers import Observers

RING = sv.graphs.cycle(6)


def watched(graph=RING, **change):
    how = {"schedules": 2, "heard": 6, "prior_std": 1.0, "seed": 2} | change
    return Observers.chosen(graph, None, **how)


def analysed(method):
    try:
        watched().left(method, 1)
    except errors.Unsupported:
        return False
    return bool(method.noise_sizes) and any(np.any(getattr(method, name)) for name in method.noise_sizes)


METHODS = [method for method in customary_methods(RING) if analysed(method)]


def test_two_nodes_have_a_closed_form():
    """One draw per node, two nodes: left is σ/√(σ² + τ²), so the target 0.6 is met by σ = ¾ τ."""
    found = calibrated(sv.Muffliato(noise_std=5.0), watched(sv.graphs.path(2), prior_std=2.0), 50, target=0.6)
    assert found.method.noise_std == pytest.approx(1.5, rel=0.01)
    assert found.factor == pytest.approx(0.3, rel=0.01)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.label())
def test_more_noise_never_tells_more(method):
    """What every observer is left with of every neighbour grows with the factor, in every schedule."""
    seen = watched()
    left = [seen.left(method.with_noise(factor), 10**6) for factor in (0.3, 1.0, 3.0)]
    assert (np.diff(left, axis=0) >= -1e-9).all()


@pytest.mark.parametrize("statistic", ["median", "worst"])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.label())
def test_the_target_is_met_by_audits_of_its_own(method, statistic):
    """With the noise that was found, audits through the public call leave the target within half a percent."""
    seen, target = watched(schedules=1), 0.7
    found = calibrated(method, seen, 10**6, target=target, statistic=statistic)
    if found.failure:
        assert method.name == "state-decomposition", found.failure
        return
    length = seen.length(method, 10**6)
    run = sv.simulate(RING, np.arange(6.0), found.method, num_steps=length, seed=2)
    fired = length if found.method.releases(RING).in_rounds else run.fired_edges()
    left = [
        sv.privacy.audit(RING, found.method, fired, sv.privacy.CuriousNodes([node])).posterior_std[near]
        for node in range(6)
        for near in RING.neighbours_of(node).tolist()
    ]
    assert (np.median(left) if statistic == "median" else min(left)) == pytest.approx(target, abs=5e-3)
    assert found.method.label() != method.label() or found.factor == 1.0


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (sv.StandardGossip(), "no noise to set"),
        (sv.NoiseInsertion(0.0, 0.5), "no noise to set"),
        (sv.GapOracle(gap=0.1), "no noise to set"),
        (sv.StateDecomposition(noise_std=1.0, secret_weight_std=1.0), "not analysed"),
        (sv.StateDecomposition(noise_std=1.0, secret_weight_std=0.0), "leaves 0 to 0, whatever its noise"),
    ],
)
def test_what_cannot_be_set_stays_and_says_why(method, why):
    """The method comes back as it was."""
    found = calibrated(method, watched(heard=40), 10**6, target=0.5)
    assert found.method is method
    assert found.factor is None
    assert found.failure.startswith(why.partition(" 0 to")[0])


def test_noise_is_scaled_everywhere():
    """All sizes of noise of a method are multiplied, vectors entry by entry, and nothing else changes."""
    both = sv.SealedGossip(seal_std=2.0, noise_std=[1.0, 3.0], noise_decay=0.5).with_noise(10.0)
    assert both == sv.SealedGossip(seal_std=20.0, noise_std=[10.0, 30.0], noise_decay=0.5)
    kept = sv.BudgetedNoiseInsertion(noise_std=1.0, noise_decay=0.5, hidden_std=0.1)
    assert kept.with_noise(3.0).releases(RING).draws.tolist() == kept.releases(RING).draws.tolist()
    assert math.isclose(sv.Nozari(noise_scale=2.0, noise_decay=0.5).with_noise(0.5).noise_scale, 1.0)
    with pytest.raises(errors.InvalidParameter, match="push-sum has no noise to set"):
        sv.PushSum().with_noise(2.0)
