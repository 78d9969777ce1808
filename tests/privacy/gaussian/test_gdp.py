"""Gaussian differential privacy arithmetic: values, inverses, extremes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sottovoce.errors import InvalidParameter
from sottovoce.privacy.gaussian.gdp import compose, delta, epsilon, largest_mu


@pytest.mark.parametrize(("eps", "expected"), [(0.5, 0.238422), (1.0, 0.126937), (2.0, 0.020924)])
def test_delta_matches_published_values(eps: float, expected: float) -> None:
    """δ(ε) for μ = 1 has the tabulated values."""
    assert delta(1.0, eps) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("mu", [1e-8, 1e-3, 0.3, 0.999, 1.0, 1.7, 6.0, 40.0])
@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.5, 1.0, 3.0, 9.0, 30.0])
def test_delta_keeps_relative_precision(mu: float, ratio: float) -> None:
    """δ agrees with 400-digit arithmetic to 1e−12 of itself, from tiny to large μ and ε."""
    mpmath = pytest.importorskip("mpmath")
    eps = ratio * mu
    with mpmath.workdps(900):
        m, e = mpmath.mpf(mu), mpmath.mpf(eps)
        exact = float(mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2))
    assert delta(mu, eps) == pytest.approx(exact, rel=1e-12)


@given(mu=st.floats(1e-6, 1e3), small=st.floats(1e-12, 0.9))
@example(mu=1.0, small=0.001)
def test_epsilon_inverts_delta(mu: float, small: float) -> None:
    """ε(μ, δ) is the smallest ε whose δ is at most the one asked for."""
    eps = epsilon(mu, small)
    assert delta(mu, eps) <= small
    if eps > 0:
        assert delta(mu, eps * (1 - 1e-6)) >= small * (1 - 1e-9)


@given(eps=st.floats(0.0, 50.0), small=st.floats(1e-12, 0.9))
@example(eps=1.0, small=0.001)
def test_largest_mu_inverts_delta(eps: float, small: float) -> None:
    """The largest μ keeps the (ε, δ) promise and anything noticeably larger breaks it."""
    mu = largest_mu(eps, small)
    assert delta(mu, eps) <= small < delta(mu * (1 + 1e-6), eps) * (1 + 1e-9)


def test_extremes() -> None:
    """No information, full disclosure, infinite ε and enormous μ come out as their limits."""
    assert delta(0.0, 0.0) == 0.0
    assert delta(math.inf, 5.0) == delta(math.inf, math.inf) == 1.0
    assert delta(1.0, math.inf) == 0.0
    assert delta(1e200, 1.0) == 1.0
    assert delta(1.0, 1e200) == 0.0
    assert delta(1e-200, 0.0) == pytest.approx(1e-200 / math.sqrt(2 * math.pi), rel=1e-12)
    assert epsilon(math.inf, 0.1) == math.inf
    assert epsilon(1e-3, 0.5) == epsilon(5.0, 1.0) == 0.0
    assert largest_mu(math.inf, 0.1) == largest_mu(1.0, 1.0) == math.inf


def test_composition_is_root_sum_of_squares() -> None:
    """Independent releases compose like lengths of orthogonal vectors."""
    assert compose(3.0, 4.0) == 5.0
    assert compose() == 0.0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: delta(-1.0, 0.0), "mu"),
        (lambda: delta(1.0, -0.1), "epsilon"),
        (lambda: delta(math.nan, 0.0), "mu"),
        (lambda: epsilon(-1.0, 0.1), "mu"),
        (lambda: epsilon(1.0, 1.5), "delta"),
        (lambda: epsilon(1.0, -0.1), "delta"),
        (lambda: largest_mu(-1.0, 0.1), "epsilon"),
        (lambda: largest_mu(1.0, math.nan), "delta"),
        (lambda: compose(-1.0), "mu"),
    ],
)
def test_bad_input_is_named(call: Callable[[], float], name: str) -> None:
    """Parameters outside their range are refused by name."""
    with pytest.raises(InvalidParameter, match=f"^{name} must be"):
        call()
