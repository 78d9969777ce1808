"""A private release: claims against divergences that are summed up from the laws themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, InvalidValues
from sottovoce.privacy import Release, ReleaseCost

Floats = npt.NDArray[np.float64]
AGREED: dict[str, Any] = {
    "epsilon": 1.0, "delta": 1e-6, "low": 0.0, "high": 100.0, "unit": "0.01", "honest": 8
}  # fmt: skip


def log_law(variance: float, reach: int) -> Floats:
    """Logarithms of the discrete Gaussian's chances of −reach … reach."""
    exponents = -(np.arange(-reach, reach + 1.0) ** 2) / (2.0 * variance)
    return exponents - math.log(np.exp(exponents).sum())


def law_of_sum(variance: int, count: int) -> Floats:
    """The exact law of the sum of ``count`` shares."""
    one = np.exp(log_law(variance, 12 * math.isqrt(variance) + 12))
    total = one
    for _ in range(count - 1):
        total = np.convolve(total, one)
    return total


def exact_epsilon(noise: Floats, shift: int, delta: float) -> float:
    """The least ε for this noise and a shift: Σ max(0, p(x) − e^ε q(x)) ≤ δ, by bisection."""
    first, second = np.pad(noise, (0, shift)), np.pad(noise, (shift, 0))
    low, high = 0.0, 50.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        apart = np.maximum(0.0, second - math.exp(middle) * first).sum()
        low, high = (low, middle) if apart <= delta else (middle, high)
    return high


@pytest.mark.parametrize("variance", [1, 3, 20])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_renyi_divergence_is_at_most_alpha_rho(variance: int, shift: int) -> None:
    """At many orders the divergence of shifted laws, summed up, is at most αΔ²/(2σ²), and equal where αΔ is whole."""
    for order in (1.1, 1.5, 2.0, 3.0, 7.3, 16.0, 40.0):
        reach = math.ceil(order * shift + 14.0 * math.sqrt(variance)) + shift
        noise = log_law(variance, reach)
        here, there = noise[:-shift], noise[shift:]
        divergence = np.logaddexp.reduce(order * there + (1.0 - order) * here) / (order - 1.0)
        bound = order * shift**2 / (2.0 * variance)
        assert divergence <= bound * (1.0 + 1e-9)
        if float(order * shift).is_integer():
            assert divergence == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize("honest", [1, 2, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-5), (1.0, 1e-6), (4.0, 1e-8)])
def test_the_claim_holds_and_is_no_waste(honest: int, epsilon: float, delta: float) -> None:
    """The exact ε of the sum of the shares, from the laws, is at most the claim, and at least 0.88 of it."""
    release = Release(epsilon=epsilon, delta=delta, low=0, high=7, unit="0.5", honest=honest)
    for taken_part in {1, honest}:
        exact = exact_epsilon(law_of_sum(release.share_variance, taken_part), 14, delta)
        claimed = release.epsilon_reached(taken_part)
        assert exact <= claimed <= exact / 0.88


def test_epsilon_composes() -> None:
    """Three releases together: the exact ε, from the law of all of them, is at most the claim, and near it."""
    release = Release(epsilon=2.0, delta=1e-6, low=0, high=5, unit="1", honest=2, releases=3)
    # Of several releases only the sum matters to whoever compares two candidates.
    exact = exact_epsilon(law_of_sum(release.share_variance, 2 * 3), 3 * 5, 1e-6)
    assert exact <= release.epsilon_reached(2) <= 2.0
    assert exact > 0.88 * release.epsilon_reached(2)
    once = release.cost(2)
    assert release.epsilon_reached(2) == pytest.approx((once + once + once).epsilon(1e-6))
    assert release.epsilon_reached(2, releases=1) < release.epsilon_reached(2, releases=2)


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.5, 10.0])
def test_in_fine_units_it_is_the_gaussian_mechanism(rho: float, delta: float) -> None:
    """ε is never below the exact one of Gaussian noise with μ² = 2ρ, and above it by at most a fifth and 0.01."""
    exact = sv.privacy.epsilon(math.sqrt(2.0 * rho), delta)
    assert exact <= ReleaseCost(rho).epsilon(delta) <= 1.2 * exact + 0.01


def test_several_numbers_cost_what_several_releases_do() -> None:
    """A vector of four numbers needs the noise of four releases of one."""
    vector = Release(**AGREED, dimension=4)
    assert vector.share_variance == Release(**AGREED, releases=4).share_variance


def test_the_noise_is_the_least_that_keeps_the_promise() -> None:
    """With one squared unit less ε would be larger than agreed."""
    release = Release(epsilon=1.0, delta=1e-6, low=0, high=20, unit="1", honest=3)
    assert (
        release._epsilon_with(release.share_variance, 3) <= 1.0 < release._epsilon_with(release.share_variance - 1, 3)
    )


