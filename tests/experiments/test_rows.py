"""Factors of the long run: exact where known, fitted past the beginning only; and messages needed for an accuracy."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.experiments.compare import customary_methods
from sottovoce.experiments.rows import exact_factor, fitted_factor

PATH = sv.graphs.path(5)
VALUES = np.array([0.3, -1.0, 2.0, 0.7, 5.0])
ROUNDS = [
    method
    for method in [*customary_methods(PATH), sv.SynchronousAveraging("max-degree"), sv.Muffliato(noise_std=0.0)]
    if method.in_rounds and exact_factor(PATH, method) is not None
]


@pytest.mark.parametrize("method", ROUNDS, ids=lambda method: method.label())
def test_exact_factors_of_rounds_are_those_of_runs(method):
    """Over many late rounds the mean-square error of an ensemble shrinks by the factor that is called exact."""
    factor = exact_factor(PATH, method)
    first = int(np.log(1e-6) / np.log(factor))
    late = [first, 2 * first]
    error = sv.simulate(PATH, VALUES, method, num_steps=late[1], seed=1, replicas=400, record=late).squared_error
    seen = np.log(error[:, 1].mean() / error[:, 0].mean()) / (late[1] - late[0])
    assert seen == pytest.approx(np.log(factor), rel=0.05)


def test_at_least_six_methods_in_rounds_have_an_exact_factor():
    """The test above is about something."""
    assert len({method.name for method in ROUNDS}) >= 6


@pytest.mark.parametrize(
    ("method", "known"),
    [
        (sv.StandardGossip(), sv.theory.second_moment_rate(PATH)),
        (sv.SealedGossip(seal_std=3.0), sv.theory.second_moment_rate(PATH)),
        (sv.NoiseInsertion(1.0, 0.9), sv.theory.asymptotic_rate(PATH, sv.NoiseInsertion(1.0, 0.9)).rate),
        (sv.NoiseInsertion(1.0, 0.99), 1.0 - 0.25 * (1 - 0.99**2)),
    ],
    ids=["standard", "sealed", "gossip decides", "noise decides"],
)
def test_exact_factors_of_exchanges(method, known):
    """The largest eigenvalue of the second-moment map, or what noise leaves of itself at the slowest node."""
    assert exact_factor(PATH, method) == pytest.approx(known)


@pytest.mark.parametrize("method", [sv.PushSum(), sv.HeavyBallGossip(0.4), sv.GapOracle(0.1), sv.Nozari(1.0, 0.5)])
def test_other_factors_are_not_called_exact(method):
    """A bound, or nothing: no exact factor."""
    assert exact_factor(PATH, method) is None


def test_weights_that_are_not_symmetric_are_not_called_exact():
    """A turning ring: the singular value, which bounds a round, is not the factor of the long run."""
    turn = 0.5 * np.eye(3) + 0.5 * np.roll(np.eye(3), 1, axis=1)
    assert exact_factor(sv.graphs.cycle(3), sv.SynchronousAveraging(turn)) is None


def test_no_factor_is_fitted_before_the_asymptote():
    """A curve whose slow part is still covered by a fast one, a resting curve, one too short: nothing is read."""
    steps = np.arange(200)
    slow = 1e-4 * 0.99**steps
    assert fitted_factor(steps, 0.9**steps + slow) is None
    assert fitted_factor(steps, np.full(200, 0.3)) is None
    assert fitted_factor(steps, np.full(200, 1e-30)) is None
    assert fitted_factor(steps[:2], np.ones(2)) is None
    assert fitted_factor(np.arange(2000), 0.9 ** np.arange(2000) + 1e-4 * 0.99 ** np.arange(2000)) == pytest.approx(
        0.99
    )


def test_messages_needed_are_until_a_run_stays_accurate():
    """For every replica the record after the last one that is less accurate; quantiles over replicas; else nothing."""
    method = sv.NoiseInsertion(1.0, 0.9)
    found = sv.compare(PATH, VALUES, [method], num_steps=400, seed=3, replicas=11, accuracy=0.05, schedules=1)
    (run,), (row,) = found.runs, found.rows
    rms = np.sqrt(run.squared_error / 5)
    needed = [run.transmissions[np.flatnonzero(curve > 0.05)[-1] + 1] for curve in rms]
    assert row.messages_needed == np.median(needed)
    assert row.messages_needed_low <= row.messages_needed <= row.messages_needed_high
    never = sv.compare(PATH, VALUES, [sv.Nozari(1.0, 0.5)], num_steps=400, seed=3, accuracy=1e-6, schedules=1)
    assert never.rows[0].messages_needed is None
