"""The compiled driver, the interpreter and the literature's equation agree, for every method."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.testing.equations import iterates
from sottovoce.testing.reference import run_plainly

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


def test_compiled_equals_the_interpreter_field_by_field(method):
    """The same functions give the same node table, compiled or not; vector data have noise of their own."""
    data = np.stack([VALUES, VALUES**2], axis=1)
    run = sv.simulate(GRAPH, data, method, num_steps=STEPS, seed=SEED)
    *_, nodes = run_plainly(GRAPH, data[:, 1], method, STEPS, SEED, coordinate=1)
    np.testing.assert_allclose(run._settled()[0, 1], nodes, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(run.values[:, 1], run._settled()[0, 1, :, 0])


def test_resuming_recording_and_threads_change_nothing(method):
    """Stopping, saving, recording often and using one thread give the very same bits as one long run."""
    once = sv.simulate(GRAPH, VALUES, method, num_steps=STEPS, seed=SEED, replicas=2, record=1, threads=2)
    pieces = sv.simulate(GRAPH, VALUES, method, num_steps=17, seed=SEED, replicas=2, threads=1)
    pieces = pieces.resume(STEPS - 17, record=list(range(18, STEPS)), threads=1)
    np.testing.assert_array_equal(once.values, pieces.values)
    np.testing.assert_array_equal(once.tables, pieces.tables)


def test_saved_and_loaded_runs_go_on_the_same(method, tmp_path):
    """A file brings back the method itself and everything needed to continue."""
    run = sv.simulate(GRAPH, VALUES, method, num_steps=20, seed=SEED, replicas=2)
    run.save(tmp_path / "run.npz")
    loaded = sv.Solution.load(tmp_path / "run.npz")
    assert loaded.method == method
    assert (loaded.status, loaded.notes) == (run.status, run.notes)
    np.testing.assert_array_equal(loaded.resume(20).values, run.resume(20).values)


def test_what_is_conserved_is_conserved(method):
    """Σ values (push-sum: Σ s) less the outstanding noise is Σ private values, to rounding, at every record."""
    run = sv.simulate(GRAPH, VALUES, method, num_steps=2000, seed=SEED, replicas=4, record=50)
    assert run.mass_error.max() < 1e-12
