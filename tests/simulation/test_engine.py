"""``simulate``: shapes, exactness, independence of how it is run, and refusals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce import errors
from sottovoce.simulation import running

RING = sv.graphs.cycle(10)
VALUES = np.random.default_rng(0).random(10)
NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)


def run(**keywords):
    return sv.simulate(RING, VALUES, NOISY, **({"num_steps": 300, "seed": 1} | keywords))


def test_mass_is_conserved_at_every_recorded_step():
    """Σ values − Σ outstanding noise = Σ private values to rounding, however large the noise."""
    for noise in (0.1, 1.0, 1e3):
        result = sv.simulate(
            RING, VALUES, sv.NoiseInsertion(noise, 0.99), num_steps=5000, seed=2, replicas=20, record=200
        )
        assert result.mass_error.shape == (20, 201)
        assert result.mass_error.max() < 1e-12 * max(1.0, noise)


@given(seed=st.integers(0, 2**64 - 1), noise=st.floats(0, 10), decay=st.floats(0, 0.95), k=st.integers(1, 400))
@settings(max_examples=30)
def test_what_the_mean_is_off_by_is_the_outstanding_noise(seed, noise, decay, k):
    """mean(x) − c̄ = mean(u), at any moment."""
    result = sv.simulate(RING, VALUES, sv.NoiseInsertion(noise, decay), num_steps=k, seed=seed)
    assert result.mean_offset == pytest.approx(result.outstanding_noise.mean(), abs=1e-12 * (1 + noise))


def test_recorded_error_is_the_error_of_the_values_at_that_step():
    """A recorded error is recomputed from a run that ends there."""
    result = run(record=[0, 1, 7, 64, 150, 300])
    assert result.steps.tolist() == [0, 1, 7, 64, 150, 300]
    assert result.relative_error[0] == 1.0
    scale = ((VALUES - VALUES.mean()) ** 2).sum()
    for step, error in zip(result.steps[1:], result.relative_error[1:], strict=True):
        values = run(num_steps=int(step)).values
        assert error == pytest.approx(((values - VALUES.mean()) ** 2).sum() / scale, rel=1e-12)


def test_shapes():
    """One replica has no replica axis; vector data adds an axis at the end."""
    vectors = np.stack([VALUES, -VALUES, 2 * VALUES], axis=1)
    assert run().values.shape == (10,)
    assert run(replicas=3).values.shape == (3, 10)
    assert sv.simulate(RING, vectors, NOISY, num_steps=5, seed=1).values.shape == (10, 3)
    many = sv.simulate(RING, vectors, NOISY, num_steps=5, seed=1, replicas=4)
    assert many.values.shape == many.outstanding_noise.shape == (4, 10, 3)
    assert many.relative_error.shape == (4, len(many.steps))
    assert many.activations.shape == (4, 10)
    assert many.true_mean.shape == (3,)


def test_a_replica_does_not_depend_on_the_others():
    """Replica r is the same run, bit for bit, among 1, 3 or 50 replicas and on 1 or 2 threads."""
    many = run(replicas=50, threads=2)
    for replicas, threads in ((1, 1), (3, 1), (3, 2), (50, 1)):
        few = run(replicas=replicas, threads=threads)
        np.testing.assert_array_equal(np.atleast_2d(few.values), many.values[:replicas])
        np.testing.assert_array_equal(np.atleast_2d(few.relative_error), many.relative_error[:replicas])


def test_chunks_do_not_matter(monkeypatch):
    """The result is the same bit for bit when the engine looks up every 256 steps."""
    whole = run(num_steps=3000, record=7, replicas=3)
    monkeypatch.setattr(running, "CHUNK", 1)
    np.testing.assert_array_equal(run(num_steps=3000, record=7, replicas=3).values, whole.values)


def test_coordinates_share_edges_and_have_noise_of_their_own():
    """The first coordinate is the scalar run; the second sees the same edges but other draws; threads do not matter."""
    vectors = np.stack([VALUES, VALUES, VALUES], axis=1)
    together = sv.simulate(RING, vectors, NOISY, num_steps=300, seed=1, threads=2)
    np.testing.assert_array_equal(together.values[:, 0], run().values)
    assert not np.allclose(together.outstanding_noise[:, 0], together.outstanding_noise[:, 1])
    np.testing.assert_array_equal(together.fired_edges(), run().fired_edges())
    alone = sv.simulate(RING, vectors, NOISY, num_steps=300, seed=1, threads=1)
    np.testing.assert_array_equal(together.values, alone.values)
    assert abs(np.corrcoef(together.draws(coordinate=1)[:, 0], together.draws(coordinate=0)[:, 0])[0, 1]) < 0.3


@given(first=st.integers(1, 200), then=st.lists(st.integers(1, 200), min_size=1, max_size=3))
@settings(max_examples=20)
def test_resuming_is_one_long_run(first, then):
    """Any way of cutting a run into pieces gives the same values, bit for bit, and leaves the pieces alone."""
    piece = run(num_steps=first, replicas=2)
    before = piece.values.copy()
    whole = piece
    for more in then:
        whole = whole.resume(more)
    np.testing.assert_array_equal(whole.values, run(num_steps=first + sum(then), replicas=2).values)
    np.testing.assert_array_equal(piece.values, before)
    assert whole.num_steps == first + sum(then)
    assert np.all(np.diff(whole.steps) > 0)


def test_fired_edges_and_activations_are_recomputed():
    """Replaying the fired edges with standard gossip reproduces the run; activations are their endpoint counts."""
    result = sv.simulate(RING, VALUES, sv.StandardGossip(), num_steps=500, seed=4, replicas=2)
    for replica in (0, 1):
        fired = result.fired_edges(replica=replica)
        x = VALUES.copy()
        for i, j in RING.edges[fired]:
            x[i] = x[j] = 0.5 * (x[i] + x[j])
        np.testing.assert_array_equal(x, result.values[replica])
        np.testing.assert_array_equal(np.bincount(RING.edges[fired].ravel()), result.activations[replica])
    np.testing.assert_array_equal(result.fired_edges(100, 200), result.fired_edges()[100:200])
    assert result.activations.sum() == 2 * 2 * 500


def test_early_stop():
    """Each replica stops at its own step, whatever the others do, and nothing is recorded for it after that."""
    result = run(num_steps=5000, replicas=20, stop_at=1e-6, record=500)
    assert result.status is sv.Status.STOPPED_AT_ERROR
    assert len(set(result.steps_done.tolist())) > 1
    assert np.all(result.final_relative_error <= 1e-6)
    for r in range(20):
        before = result.steps < result.steps_done[r]
        assert np.all(result.relative_error[r, before] > 1e-6)
        assert np.isnan(result.relative_error[r, result.steps > result.steps_done[r]]).all()
    alone = run(num_steps=5000, stop_at=1e-6, record=500)
    np.testing.assert_array_equal(alone.values, result.values[0])
    assert alone.relative_error[-1] <= 1e-6
    np.testing.assert_array_equal(result.resume(100).values, result.values)


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_stopping_does_not_depend_on_the_unit_of_the_values(unit):
    """The error that is compared is the relative one: in another unit each replica stops at the same step."""
    runs = [
        sv.simulate(RING, values, sv.StandardGossip(), num_steps=3000, seed=1, replicas=5, stop_at=1e-3, record=300)
        for values in (VALUES, VALUES * unit)
    ]
    np.testing.assert_array_equal(runs[0].steps_done, runs[1].steps_done)
    assert 0 < runs[0].steps_done.min() < runs[0].steps_done.max() < 3000


def test_equal_values_have_an_absolute_error():
    """When there is nothing to average the relative error is the squared error itself."""
    result = sv.simulate(RING, np.ones(10), NOISY, num_steps=50, seed=1)
    np.testing.assert_array_equal(result.relative_error, result.squared_error)
    assert result.relative_error[0] == 0.0
    assert result.relative_error[-1] > 0.0


def test_noise_below_any_effect_is_zero():
    """After thousands of activations nothing denormal is left in the tables, and the noise is gone."""
    result = sv.simulate(RING, VALUES, sv.NoiseInsertion(1.0, 0.5), num_steps=20_000, seed=1)
    tables = np.abs(result.tables)
    assert not np.any((tables > 0) & (tables < np.finfo(float).tiny))
    assert np.all(result.outstanding_noise == 0.0)


def test_a_seed_is_drawn_and_recorded_when_none_is_given():
    """Two runs without a seed differ, and each can be repeated from the seed it reports."""
    first, second = run(seed=None), run(seed=None)
    assert first.seed != second.seed
    np.testing.assert_array_equal(run(seed=first.seed).values, first.values)


def test_global_random_state_is_left_alone():
    """Nothing reads or advances NumPy's global generator."""
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    run(replicas=2)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def away(nodes, i, j, draw_i, draw_j, step, parameters):
    """Both ends run apart."""
    nodes[i, 0] *= -1e30
    nodes[j, 0] *= 1e30


