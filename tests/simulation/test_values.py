"""Private values: what is refused, and what the error of equal ones is."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.graphs.values import SMALLEST_SPREAD

PATH = sv.graphs.path(3)
TENTHS = np.full(3, 0.1)  # their sum divided by three is not a tenth


@pytest.mark.parametrize("values", [TENTHS, np.full((3, 2), [0.1, 0.7])])
def test_equal_values_have_no_error(values):
    """Untouched they are where they should be; the scale is one, so that an error is what it is."""
    run = sv.simulate(PATH, values, sv.StandardGossip(), num_steps=10, seed=1, stop_at=1e-6)
    assert (run.status, run.num_steps, run.scale) == ("stopped at error", 0, 1.0)
    noisy = sv.simulate(PATH, values, sv.NoiseInsertion(1.0, 0.5), num_steps=10, seed=1, record=2)
    assert noisy.relative_error[0] == 0.0
    np.testing.assert_array_equal(noisy.relative_error, noisy.squared_error)
    assert noisy.final_relative_error == pytest.approx(noisy.relative_error[-1])


def test_a_coordinate_of_equal_values_has_no_error():
    """Others may differ: the scale is theirs."""
    values = np.stack([TENTHS, [1.0, 2.0, 3.0]], axis=1)
    run = sv.simulate(PATH, values, sv.StandardGossip(), num_steps=10, seed=1)
    assert run.true_mean.tolist() == [0.1, 2.0]
    assert run.scale == 2.0


def test_values_that_are_equal_in_a_stage_have_no_error():
    """Where the network changes, the average of the nodes that are there is theirs."""
    stages = [sv.Stage(), sv.Stage(start=5, gone=[3])]
    run = sv.simulate(sv.graphs.path(4), [*TENTHS, 0.1], sv.StandardGossip(), num_steps=10, seed=1, stages=stages)
    np.testing.assert_array_equal(run.relative_error, 0.0)
    assert run.final_relative_error == 0.0


def test_a_table_of_equal_values_says_what_the_runs_say():
    """The row of a comparison has the error of its run, and an accuracy that follows from it."""
    once = {"num_steps": 10, "seed": 1, "replicas": 1}
    row = sv.compare(PATH, TENTHS, [sv.NoiseInsertion(1.0, 0.5)], prior_std=1.0, **once).rows[0]
    run = sv.simulate(PATH, TENTHS, sv.NoiseInsertion(1.0, 0.5), num_steps=10, seed=1)
    assert row.relative_error == pytest.approx(run.final_relative_error)
    assert row.accuracy == pytest.approx(np.sqrt(run.final_relative_error / 3))


@pytest.mark.parametrize("values", [[1e-165, 0.0, -1e-165], [[1.0, 0.0], [1.0, 1e-160], [1.0, 0.0]]])
def test_values_whose_squares_are_lost_are_refused(values):
    """Their error would be zero from the beginning, whatever the run does; none of them is shown."""
    with pytest.raises(errors.InvalidValues, match=r"at least 1e-135 apart.*scale them") as caught:
        sv.simulate(PATH, values, sv.NoiseInsertion(1e-50, 0.5), num_steps=10, seed=1, stop_at=1e-6)
    assert "1e-16" not in str(caught.value)


def test_the_smallest_values_run_like_others():
    """Scaled by a power of two a run is the same bit by bit, down to what rounding leaves."""
    tiny = 2.0 ** np.ceil(np.log2(SMALLEST_SPREAD))
    values = np.array([0.3, 0.0, -1.0])
    run, small = (sv.simulate(PATH, s * values, sv.StandardGossip(), num_steps=300, seed=1) for s in (1.0, tiny))
    np.testing.assert_array_equal(small.relative_error, run.relative_error)
    assert run.relative_error[-1] < 1e-30
