"""Discrete Gaussian noise: the law, its sums, and that no float is near."""

from __future__ import annotations

import inspect
import math
import random
import secrets

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from sottovoce.errors import InvalidParameter
from sottovoce.privacy.discrete import closeness_of_sum, discrete_gaussian

DRAWS = 12_000


def draws(variance: int, count: int = DRAWS, seed: int = 1) -> list[int]:
    source = random.Random(seed).randrange
    return [discrete_gaussian(variance, below=source) for _ in range(count)]


def law(variance: float, reach: int) -> npt.NDArray[np.float64]:
    """The chances of −reach … reach, from the definition."""
    weights = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2.0 * variance))
    return weights / weights.sum()


@pytest.mark.parametrize("variance", [1, 2, 9])
def test_small_variances_have_the_law_of_the_definition(variance: int) -> None:
    """A chi-square test of the counts against exp(−x²/2σ²) does not refuse them."""
    reach = 3 * math.isqrt(variance)
    inside = np.clip(draws(variance), -reach, reach)
    expected = law(variance, 60)
    cells = np.concatenate(
        [[expected[: 61 - reach].sum()], expected[61 - reach : 60 + reach], [expected[60 + reach :].sum()]]
    )
    counts = np.bincount(inside + reach, minlength=2 * reach + 1)
    assert stats.chisquare(counts, DRAWS * cells).pvalue > 1e-3


@pytest.mark.parametrize("variance", [10**10, 10**40])
def test_large_variances_are_normal(variance: int) -> None:
    """Mean, variance and shape are those of a normal law of this variance."""
    scaled = np.array([float(x) for x in draws(variance)]) / math.sqrt(variance)
    assert abs(scaled.mean()) < 4.0 / math.sqrt(DRAWS)
    assert abs(scaled.var() - 1.0) < 4.0 * math.sqrt(2.0 / DRAWS)
    assert stats.kstest(scaled, "norm").pvalue > 1e-3


def test_the_last_digit_is_uniform_where_floats_have_none() -> None:
    """At a deviation of 10²⁰ all last digits are equally frequent: nothing was rounded on the way."""
    counts = np.bincount([x % 10 for x in draws(10**40)], minlength=10)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_numbers_come_from_the_operating_system() -> None:
    """Unless a test gives another source."""
    assert inspect.signature(discrete_gaussian).parameters["below"].default is secrets.randbelow


@pytest.mark.parametrize("count", [2, 3, 5, 20])
@pytest.mark.parametrize("variance", [1, 2])
def test_sums_are_as_close_as_is_claimed(variance: int, count: int) -> None:
    """No chance of the exact law of the sum is further than e^τ from the discrete Gaussian's, and τ is no waste."""
    one = law(variance, 40)
    total = one
    for _ in range(count - 1):
        total = np.convolve(total, one)
    reach = len(total) // 2
    middle = slice(reach - 4 * count, reach + 4 * count + 1)  # where chances are not lost in the last digits
    apart = abs(np.log(total[middle] / law(variance * count, reach)[middle])).max()
    claimed = closeness_of_sum(variance, count)
    assert apart <= claimed + 1e-12
    assert (variance, count) != (1, 2) or apart > claimed / 5.0  # more shares are smoother than the proof uses


def test_very_many_shares_are_counted() -> None:
    """The shortcut for many shares is never below the sum itself."""
    exact = 10.0 * sum(math.exp(-2.0 * math.pi**2 * k / (k + 1)) for k in range(1, 3000))
    assert exact <= closeness_of_sum(1, 3000) <= 1.02 * exact


@pytest.mark.parametrize("variance", [0, -1, 1.5, True])
def test_a_variance_is_a_whole_number(variance: int) -> None:
    """Others are refused, with the parameter's name."""
    with pytest.raises(InvalidParameter, match="variance"):
        discrete_gaussian(variance)
