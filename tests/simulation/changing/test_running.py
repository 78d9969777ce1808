"""Networks that change: the bits of the static run where nothing does, and the plain reference where it does."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.simulation import running
from sottovoce.testing.reference import run_plainly

GRAPH = sv.graphs.random_geometric(14, seed=3)
VALUES = np.random.default_rng(0).normal(size=14)
METHODS = [
    sv.StandardGossip(),
    sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9),
    sv.PushSum(),
    sv.FlowUpdating(),
    sv.SynchronousAveraging(),
]
FAILING = [
    sv.Stage(loss=0.2),
    sv.Stage(37, gone=[3, 4], values={0: 2.0}),
    sv.Stage(80, down=[5], edges=GRAPH.edges[3:], loss=0.1),
    sv.Stage(130, values=VALUES[::-1]),
    sv.Stage(131, loss=0.3, gone=[1]),
]
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def simulated(method, num_steps, **how):
    how = {"stages": FAILING, "seed": 5} | how
    return sv.simulate(GRAPH, VALUES, method, num_steps=num_steps, **how)


@each_method
@pytest.mark.parametrize("stages", [[sv.Stage()], [sv.Stage(), sv.Stage(70)]], ids=["one", "two"])
def test_where_nothing_changes_every_bit_is_that_of_the_static_run(method, stages):
    """Values, errors and masses of stages that say nothing are those of a run without stages."""
    static, staged = (simulated(method, 200, replicas=3, stages=each, record=20) for each in (None, stages))
    for name in ("values", "outstanding_noise", "relative_error", "mass_error", "steps"):
        np.testing.assert_array_equal(getattr(static, name), getattr(staged, name))
    assert staged.notes == static.notes
    if method.name in {"standard", "noise-insertion"}:
        np.testing.assert_array_equal(static.fired_edges(), staged.fired_edges())
        np.testing.assert_array_equal(static.activations, staged.activations)


def test_vectors_have_the_same_bits_too():
    """Long vectors, which a static run keeps side by side in memory, come out the same."""
    data = np.random.default_rng(1).normal(size=(14, 40))
    static, staged = (
        sv.simulate(GRAPH, data, sv.StandardGossip(), num_steps=90, seed=2, stages=stages)
        for stages in (None, sv.Stage())
    )
    np.testing.assert_array_equal(static.values, staged.values)


@each_method
def test_the_compiled_run_is_the_plain_one_step_by_step(method):
    """With lost messages, nodes that fail, links and values that change, in every replica."""
    plain = list(run_plainly(GRAPH, VALUES, method, 160, 5, replica=1, stages=FAILING))
    for step in (1, 36, 37, 38, 64, 79, 80, 81, 120, 130, 131, 132, 160):
        run = simulated(method, step, replicas=2, record=[])
        np.testing.assert_allclose(run.tables[1, 0], plain[step - 1], rtol=0, atol=1e-12)


def test_draws_of_synchronous_methods_stay_where_they_are():
    """Noise that is drawn for every node in every round, with messages lost and nodes down."""
    method, stages = sv.MoMurray(noise_std=1.0, noise_decay=0.9), [sv.Stage(loss=0.2), sv.Stage(7, down=[2], gone=[4])]
    plain = list(run_plainly(GRAPH, VALUES, method, 20, 5, stages=stages))
    run = simulated(method, 20, stages=stages)
    np.testing.assert_allclose(run.tables[0, 0], plain[-1], rtol=0, atol=1e-12)


@each_method
def test_resuming_is_one_longer_run(method):
    """Ended at the beginning of a stage, before it and after it, a run goes on as if it had not ended."""
    whole = simulated(method, 160, replicas=2, record=160)
    for first in (36, 37, 38, 131):
        again = simulated(method, first, replicas=2, record=first).resume(160 - first, record=160 - first)
        np.testing.assert_array_equal(again.tables, whole.tables)
        np.testing.assert_array_equal(again.steps, whole.steps)
        np.testing.assert_allclose(again.mass_error, whole.mass_error, rtol=0, atol=1e-15 * np.abs(VALUES).sum())
        np.testing.assert_allclose(again.relative_error, whole.relative_error, rtol=1e-12)


def test_pieces_and_threads_make_no_difference(monkeypatch):
    """However the steps are cut, and on however many cores, the numbers are the same."""
    whole = simulated(METHODS[1], 160, replicas=3, record=160, threads=1)
    monkeypatch.setattr(running, "CHUNK", 17)
    cut = simulated(METHODS[1], 160, replicas=3, record=160, threads=2)
    np.testing.assert_array_equal(whole.tables, cut.tables)
    np.testing.assert_array_equal(whole.relative_error, cut.relative_error)


@each_method
def test_every_record_is_that_of_a_run_which_ends_there(method):
    """Error and mass at a step are those of the nodes that are there, against the mean of their values then."""
    run = simulated(method, 160, record=160)
    for step in (20, 37, 38, 79, 80, 81, 130, 131, 132, 160):
        ended = simulated(method, step, record=[])
        off = (ended.values - ended.true_mean)[ended.present]
        assert run.squared_error[step] == pytest.approx(float((off**2).sum()), rel=1e-12)
        assert ended.final_relative_error == pytest.approx(run.relative_error[step], rel=1e-12)
        assert ended.mean_offset == pytest.approx(off.mean(), rel=1e-12, abs=1e-13)


@each_method
def test_nothing_passes_where_there_is_no_link(method):
    """A ring in two halves, by links or by nodes that are gone: each half ends at its own average, as if alone."""
    ring, values = sv.graphs.cycle(8), np.arange(8.0) ** 2
    inside = [e for e in ring.edges.tolist() if e not in ([0, 7], [3, 4])]
    halves = sv.simulate(ring, values, method, num_steps=6_000, seed=1, stages=sv.Stage(edges=inside))
    np.testing.assert_allclose(halves.values[:4], values[:4].mean(), rtol=1e-9)
    np.testing.assert_allclose(halves.values[4:], values[4:].mean(), rtol=1e-9)
    apart = sv.simulate(ring, values, method, num_steps=6_000, seed=1, stages=sv.Stage(gone=[3, 7]))
    np.testing.assert_allclose(apart.values[:3], values[:3].mean(), rtol=1e-9)
    np.testing.assert_allclose(apart.values[4:7], values[4:7].mean(), rtol=1e-9)


def test_the_average_that_is_meant_follows_the_stages():
    """True mean and presence are those of the last step made."""
    means = [simulated(METHODS[0], step).true_mean for step in (37, 38, 131, 132)]
    moved = np.where(np.arange(14) == 0, 2.0, VALUES)
    expected = [VALUES.mean(), np.delete(moved, [3, 4]).mean(), VALUES.mean(), np.delete(VALUES[::-1], 1).mean()]
    np.testing.assert_allclose(means, expected)
    assert np.flatnonzero(~simulated(METHODS[0], 100).present).tolist() == []
    assert np.flatnonzero(~simulated(METHODS[0], 50).present).tolist() == [3, 4]


@each_method
def test_stopping_is_exact_to_the_step(method):
    """Each replica stops at the first step at which its error is small enough, in whatever stage that is."""
    stages = [sv.Stage(loss=0.05), sv.Stage(30, gone=[2]), sv.Stage(60)]
    every = sv.simulate(GRAPH, VALUES, method, num_steps=400, seed=3, replicas=4, stages=stages, record=400)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=400, seed=3, replicas=4, stages=stages, stop_at=0.15)
    looks = 7 if method.name == "flow-updating" else 1
    for replica in range(4):
        below = np.flatnonzero((every.relative_error[replica] <= 0.15) & (every.steps % looks == 0))
        assert run.steps_done[replica] == (below[0] if len(below) else 400)
    assert len(set(run.steps_done.tolist())) > 1
    np.testing.assert_array_equal(run.resume(10, stop_at=1e-30).tables, every_to(method, stages, run.num_steps + 10))


def every_to(method, stages, num_steps):
    return sv.simulate(GRAPH, VALUES, method, num_steps=num_steps, seed=3, replicas=4, stages=stages).tables


def test_saved_and_loaded_is_the_same_run(tmp_path):
    """Stages are in the file: the loaded run goes on as the first would."""
    stages = [sv.Stage(loss=0.2, node_rates=np.arange(1.0, 15.0)), *FAILING[1:]]
    run = simulated(METHODS[0], 50, replicas=2, stages=stages)
    run.save(tmp_path / "run.npz")
    loaded = sv.Solution.load(tmp_path / "run.npz")
    assert loaded.status is run.status
    np.testing.assert_array_equal(loaded.mass_error, run.mass_error)
    np.testing.assert_array_equal(loaded.resume(110).tables, run.resume(110).tables)
    np.testing.assert_array_equal(
        loaded.resume(110).tables, simulated(METHODS[0], 160, replicas=2, stages=stages).tables
    )


def test_ctrl_c_leaves_a_run_that_goes_on(monkeypatch):
    """An interrupted run has made some steps, says so, and goes on to the same end."""
    whole, pressed = simulated(METHODS[0], 160), []
    monkeypatch.setattr(running, "CHUNK", 300)

    def press(done, total):
        if done >= 40 and not pressed:
            pressed.append(done)
            signal.raise_signal(signal.SIGINT)

    run = sv.simulate(GRAPH, VALUES, METHODS[0], num_steps=160, seed=5, stages=FAILING, progress=press)
    assert run.status is sv.Status.INTERRUPTED
    assert 40 <= run.num_steps < 160
    np.testing.assert_array_equal(run.resume(160 - run.num_steps).tables, whole.tables)


def test_the_guarantee_is_said_not_to_hold():
    """A run on a network that changes is outside the guarantee, and its repr says what it is."""
    run = simulated(METHODS[0], 10)
    assert run.status is sv.Status.OUTSIDE_GUARANTEE
    assert "network that does not change" in run.notes[0]
    assert "network that changes" in repr(run)
