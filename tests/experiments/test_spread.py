"""The spread by source against cases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce import errors
from sottovoce.experiments.spread import split_spread

NAMES = ["graph", "values", "schedule"]


def outcomes(rng, shape, stds, law):
    """A sum of independent effects of each level, with these deviations."""
    total = np.zeros(shape)
    for level, std in enumerate(stds, start=1):
        total += std * law(rng, shape[:level]).reshape(*shape[:level], *[1] * (len(shape) - level))
    return total


LAWS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "skewed": lambda rng, size: rng.exponential(size=size) - 1.0,
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("shape", [(40, 2, 2), (12, 3, 4)])
def test_estimates_have_no_bias_whatever_the_law(law, shape):
    """Variances 4, 1 and 0.25: the mean of 400 estimates is within four standard errors of each."""
    rng = np.random.default_rng(5)
    stds = (2.0, 1.0, 0.5)
    found = [split_spread(outcomes(rng, shape, stds, LAWS[law]), NAMES) for _ in range(400)]
    estimates = np.array([[part.variance for part in each.parts] for each in found])
    score = (estimates.mean(axis=0) - np.square(stds)) / (estimates.std(axis=0, ddof=1) / 20.0)
    assert np.abs(score).max() < 4.0


def test_the_jackknife_says_how_far_estimates_scatter():
    """Its standard errors of variances and shares are, on average, within a fifth of the real scatter."""
    rng = np.random.default_rng(6)
    found = [split_spread(outcomes(rng, (60, 2, 2), (1.0, 1.0, 1.0), LAWS["normal"]), NAMES) for _ in range(400)]
    for k in range(3):
        for name in ("variance", "share"):
            scatter = np.std([getattr(each.parts[k], name) for each in found], ddof=1)
            said = np.mean([getattr(each.parts[k], f"{name}_error") for each in found])
            assert said == pytest.approx(scatter, rel=0.2), (k, name)


def test_leaving_out_is_leaving_out():
    """The closed form of the jackknife is that of the definition, with each outermost draw really left out."""
    rng = np.random.default_rng(7)
    table = outcomes(rng, (7, 3, 2), (1.0, 0.7, 0.4), LAWS["skewed"])
    others = [split_spread(np.delete(table, k, axis=0), NAMES) for k in range(7)]
    for k, part in enumerate(split_spread(table, NAMES).parts):
        left = np.array([each.parts[k].variance for each in others])
        assert part.variance_error == pytest.approx(np.sqrt(6 / 7 * ((left - left.mean()) ** 2).sum()), rel=1e-12)


def test_parts_add_up_and_can_be_named():
    """Variances add up to the square of the deviation, shares to one; a source that is fixed is not there."""
    found = split_spread(np.random.default_rng(8).normal(size=(9, 4)), ["values", "schedule"])
    assert sum(part.variance for part in found.parts) == pytest.approx(found.std**2)
    assert sum(part.share for part in found.parts) == pytest.approx(1.0)
    assert found["schedule"] is found.parts[1]
    with pytest.raises(errors.InvalidParameter, match="source must be one of values, schedule, which vary here"):
        found["graph"]


def test_one_draw_cannot_be_split():
    """A level with a single draw is refused."""
    with pytest.raises(errors.InvalidParameter, match="two draws or more"):
        split_spread(np.zeros((5, 1)), ["values", "schedule"])
