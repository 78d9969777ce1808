"""Geometric sums against exact arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from sottovoce.theory.gossip.many import compress, noise_sums, weighted_sums
from sottovoce.theory.gossip.sums import geometric_sum, power, second_sum

GAPS = [0.0, 1e-18, 1e-9, 0.1, 0.1 + 1e-12, 0.3, 0.999999, 1.0]


def as_decimal(gap: float) -> Decimal:
    return 1 - Decimal(gap)


@pytest.mark.parametrize("k", [0, 1, 2, 3, 17, 60])
def test_geometric_sum_is_the_sum(k: int) -> None:
    """Σ a^{k−t} b^{t−1} agrees with exact rational arithmetic for every pair, equal, close or far apart."""
    for a in GAPS:
        for b in GAPS:
            first, second = 1 - Fraction(a), 1 - Fraction(b)
            exact = Fraction(0)
            for t in range(k):  # Horner: (…) · first + second^t
                exact = exact * first + second**t
            assert float(geometric_sum(k, a, b)) == pytest.approx(float(exact), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("k", [10**5, 10**7])
@pytest.mark.parametrize(("a", "b"), [(1e-6, 1e-6 + 1e-13), (1e-7, 2e-7), (3e-8, 3e-8), (1e-20, 1e-8), (1e-7, 1e-6)])
def test_geometric_sum_at_long_horizons(k: int, a: float, b: float) -> None:
    """Ten million terms with ratios that agree to thirteen digits lose no accuracy."""
    with localcontext() as context:
        context.prec = 80
        first, second = as_decimal(a), as_decimal(b)
        exact = k * first ** (k - 1) if a == b else (first**k - second**k) / (first - second)
        assert float(geometric_sum(k, a, b)) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("k", [0, 1, 2, 3, 5, 16])
def test_second_sum_is_the_sum(k: int) -> None:
    """Σ_{i+j+l=k−2} a^i b^j c^l agrees with exact rational arithmetic."""
    for a in GAPS[::2]:
        for b in GAPS:
            for c in GAPS[1::2]:
                x, y, z = (1 - Fraction(g) for g in (a, b, c))
                exact = Fraction(0)
                for i in range(max(k - 1, 0)):
                    exact += x**i * sum((y**j * z ** (k - 2 - i - j) for j in range(k - 1 - i)), Fraction(0))
                got = float(second_sum(k, (a, b, c)))
                assert got == pytest.approx(float(exact), rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("spread", [1e-3, 1e-7, 1e-9, 0.0])
def test_second_sum_at_long_horizons(spread: float) -> None:
    """Near-equal arguments at k = 10⁶ agree with eighty-digit arithmetic on both sides of the switch to the series."""
    k, a, b, c = 10**6, 1e-5, 1e-5 * (1 + spread), 1e-5 * (1 + 3 * spread)
    with localcontext() as context:
        context.prec = 80
        x, y, z = as_decimal(a), as_decimal(b), as_decimal(c)
        if spread == 0.0:
            exact = Decimal(k) * (k - 1) / 2 * x ** (k - 2)
        else:
            exact = ((x**k - y**k) / (x - y) - (y**k - z**k) / (y - z)) / (x - z)
    assert float(second_sum(k, (a, b, c))) == pytest.approx(float(exact), rel=1e-9)


def test_power_knows_zero_to_the_zero() -> None:
    """A gap of one is the number zero; its zeroth power is one."""
    assert power(np.array([1.0, 1.0, 0.0]), np.array([0, 5, 10**9])).tolist() == [1.0, 0.0, 1.0]


def test_compressed_sums_agree_with_plain_ones() -> None:
    """Ten thousand different nodes over twelve decades give the same sums after compression."""
    rng = np.random.default_rng(3)
    gaps, weights = 10.0 ** rng.uniform(-12, 0, 10_000), rng.random(10_000)
    steps = np.unique(np.geomspace(1, 1e9, 400).astype(np.int64))
    fewer, lighter = compress(gaps, weights)
    some = steps[::40]
    plain = np.array([power(gaps, k) @ weights for k in some])
    packed = np.array([power(np.clip(fewer, 0, 1), k) @ lighter for k in some])
    np.testing.assert_allclose(packed, plain, rtol=1e-11)
    both = weighted_sums(lambda k, gap: power(gap, k), steps, gaps, weights)
    np.testing.assert_allclose(both[::40], plain, rtol=1e-11)


def test_many_different_nodes_save_what_few_do() -> None:
    """What the sharpened bound saves is the same summed node by node and compressed, for φ from 0 to nearly 1."""
    rng = np.random.default_rng(4)
    size = 6_000
    chances = rng.uniform(1e-4, 5e-4, size)
    decay = np.concatenate([np.zeros(40), np.full(20, 1e-4), rng.random(size - 60)])
    gaps, weights = chances * (1 - decay**2), chances * rng.random(size)
    saved = weights * chances / size
    steps = np.unique(np.geomspace(1, 1e6, 500).astype(np.int64))
    packed = noise_sums(steps, 1e-5, gaps, chances, weights, saved)
    for place in range(0, len(steps), 60):
        k = int(steps[place])
        plain = geometric_sum(k, 1e-5, gaps) @ weights - second_sum(k, (1e-5, gaps, chances)) @ saved
        assert packed[place] == pytest.approx(plain, rel=1e-10)
