"""What a release is said to tell is what dp-accounting computes, from orders and from laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.privacy import Release, ReleaseCost
from sottovoce.statistics.running import _plan

from ..statistics.test_releasing import study

dp_accounting = pytest.importorskip("dp_accounting", reason="the other accountant")
rdp = pytest.importorskip("dp_accounting.rdp")
pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

ORDERS = 1.0 + np.exp(np.linspace(-6.0, 12.0, 3_000))
"""Finer than its own grid, so that both find the least ε."""


def by_orders(event: object, delta: float) -> float:
    """Its ε from Rényi divergences."""
    return float(rdp.RdpAccountant(ORDERS).compose(event).get_epsilon(delta))


@pytest.mark.parametrize("delta", [1e-9, 1e-5, 1e-2])
@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.5, 8.0])
def test_epsilon_is_that_of_its_accountant(rho: float, delta: float) -> None:
    """For one concentrated release, and for twelve of them."""
    once, year = ReleaseCost(rho), ReleaseCost(rho).times(12)
    event = dp_accounting.ZCDpEvent(rho)
    assert once.epsilon(delta) == pytest.approx(by_orders(event, delta), rel=1e-4)
    composed = dp_accounting.SelfComposedDpEvent(event, 12)
    assert year.epsilon(delta) == pytest.approx(by_orders(composed, delta), rel=1e-4)


@pytest.mark.parametrize("releases", [1, 5])
def test_the_noise_of_a_release_is_enough_by_its_accountant(releases: int) -> None:
    """The sum of the honest shares as one Gaussian noise: its ε is ours, and what was agreed."""
    release = Release(epsilon=1.0, delta=1e-6, low=0, high=60, unit="0.01", honest=7, releases=releases)
    multiplier = math.sqrt(7 * release.share_variance) / 6000
    event = dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(multiplier), releases)
    assert by_orders(event, 1e-6) == pytest.approx(release.epsilon_reached(7), rel=1e-4)
    assert release.epsilon_reached(7) == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("releases", [1, 4])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-5), (3.0, 1e-7)])
def test_the_exact_law_tells_less_than_is_claimed(epsilon: float, delta: float, releases: int) -> None:
    """Its privacy loss distribution of whole-number Gaussian noise: at most our ε, and not much below it."""
    release = Release(epsilon=epsilon, delta=delta, low=0, high=12, unit="1", honest=3, releases=releases)
    law = pld.from_discrete_gaussian_mechanism(
        math.sqrt(3 * release.share_variance), sensitivity=12, value_discretization_interval=1e-3
    )
    exact = law.self_compose(releases).get_epsilon_for_delta(delta)
    assert exact <= release.epsilon_reached(3) * (1 + 1e-3)
    assert exact > 0.86 * release.epsilon_reached(3)


@pytest.mark.parametrize("protects", ["row", "party"])
def test_a_study_costs_what_its_accountant_says(protects: str) -> None:
    """All sums that a row, or a party, can change, composed one by one."""
    plan = _plan(study(epsilon=2.0, runs=3, protects=protects), 20)
    assert plan is not None
    events = []
    for part, blurs in zip(plan.parts, plan.blurs, strict=True):
        changed = blurs[:1] if part.exclusive else blurs
        events += [dp_accounting.GaussianDpEvent(math.sqrt(4 * b.variance) / b.distance) for b in changed]
    run = dp_accounting.ComposedDpEvent(events)
    assert by_orders(run, 1e-6) == pytest.approx(plan.cost(4).epsilon(1e-6), rel=1e-4)
    every = dp_accounting.SelfComposedDpEvent(run, 3)
    assert by_orders(every, 1e-6) == pytest.approx(plan.cost(4).times(3).epsilon(1e-6), rel=1e-4)
