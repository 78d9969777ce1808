"""The compiled driver and the literature's equation agree, for every method."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.testing.equations import iterates

from ..methods.settings import GRAPH, SETTINGS, VALUES

STEPS, SEED = 60, 2


@pytest.fixture(params=SETTINGS, ids=str)
def method(request):
    return SETTINGS[request.param]


def test_compiled_equals_the_equation_on_whole_vectors(method):
    """Values and errors after every step are those of the equation in plain NumPy, for a replica not the first."""
    run = sv.simulate(GRAPH, VALUES, method, num_steps=STEPS, seed=SEED, replicas=3, record=list(range(1, STEPS + 1)))
    expected = np.array([*iterates(method, GRAPH, VALUES, STEPS, SEED, replica=2)])
    np.testing.assert_allclose(run.values[2], expected[-1], rtol=0, atol=1e-13)
    squared = ((expected - VALUES.mean()) ** 2).sum(axis=1)
    np.testing.assert_allclose(run.squared_error[2], squared, rtol=1e-10, atol=1e-26)