class Diverging(sv.methods.PairMethod):
    """A method that does not converge; also shows that a user's own method runs compiled."""

    name = "diverging"
    num_fields = 1
    update = staticmethod(away)


def test_divergence_is_a_status():
    """Values that overflow are reported, not raised."""
    result = sv.simulate(RING, VALUES, Diverging(), num_steps=200, seed=1, record=[0])
    assert result.status is sv.Status.DIVERGED


@pytest.mark.parametrize("replicas", [1, 500])
@pytest.mark.parametrize("step_size", [1e160, 1e300])
def test_values_without_an_error_have_diverged(step_size, replicas):
    """Finite values whose squares are not leave no error to speak of; 500 replicas are looked at in another way."""
    result = sv.simulate(RING, VALUES, sv.BinaryOracle(step_size), num_steps=100, seed=1, replicas=replicas)
    assert np.isfinite(result.values).all()
    assert result.status is sv.Status.DIVERGED


def test_large_numbers_are_no_divergence():
    """The largest values that are taken are completed, and so are small ones under large noise."""
    for values, noise in ((1e150 * np.sign(VALUES - 0.5), 1.0), (VALUES, 1e50)):
        result = sv.simulate(RING, values, sv.NoiseInsertion(noise, 0.5), num_steps=100, seed=1, replicas=500)
        assert result.status is sv.Status.COMPLETED