def test_fewer_members_mean_a_larger_epsilon() -> None:
    """Each missing share raises the ε that is reached; more than agreed lower it."""
    release = Release(**AGREED)
    reached = [release.epsilon_reached(k) for k in range(10, 0, -1)]
    assert reached == sorted(reached)
    assert reached[2] <= 1.0 < reached[3]


def test_error_beside_the_central_server() -> None:
    """The ratio is √(n/h), and 1 if everybody is relied on."""
    release = Release(**AGREED)
    assert release.error(10) / release.central_error(10) == pytest.approx(math.sqrt(10 / 8))
    assert release.error(8) == pytest.approx(release.central_error(8))


def test_contributions_are_whole_units() -> None:
    """The noisy value is a multiple of the unit, so that the average rounds nothing away."""
    release = Release(**AGREED)
    value = release.contribution(12.34).value
    assert isinstance(value, float)
    assert float(f"{value:.2f}") == value
    assert release.contribution(12.34).value != release.contribution(12.34).value


def test_clipping_is_declared_and_counted() -> None:
    """Out of range is refused without showing the value; with ``clip`` it is moved to the end, and counted."""
    release = Release(**{**AGREED, "epsilon": 1e6, "unit": "1"}, dimension=3)
    with pytest.raises(InvalidValues, match="1 numbers lie outside") as refused:
        release.contribution([1.0, 777.0, 2.0])
    assert "777" not in str(refused.value)
    clipped = release.contribution([1.0, 777.0, 2.0], clip=True)
    assert clipped.clipped == 1
    assert abs(clipped.value[1] - 100.0) < 40.0
    assert "1.0" not in repr(clipped)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0.0), ("epsilon", math.nan), ("delta", 0.0), ("delta", 1.0), ("low", 100.0), ("high", math.inf),
        ("unit", "0"), ("unit", 0.01), ("unit", "1000"), ("unit", "1e-15"), ("honest", 0), ("honest", 2.5),
        ("releases", 0), ("dimension", True), ("epsilon", "1"), ("epsilon", None), ("epsilon", 10**400), ("delta", "x"),
        ("low", "0"), ("low", None), ("high", 10**400), ("high", True), ("unit", "1e-299"), ("honest", 10**400),
        ("releases", 10**400), ("dimension", 10**400),
    ],
)  # fmt: skip
def test_bad_agreements_are_refused(name: str, value: object) -> None:
    """Each parameter out of its range is named."""
    with pytest.raises(InvalidParameter, match=name):
        Release(**{**AGREED, name: value})


@pytest.mark.parametrize("ends", [(-1e308, 0.0), (0.0, 1e308)])
def test_a_range_beyond_all_units_is_refused(ends: tuple[float, float]) -> None:
    """In a sentence that names the unit, before any noise is computed for it."""
    with pytest.raises(InvalidParameter, match="unit must be larger"):
        Release(**{**AGREED, "low": ends[0], "high": ends[1]})


@pytest.mark.parametrize("name", ["x [costs ρ=e τ=1.0]", "x [costs ρ=1.0 τ=-1.0]", "x [costs ρ=1.2.3 τ=0.0]"])
def test_what_only_looks_like_a_cost_is_none(name: str) -> None:
    """A topic of such a name does not keep a peer from adding up its others."""
    assert ReleaseCost.marked_in(name) is None


def test_every_cost_is_read_back() -> None:
    """Very small, very large, and without a bound."""
    for cost in (ReleaseCost(0.0), ReleaseCost(1e-30, 5e-17), ReleaseCost(1e300, 2.5), ReleaseCost(math.inf)):
        assert ReleaseCost.marked_in(cost.marked("x")) == cost


@pytest.mark.parametrize("value", [math.nan, [1.0, 2.0], math.inf, np.ma.masked_array([1.0], mask=True)])
def test_bad_values_are_refused(value: object) -> None:
    """Another size, what is not finite, and what is hidden by a mask."""
    with pytest.raises(InvalidValues):
        Release(**AGREED).contribution(value, clip=True)


def test_masked_numbers_are_refused() -> None:
    """What was masked must not be released, with whatever noise."""
    with pytest.raises(InvalidValues, match="masked"):
        Release(**AGREED, dimension=2).contribution(np.ma.array([1.0, 61.77], mask=[False, True]))


@pytest.mark.parametrize(
    "value", ["61.77 kg", ["61.77 kg"], np.array(["61.77 kg"]), {"kg": 61.77}, [[1.0], 61.77], b"61.77 kg"]
)
def test_what_is_no_number_is_not_shown(value: object) -> None:
    """Refused in our words: those of numpy hold the value."""
    with pytest.raises(InvalidValues, match="must be a number") as refused:
        Release(**AGREED).contribution(value)
    assert "61" not in str(refused.value)
    assert refused.value.__suppress_context__


def test_numbers_beyond_floats_are_refused() -> None:
    """In a sentence, as all others."""
    with pytest.raises(InvalidValues, match="no float can hold"):
        Release(**AGREED).contribution(10**400, clip=True)
