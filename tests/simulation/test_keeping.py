"""Values at chosen steps and a user's statistic: those of runs that end there, and they change nothing."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, Unsupported
from sottovoce.methods import VALUE
from sottovoce.simulation import compiling, running

GRAPH = sv.graphs.random_geometric(14, seed=3)
VALUES = np.random.default_rng(0).normal(size=14)
METHODS = [
    sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9),
    sv.HeavyBallGossip(momentum=0.3),
    sv.SynchronousAveraging(),
    sv.FlowUpdating(),
]
STEPS = [0, 1, 63, 64, 65, 128, 200]


def spread(nodes):
    """Largest less smallest value."""
    return nodes[:, VALUE].max() - nodes[:, VALUE].min()


def simulated(method=METHODS[0], num_steps=200, values=VALUES, **how):
    return sv.simulate(GRAPH, values, method, num_steps=num_steps, **({"seed": 5} | how))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_what_is_kept_is_what_a_run_that_ends_there_has(method):
    """For every kind of method and every replica; and the run itself is the same, bit by bit."""
    run = simulated(method, replicas=3, record_values=STEPS, statistic=spread, record=STEPS)
    assert run.value_steps.tolist() == run.statistic_steps.tolist() == STEPS
    assert run.recorded_values.shape == (3, len(STEPS), 14)
    np.testing.assert_array_equal(run.recorded_values[:, 0], np.tile(VALUES, (3, 1)))
    for row, step in enumerate(STEPS[1:], start=1):
        ended = simulated(method, step, replicas=3, record=[])
        np.testing.assert_array_equal(run.recorded_values[:, row], ended.values)
        np.testing.assert_array_equal(run.statistic[:, row], np.ptp(ended.values, axis=1))
    without = simulated(method, replicas=3, record=STEPS)
    np.testing.assert_array_equal(run.tables, without.tables)
    np.testing.assert_array_equal(run.relative_error, without.relative_error)


@pytest.mark.parametrize("dimension", [2, 40])
def test_vectors_keep_every_coordinate(dimension):
    """Coordinates come last; long vectors, which lie side by side in memory, are no exception."""
    data = np.random.default_rng(1).normal(size=(14, dimension))
    method = sv.StandardGossip()
    run = simulated(method, values=data, record_values=[100], statistic=spread, record=[100])
    ended = simulated(method, 100, values=data, record=[])
    assert run.recorded_values.shape == (1, 14, dimension)
    np.testing.assert_array_equal(run.recorded_values[0], ended.values)
    np.testing.assert_array_equal(run.statistic[0], np.ptp(ended.values, axis=0))


def test_columns_that_all_coordinates_share_are_there():
    """A statistic sees all columns of the table, also those that are stored once for a long vector."""

    def amplitude(nodes):
        return nodes[:, 2].sum()

    data = np.random.default_rng(1).normal(size=(14, 1100))
    run = simulated(METHODS[0], 30, values=data, statistic=amplitude, record=[30])
    short = simulated(METHODS[0], 30, values=data[:, :3], statistic=amplitude, record=[30])
    np.testing.assert_allclose(run.statistic[0, :3], short.statistic[0], rtol=1e-14)
    assert np.ptp(run.statistic) == 0.0


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("stop_at", [None, 0.02])
def test_values_and_errors_at_different_steps(monkeypatch, method, stop_at):
    """Steps of values that are not those of errors, in many spans: each is there, and nothing else."""
    monkeypatch.setattr(running, "CHUNK", 600)
    record, wanted = [0, 3, 90, 91, 180], [1, 3, 64, 91, 92, 177]
    how = {"replicas": 2, "stop_at": stop_at}
    run = simulated(method, record=record, record_values=wanted, statistic=spread, **how)
    alone = simulated(method, record=record, **how)
    every = simulated(method, record=200, record_values=200, **how)
    np.testing.assert_array_equal(run.steps, alone.steps)
    np.testing.assert_allclose(run.squared_error, alone.squared_error, rtol=1e-12)
    assert run.value_steps.tolist() == [step for step in wanted if step <= run.num_steps]
    np.testing.assert_array_equal(run.recorded_values, every.recorded_values[:, run.value_steps])
    assert run.statistic_steps.tolist() == [step for step in record if step <= run.num_steps]
    np.testing.assert_array_equal(run.statistic, np.ptp(every.recorded_values[:, run.statistic_steps], axis=-1))


def test_no_driver_is_compiled_for_a_statistic():
    """A statistic is compiled by itself: a second one makes no other kernel."""
    simulated(statistic=spread)
    before = dict(compiling._KERNELS)
    run = simulated(statistic=lambda nodes: 2.0 * nodes[0, VALUE], record_values=[200], record=[200])
    assert run.statistic[0] == 2.0 * run.recorded_values[0, 0]
    assert before == compiling._KERNELS


def test_a_statistic_that_fails_is_said():
    """An error that it raises at some step is not lost."""

    def careful(nodes):
        if nodes[:, VALUE].max() < 1.0:
            raise ValueError("too small")
        return 0.0

    with pytest.raises(InvalidParameter, match="statistic careful failed: it raised an error at a recorded step"):
        simulated(num_steps=5_000, statistic=careful)


def test_a_statistic_cannot_change_the_run():
    """It gets a copy of the nodes."""

    def destroy(nodes):
        nodes[:, VALUE] = 0.0
        return 1.0

    np.testing.assert_array_equal(simulated(statistic=destroy).values, simulated().values)


def test_networks_that_change_are_kept_too():
    """A row at the beginning of a stage is still what the stage before it left."""
    stages = [sv.Stage(loss=0.2), sv.Stage(64, values=VALUES + 1.0)]
    run = simulated(sv.StandardGossip(), stages=stages, record_values=STEPS)
    for row, step in enumerate(STEPS[1:], start=1):
        ended = simulated(sv.StandardGossip(), step, stages=stages)
        np.testing.assert_array_equal(run.recorded_values[row], ended.values)


def test_replicas_that_stop_have_no_values_afterwards():
    """Rows after a replica's last step are NaN, the row of that step is there, and rows that nobody reached are not."""
    run = simulated(num_steps=3_000, replicas=4, stop_at=0.01, record_values=3_000, statistic=spread, record=3_000)
    for replica, last in enumerate(run.steps_done.tolist()):
        np.testing.assert_array_equal(run.recorded_values[replica, last], run.values[replica])
        assert np.isnan(run.recorded_values[replica, last + 1 :]).all()
        assert np.isfinite(run.statistic[replica, : last + 1]).all()
    assert run.value_steps[-1] == run.num_steps < 3_000


