"""Vectors with their coordinates side by side: the bits of each coordinate run by itself, and half the memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.simulation.kinds import pair

GRAPH = sv.graphs.random_geometric(60, seed=1)
NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)
METHODS = [
    sv.StandardGossip(),
    NOISY,
    sv.NoiseInsertion(noise_std=np.linspace(0.0, 2.0, 60), noise_decay=0.5),
    sv.SealedGossip(seal_std=10.0, noise_std=1.0, noise_decay=0.9),
    sv.methods.BudgetedNoiseInsertion(noise_std=1.0, noise_decay=0.9, hidden_std=0.1),
]


@pytest.fixture(autouse=True)
def short_vectors_too(monkeypatch):
    """All vectors are run side by side."""
    monkeypatch.setattr(pair, "LEAST_COORDINATES", 2)
    monkeypatch.setattr(pair, "LEAST_NOISY", 2)


def data(num_coordinates: int) -> np.ndarray:
    """Values of 60 nodes."""
    return np.random.default_rng(1).random((60, num_coordinates))


def one_after_the_other(monkeypatch, values, method, **how):
    """The same run with the driver of numbers."""
    with monkeypatch.context() as patch:
        patch.setattr(pair, "LEAST_COORDINATES", 2**62)
        patch.setattr(pair, "LEAST_NOISY", 2**62)
        run = sv.simulate(GRAPH, values, method, **how)
    assert run.common is None
    return run


def assert_same(one, other):
    """All that was found, to the last bit; only masses may be summed in another order."""
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.outstanding_noise, other.outstanding_noise)
    np.testing.assert_array_equal(one.squared_error, other.squared_error)
    np.testing.assert_allclose(one.mass_error, other.mass_error, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(one.steps_done, other.steps_done)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.label())
@pytest.mark.parametrize("num_coordinates", [3, 128, 150])
def test_coordinates_side_by_side_have_the_bits_of_each_alone(monkeypatch, method, num_coordinates):
    """Values, noise, errors and masses are those of the driver of numbers, for widths that fill blocks or do not."""
    how = {"num_steps": 700, "seed": 5, "replicas": 2}
    run = sv.simulate(GRAPH, data(num_coordinates), method, **how)
    assert run.common is not None
    assert_same(run, one_after_the_other(monkeypatch, data(num_coordinates), method, **how))


@pytest.mark.parametrize("record", [range(301), [5, 6, 250], []])
def test_records_of_vectors_are_carried_as_those_of_numbers(monkeypatch, record):
    """Every step recorded, a few, or none: the same bits."""
    how = {"num_steps": 300, "seed": 5, "record": record}
    run = sv.simulate(GRAPH, data(70), NOISY, **how)
    assert_same(run, one_after_the_other(monkeypatch, data(70), NOISY, **how))


def test_vectors_stop_and_go_on(monkeypatch, tmp_path):
    """Stopping puts noise amplitudes back too; a run that is saved, loaded and resumed is the same run."""
    how = {"num_steps": 4000, "seed": 5, "replicas": 3, "stop_at": 0.5}
    run, other = sv.simulate(GRAPH, data(40), NOISY, **how), one_after_the_other(monkeypatch, data(40), NOISY, **how)
    assert_same(run, other)
    run.save(tmp_path / "run.npz")
    assert_same(sv.Solution.load(tmp_path / "run.npz").resume(100, stop_at=1e-3), run.resume(100, stop_at=1e-3))
    assert_same(run.resume(100, stop_at=1e-3), other.resume(100, stop_at=1e-3))


def test_threads_share_coordinates(monkeypatch):
    """What is common to all coordinates is the same whoever makes the steps, in one span or many."""
    from sottovoce.simulation import running

    one = sv.simulate(GRAPH, data(90), NOISY, num_steps=900, seed=5, threads=1)
    monkeypatch.setattr(running, "CHUNK", 1)
    assert_same(one, sv.simulate(GRAPH, data(90), NOISY, num_steps=900, seed=5, threads=3))


def test_amplitudes_are_stored_once_for_each_node():
    """Value and outstanding noise for each coordinate; amplitude and decay for each node: half the state."""
    run = sv.simulate(GRAPH, data(50), NOISY, num_steps=10, seed=1)
    assert run.tables.shape == (1, 50, 60, 2)
    assert run.common.shape == (1, 60, 2)


def peak_memory(num_coordinates: int, **how) -> int:
    """Bytes that a run of 60 nodes had at most, beside the values that it is given."""
    values = data(num_coordinates)
    sv.simulate(GRAPH, values, NOISY, num_steps=1, seed=1)  # kernels
    tracemalloc.start()
    try:
        sv.simulate(GRAPH, values, NOISY, num_steps=400, seed=1, **how)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("how", [{"record": 400}, {"stop_at": 1e-9}, {"record": []}], ids=str)
def test_records_of_vectors_need_little_memory(monkeypatch, how):
    """However many steps are recorded or watched, a run needs less than three times the room of its state."""
    from sottovoce.simulation import running

    monkeypatch.setattr(running, "SHEET", 2**14)
    state = 60 * 5_000 * 2 * 8
    assert peak_memory(5_000, **how) < 3 * state


def test_the_drift_of_vectors_is_that_of_the_worst_coordinate():
    """One number for each record and replica: the largest difference from the sum of the private values, either way."""
    values = data(70)
    run = sv.simulate(GRAPH, values, NOISY, num_steps=5, seed=5, record=[0, 5], replicas=2)
    assert run.records.drifts.shape == (2, 2)
    assert run.mass_error.max() < 1e-12
    assert run.totals == pytest.approx(values.sum(axis=0), rel=1e-14)
    masses = np.array([run.totals, run.totals, run.totals])
    masses[0, 3], masses[0, 4], masses[1, 69], masses[2, 0] = -5.0, -7.0, np.nan, np.inf
    masses[0, 3:5] += run.totals[3:5]
    assert run.drift(masses) == pytest.approx([7.0, np.nan, np.inf], nan_ok=True)


def test_short_vectors_are_run_one_coordinate_after_the_other(monkeypatch):
    """Below the limits, which differ with noise, and for methods that look at other rows, tables are as for numbers."""
    monkeypatch.undo()
    for method, width, beside in [
        (sv.StandardGossip(), 15, False),
        (sv.StandardGossip(), 16, True),
        (NOISY, 63, False),
        (NOISY, 64, True),
        (sv.HeavyBallGossip(momentum=0.3), 1024, False),
        (sv.BinaryOracle(step_size=0.1), 1024, False),
    ]:
        assert pair.KIND.beside(method, width) == beside
