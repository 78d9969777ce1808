"""Quantiles of the normal distribution, without SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sottovoce.peer.runtime.quantile import upper_quantile, upper_quantiles


def test_they_are_those_of_scipy() -> None:
    """To 2⁻⁴⁹ of themselves, from the middle to where p is 2⁻¹²⁸."""
    rng = np.random.default_rng(3)
    p = np.concatenate([0.5 * rng.random(20_000), 2.0 ** rng.uniform(-128, -2, size=20_000), [2.0**-128, 0.075]])
    np.testing.assert_allclose(upper_quantiles(p), stats.norm.isf(p), rtol=2.0**-49, atol=2.0**-53)


@pytest.mark.parametrize("p", [0.5, 0.3, 0.0750001, 0.0749999, 1e-3, np.exp(-25.0), 1e-11, 1e-12, 2.0**-128])
def test_one_is_as_many(p: float) -> None:
    """The way of plain floats and that of arrays agree, in each of the three branches and at their ends."""
    assert upper_quantile(p) == pytest.approx(upper_quantiles(np.array([p]))[0], rel=2.0**-50)