def test_resuming_adds_rows():
    """Asked for again, they are as of one longer run; not asked for, those of before stay."""
    whole = simulated(record_values=200, statistic=spread, record=200)
    half = simulated(num_steps=100, record_values=100, statistic=spread, record=100)
    again = half.resume(100, record_values=100, statistic=spread, record=100)
    for name in ("value_steps", "recorded_values", "statistic_steps", "statistic"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    np.testing.assert_array_equal(half.resume(100).recorded_values, half.recorded_values)


def test_saved_with_the_run(tmp_path):
    """A file has what was kept."""
    run = simulated(record_values=STEPS, statistic=spread)
    run.save(tmp_path / "run.npz")
    loaded = sv.Solution.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(loaded.recorded_values, run.recorded_values)
    np.testing.assert_array_equal(loaded.statistic, run.statistic)


def test_ctrl_c_keeps_what_was_reached(monkeypatch):
    """An interrupted run has rows up to where it came, and no others."""
    monkeypatch.setattr(running, "CHUNK", 300)

    def press(done, total):
        if done > 500:
            signal.raise_signal(signal.SIGINT)

    run = sv.simulate(GRAPH, VALUES, METHODS[0], num_steps=2000, seed=5, record_values=200, progress=press)
    assert run.status is sv.Status.INTERRUPTED
    assert 0 < run.value_steps[-1] <= run.num_steps < 2000
    assert np.isfinite(run.recorded_values).all()


def test_what_was_not_asked_for_is_not_there():
    """The sentence names the parameter."""
    with pytest.raises(InvalidParameter, match="record_values must be given to simulate"):
        _ = simulated().recorded_values
    with pytest.raises(InvalidParameter, match="statistic must be given to simulate"):
        _ = simulated().statistic


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"statistic": 3}, "statistic must be a function of the node table, got int"),
        (
            {"statistic": lambda nodes: nodes.nothing},
            r"statistic <lambda> does not compile: Unknown attribute 'nothing'",
        ),
        ({"statistic": lambda nodes: nodes[:, 0]}, r"statistic <lambda> does not compile: .*float.* .*test_keeping.py"),
        ({"record_values": [3, 201]}, r"record_values must be whole numbers in \[0, 200\]"),
        ({"record_values": 0}, "record_values must be a whole number"),
        (
            {"num_steps": 10**6, "record_values": 10**6, "replicas": 10**4},
            "would keep 1,000,000 × 10,000 × 1 × 14 numbers",
        ),
    ],
)
def test_bad_requests_are_refused(how, words):
    """Before a step is made, with what is wrong; memory is stated."""
    with pytest.raises(InvalidParameter, match=words):
        simulated(**how)


def test_a_device_keeps_errors_alone():
    """Values and statistics are refused on a GPU."""
    with pytest.raises(Unsupported, match="for the CPU"):
        simulated(device="gpu", record_values=3)