BAD = [
    ({"num_steps": 0}, errors.InvalidParameter, r"num_steps .*\[1, .* got 0"),
    ({"num_steps": 2.5}, errors.InvalidParameter, "num_steps"),
    ({"replicas": 0}, errors.InvalidParameter, "replicas"),
    ({"seed": -1}, errors.InvalidParameter, "seed"),
    ({"seed": 2**64}, errors.InvalidParameter, "seed"),
    ({"record": [5, 301]}, errors.InvalidParameter, "record"),
    ({"record": 0}, errors.InvalidParameter, "record"),
    ({"stop_at": -1.0}, errors.InvalidParameter, "stop_at"),
    ({"stop_at": "a"}, errors.InvalidParameter, "stop_at"),
    ({"threads": -1}, errors.InvalidParameter, "threads"),
    ({"edge_probabilities": [0.5, 0.5]}, errors.InvalidParameter, r"one entry per edge \(10\)"),
    ({"edge_probabilities": [0.2] * 10}, errors.InvalidParameter, "sum to 1, got 2"),
    ({"edge_probabilities": [-0.1, 0.2] + [0.1125] * 8}, errors.InvalidParameter, "≥ 0, got -0.1"),
    ({"edge_probabilities": [np.nan] + [0.1] * 9}, errors.InvalidParameter, "≥ 0"),
    ({"edge_probabilities": [0, 0.25, 0.25, 0.25, 0, 0.25, 0, 0, 0, 0]}, errors.InvalidParameter, "cannot reach each"),
]


def test_a_foreign_graph_is_told_how_to_come_in():
    """A networkx graph passed by mistake is answered with the name of the converter."""
    with pytest.raises(errors.InvalidGraph, match="from_networkx"):
        sv.simulate(RING.to_networkx(), VALUES, NOISY, num_steps=5)


@pytest.mark.parametrize(("start", "stop"), [(-3, 5), (0, 301), (200, 100)])
def test_only_steps_that_were_run_can_be_recomputed(start, stop):
    """Edges that never fired are not handed out."""
    with pytest.raises(errors.InvalidParameter, match=r"\[0, 300\]"):
        run().fired_edges(start, stop)


@pytest.mark.parametrize(("keywords", "kind", "message"), BAD)
def test_bad_parameters_are_named(keywords, kind, message):
    """The error names the parameter, the range and what was given."""
    with pytest.raises(kind, match=message):
        run(**keywords)


@pytest.mark.parametrize(
    "values",
    [
        VALUES[:9],
        VALUES * 1e200,
        np.append(VALUES[:9], np.nan),
        np.append(VALUES[:9], np.inf),
        ["a"] * 10,
        VALUES.reshape(1, 10),
        7.25,
    ],
)
def test_bad_private_values_are_refused_without_being_shown(values):
    """Wrong length, not finite, not numbers: refused, and no private value stands in the message."""
    with pytest.raises(errors.InvalidValues) as caught:
        sv.simulate(RING, values, NOISY, num_steps=5, seed=1)
    message = str(caught.value)
    assert "private_values" in message
    for secret in VALUES:
        assert str(secret)[:6] not in message
    assert "7.25" not in message


@pytest.mark.parametrize(
    ("std", "decay"), [(-1.0, 0.5), (1.0, 1.0), (1.0, -0.1), (np.nan, 0.5), (np.inf, 0.5), ("x", 0.5), ([1, -1], 0.5)]
)
def test_bad_noise_is_refused(std, decay):
    """σ < 0, φ outside [0, 1), NaN, infinity and words are refused when the method is made."""
    with pytest.raises(errors.InvalidParameter, match=r"noise_(std|decay) must be"):
        sv.NoiseInsertion(noise_std=std, noise_decay=decay)


def test_per_node_noise_must_fit_the_graph():
    """A vector of the wrong length is refused when it meets the graph."""
    with pytest.raises(errors.InvalidParameter, match=r"noise_std must be one number or one per node \(10\)"):
        sv.simulate(RING, VALUES, sv.NoiseInsertion(np.ones(9), 0.5), num_steps=5)


def test_ctrl_c_returns_what_was_done():
    """An interrupt ends the run at a consistent step, which resumes to the same result as an uninterrupted run."""

    def ctrl_c(*_):
        os.kill(os.getpid(), signal.SIGINT)

    result = sv.simulate(RING, VALUES, NOISY, num_steps=10**12, seed=1, record=[], progress=ctrl_c)
    assert result.status is sv.Status.INTERRUPTED
    assert 0 < result.num_steps < 10**12
    assert result.steps[-1] == result.num_steps
    np.testing.assert_array_equal(result.values, run(num_steps=result.num_steps).values)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


TELLING = """
from sottovoce.simulation import running
original = running.Runner.span
def span(self, at, end):
    if at == 0:
        print("begun", flush=True)
    original(self, at, end)
running.Runner.span = span
from sottovoce.cli.main import main
main()
"""


def test_ctrl_c_on_the_command_line_exits_130():
    """The command reports the interruption instead of a traceback."""
    command = [sys.executable, "-c", TELLING, "simulate", "--steps", "1000000000000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "interrupted" in out + err
    assert "Traceback" not in err


def test_progress_is_reported():
    """A function given as ``progress`` sees the run advance to its end."""
    seen = []
    run(num_steps=1000, record=10, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1000, 1000)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_engine_works_outside_the_main_thread():
    """A worker thread may simulate too; signals are then none of its business."""
    results = []
    thread = threading.Thread(target=lambda: results.append(run().values))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(results[0], run().values)


def test_stop_at_may_be_of_any_kind_of_number():
    """Single precision and whole numbers are numbers."""
    exact = run(num_steps=500, stop_at=float(np.float32(0.1)))
    assert run(num_steps=500, stop_at=np.float32(0.1)).num_steps == exact.num_steps
    assert run(num_steps=500, stop_at=1).num_steps == 0
