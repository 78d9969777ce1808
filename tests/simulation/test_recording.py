"""Recorded errors and masses are those of the values, however they are summed, and stopping is exact to the step."""

from __future__ import annotations

import math
import signal
from itertools import pairwise

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods import PairMethod
from sottovoce.simulation import recording, running
from sottovoce.simulation.crew import Crew
from sottovoce.simulation.random.aliases import alias_table
from sottovoce.simulation.records import NEVER, Plan
from sottovoce.simulation.state import State

RING = sv.graphs.cycle(40)
VALUES = np.random.default_rng(0).random(40)
NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)
LAZY = sv.HeavyBallGossip(momentum=0.3)
METHODS = [sv.StandardGossip(), NOISY, sv.SynchronousAveraging(), sv.PushSum(), sv.BlockGossip(block_size=3), LAZY]


def exact(values: np.ndarray) -> float:
    """Σ (x − c̄)² without any rounding of the sum."""
    return math.fsum(((values - VALUES.mean()) ** 2).tolist())


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_recorded_step_is_that_of_a_run_which_ends_there(method):
    """All steps recorded, or a few: the error at a step is the exact sum over the values of a run of that length."""
    every = sv.simulate(RING, VALUES, method, num_steps=400, seed=3, record=400)
    few = sv.simulate(RING, VALUES, method, num_steps=400, seed=3, record=[1, 63, 64, 65, 128, 399])
    np.testing.assert_allclose(every.squared_error[few.steps], few.squared_error, rtol=1e-13)
    for step in few.steps.tolist():
        values = sv.simulate(RING, VALUES, method, num_steps=step, seed=3, record=[]).values
        assert every.squared_error[step] == pytest.approx(exact(values), rel=1e-12)
    np.testing.assert_array_equal(every.values, few.values)


def agrees_with_the_exact_sum(method: sv.methods.Method, num_steps: int, looks: int) -> float:
    """Record every step in pieces; compare with the exact sum where a piece ends; return the last relative error."""
    run = sv.simulate(RING, VALUES, method, num_steps=num_steps, seed=1, record=num_steps)
    for step in np.linspace(1, num_steps, looks).astype(int).tolist():
        values = sv.simulate(RING, VALUES, method, num_steps=step, seed=1, record=[]).values
        assert run.squared_error[step] == pytest.approx(exact(values), rel=1e-12, abs=0.0)
    return float(run.relative_error[-1])


@pytest.mark.parametrize("method", [sv.StandardGossip(), NOISY], ids=lambda method: method.name)
def test_carried_sums_stay_exact_while_the_error_vanishes(method):
    """With every step recorded the error agrees with the exact sum to 1e−12 while it falls by more than 10²⁵."""
    assert agrees_with_the_exact_sum(method, 400_000, 60) < 1e-25


def test_sums_made_anew_are_what_keeps_them_exact():
    """The carried sums are made anew when the error has fallen far: the rule says so at its limits."""
    assert recording.good_enough(1e-6, 1.0, 1)
    assert not recording.good_enough(0.99e-6, 1.0, 1)
    assert not recording.good_enough(1.0, 1.0, 10**7 + 1)
    assert not recording.good_enough(math.nan, 1.0, 1)


def test_nothing_is_carried_after_the_last_record():
    """Sums are carried over fewer steps than a sixteenth of the nodes; after the last record no other one follows."""
    assert recording.worth_carrying(6, 100)
    assert not recording.worth_carrying(7, 100)
    assert not recording.worth_carrying(NEVER - 10, 100)


def furthest_from_the_exact_sum(num_steps: int, span: int) -> float:
    """Record every step with one runner, which carries its sums on from span to span; the largest relative error.

    The steps are made again by a loop of our own, which sums all nodes after each with what rounding lost of the sum.
    The noise hardly decays, so that the error neither vanishes nor stays as it is.
    """
    import numba

    from sottovoce.simulation.kinds.pair import edge_indices, normal_draws

    graph, method = sv.graphs.complete(36), sv.NoiseInsertion(1.0, 1.0 - 1e-7)
    values = np.random.default_rng(1).random(36)
    start = sv.simulate(graph, values, method, num_steps=1, seed=1, record=[])
    state = State.after(start, Plan(range(0)))
    runner = running.Runner(state, Crew(1), together=0)
    nodes, update, mean = start.tables[0, 0].copy(), numba.njit(type(method).update), float(values.mean())

    @numba.njit
    def furthest(nodes, ends, fired, draws, recorded, parameters):  # type: ignore[no-untyped-def]
        worst = 0.0
        for k in range(len(fired)):
            update(nodes, ends[fired[k], 0], ends[fired[k], 1], draws[k, 0], draws[k, 1], k, parameters)
            total, lost = 0.0, 0.0
            for i in range(len(nodes)):
                off = nodes[i, 0] - mean
                total, short = recording.two_sum(total, off * off)
                lost += short
            worst = max(worst, abs(recorded[k] / (total + lost) - 1.0))
        return worst

    worst, seed, equal = 0.0, np.uint64(1), alias_table(None, graph)
    fired, draws = np.empty(span, dtype=np.int64), np.empty((span, 2))
    squared, masses = np.empty((2, span, 1, 1))
    for first in range(1, num_steps, span):
        steps = np.arange(first + 1, first + span + 2)
        runner.drive(np.array([0]), (0, 1), first, first + span, (steps, squared, masses))
        edge_indices(fired, first, 0, seed, graph.num_edges, equal.accept, equal.alias)
        normal_draws(draws, first, 0, 0, seed)
        worst = max(worst, furthest(nodes, graph.edges, fired, draws, squared[:, 0, 0], state.setup.parameters))
    np.testing.assert_array_equal(nodes, state.tables[0, 0])
    return worst


def test_carried_sums_are_exact_at_every_step():
    """A sample of the test below."""
    assert furthest_from_the_exact_sum(10**6, 10**5) < 1e-12


@pytest.mark.slow
def test_carried_sums_are_exact_at_every_step_of_a_long_run():
    """10⁸ steps, all recorded, all carried: each agrees with the exact sum to 1e−12."""
    assert furthest_from_the_exact_sum(10**8, 10**6) < 1e-12


def test_recorded_errors_do_not_depend_on_spans_or_others(monkeypatch):
    """Looking up every 256 steps, on one thread or two, among others or alone: the same bits are recorded."""
    whole = sv.simulate(RING, VALUES, NOISY, num_steps=3000, seed=1, replicas=3, record=3000, threads=2)
    monkeypatch.setattr(running, "CHUNK", 1)
    cut = sv.simulate(RING, VALUES, NOISY, num_steps=3000, seed=1, replicas=2, record=3000, threads=1)
    np.testing.assert_array_equal(cut.squared_error, whole.squared_error[:2])
    np.testing.assert_array_equal(cut.records.drifts, whole.records.drifts[:, :2])


def test_coordinates_add_up():
    """The error of vectors is the sum over coordinates, on any number of threads."""
    vectors = np.stack([VALUES, -3 * VALUES, VALUES**2], axis=1)
    runs = [sv.simulate(RING, vectors, NOISY, num_steps=500, seed=1, record=500, threads=k) for k in (1, 2)]
    np.testing.assert_array_equal(runs[0].squared_error, runs[1].squared_error)
    off = runs[0].values - vectors.mean(axis=0)
    assert runs[0].squared_error[-1] == pytest.approx(math.fsum((off * off).ravel().tolist()), rel=1e-12)


# -- masses ------------------------------------------------------------------------------------------


class Leaking(PairMethod):
    """A method of somebody's own that does not keep the sum: a thousandth of each average is lost."""

    name = "leaking"
    num_fields = 1

    @staticmethod
    def update(nodes, i, j, draw_i, draw_j, step, parameters):
        """Average, and lose something."""
        nodes[i, 0] = nodes[j, 0] = 0.4995 * (nodes[i, 0] + nodes[j, 0])


@pytest.mark.parametrize("n", [40, 4200])
@pytest.mark.parametrize("width", [0, 64])
def test_the_drift_of_every_step_is_that_of_the_values(n, width):
    """Whatever a method loses is seen where sums are carried, to 1e−12 of what there is; of vectors, too."""
    graph, values = sv.graphs.cycle(n), np.random.default_rng(2).random((n, width) if width else n)
    every = sv.simulate(graph, values, Leaking(), num_steps=500, seed=3, record=500)
    for step in (1, 64, 65, 200, 500):
        there = sv.simulate(graph, values, Leaking(), num_steps=step, seed=3, record=[]).values
        columns = zip(values.reshape(n, -1).T.tolist(), there.reshape(n, -1).T.tolist(), strict=True)
        lost = max(abs(math.fsum(after) - math.fsum(before)) for before, after in columns)
        assert lost > 1e-4
        assert every.records.drifts[step, 0] == pytest.approx(lost, abs=1e-12 * n)


@pytest.mark.parametrize("method", [sv.StandardGossip(), NOISY], ids=lambda method: method.name)
def test_values_less_noise_keep_their_sum_at_every_step(method):
    """Σ values − Σ outstanding noise = Σ private values at each of 200 000 recorded steps, to rounding."""
    run = sv.simulate(RING, VALUES, method, num_steps=200_000, seed=1, record=200_000)
    assert run.records.drifts.max() < 1e-12
    owed = 0.0 if run.outstanding_noise is None else run.outstanding_noise.sum()
    assert run.values.sum() - owed == pytest.approx(VALUES.sum(), abs=1e-12)


# -- stopping ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS[:4], ids=lambda method: method.name)
@pytest.mark.parametrize("vectors", [False, True])
def test_it_stops_at_the_first_step_that_reaches_the_error(method, vectors):
    """Each replica stops exactly where a run with every step recorded is first at or below the wanted error."""
    values = np.stack([VALUES, VALUES**2], axis=1) if vectors else VALUES
    every = sv.simulate(RING, values, method, num_steps=20_000, seed=1, replicas=4, record=20_000)
    run = sv.simulate(RING, values, method, num_steps=20_000, seed=1, replicas=4, record=7, stop_at=1e-3)
    first = (every.relative_error <= 1e-3).argmax(axis=1)
    np.testing.assert_array_equal(run.steps_done, first)
    assert run.status is sv.Status.STOPPED_AT_ERROR
    assert np.all(run.final_relative_error <= 1e-3)
    for r, stop in enumerate(first.tolist()):
        alone = sv.simulate(RING, values, method, num_steps=stop, seed=1, replicas=4, record=[])
        np.testing.assert_array_equal(run.values[r], alone.values[r])
    assert run.steps[-1] == first.max()


@pytest.mark.parametrize("method", METHODS[4:], ids=lambda method: method.name)
def test_others_stop_at_a_resolution_that_is_said(method):
    """Sets of edges and lazy methods stop at the first multiple of n/2 exchanges, whatever is recorded."""
    every = 40 // (2 * getattr(method, "block_size", 1))
    found = [
        sv.simulate(RING, VALUES, method, num_steps=steps, seed=1, record=record, stop_at=1e-3).num_steps
        for steps, record in ((50_000, None), (60_001, 13))
    ]
    looks = sv.simulate(RING, VALUES, method, num_steps=50_000, seed=1, record=np.arange(0, 50_001, every))
    first = int(looks.steps[(looks.relative_error <= 1e-3).argmax()])
    assert found == [first, first]


def test_it_goes_on_to_a_smaller_error():
    """Replicas that stopped at different steps go on to a smaller error as if it had been asked for at once."""
    coarse = sv.simulate(RING, VALUES, NOISY, num_steps=30_000, seed=1, replicas=5, stop_at=1e-2)
    fine = sv.simulate(RING, VALUES, NOISY, num_steps=30_000, seed=1, replicas=5, stop_at=1e-6)
    went_on = coarse.resume(30_000, stop_at=1e-6)
    np.testing.assert_array_equal(went_on.steps_done, fine.steps_done)
    np.testing.assert_array_equal(went_on.values, fine.values)
    assert went_on.status is sv.Status.STOPPED_AT_ERROR
    assert np.all(np.diff(went_on.steps) > 0)
    np.testing.assert_array_equal(went_on.resume(100, stop_at=1e-2).values, fine.values)


@pytest.mark.parametrize("n", [10, 40, 100, 1000, 4200])
def test_recorded_errors_do_not_depend_on_how_a_run_is_cut(n):
    """Bit for bit: where records are close together sums are carried, and at the end of a piece nobody knows it."""
    graph, values = sv.graphs.cycle(n), np.random.default_rng(n).random(n)
    whole = sv.simulate(graph, values, NOISY, num_steps=120, seed=3, record=range(121), progress=False)
    for cuts in (range(1, 121), [1, 2, 3, 4, 6, 77, 120], [60, 120]):
        piece = sv.simulate(graph, values, NOISY, num_steps=cuts[0], seed=3, record=range(cuts[0] + 1), progress=False)
        errors = piece.relative_error.tolist()
        for begin, end in pairwise(cuts):
            piece = piece.without_records().resume(end - begin, record=range(begin + 1, end + 1), progress=False)
            errors += piece.relative_error[-(end - begin) :].tolist()
        assert errors == whole.relative_error.tolist()


# -- sums --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 127, 128, 129, 257, 2**14 - 1, 2**14, 2**14 + 1, 3 * 2**14 + 130])
def test_sums_are_exact_whatever_the_number_of_nodes(n):
    """Error and mass agree with exact sums to 1e−14, at the limits of pieces and of blocks too."""
    nodes = np.random.default_rng(n).random((n, 2)) * 10.0 ** np.random.default_rng(0).integers(-8, 8, (n, 1))
    total, lost, mass, mass_lost = recording.summed(nodes, 0.3, 0, 1)
    held = (nodes[:, 0] - nodes[:, 1]).tolist()
    assert total + lost == pytest.approx(math.fsum(((nodes[:, 0] - 0.3) ** 2).tolist()), rel=1e-14)
    assert mass + mass_lost == pytest.approx(math.fsum(held), abs=1e-14 * math.fsum(map(abs, held)))


def test_sums_that_are_carried_on_begin_with_all_that_rounding_lost():
    """Of the error nothing is lost: a plain sum would miss the small terms."""
    nodes = np.full((100, 1), 1e-9)
    nodes[0] = 1.0
    wanted = math.fsum((nodes[:, 0] ** 2).tolist()[1:])
    total, lost, _, _ = recording.summed(nodes, 0.0, 0, -1)
    assert (total - 1.0) + lost == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("plan", [[0, 1, 2], [0, 50_000], [0, 64, 128], 300, [7, 9]])
@pytest.mark.parametrize("method", [sv.StandardGossip(), NOISY, sv.SealedGossip(seal_std=1.0), LAZY])
def test_the_start_is_recorded_as_it_is(method, plan):
    """Whether the driver records the first step or somebody else before it: the errors are those of the values."""
    run = sv.simulate(RING, VALUES, method, num_steps=50_000, seed=1, record=plan)
    watched = sv.simulate(RING, VALUES, method, num_steps=50_000, seed=1, record=plan, stop_at=1e-300)
    np.testing.assert_allclose(run.squared_error, watched.squared_error, rtol=1e-12)
    np.testing.assert_array_equal(run.steps, watched.steps)


def test_a_run_that_is_stopped_before_its_first_step_has_its_start(monkeypatch):
    """Ctrl-C before the first step: the step 0 is recorded if it was to be."""

    def press(self):
        signal.raise_signal(signal.SIGINT)
        return self

    monkeypatch.setattr(running.Progress, "__enter__", press)
    how = {"num_steps": 100, "seed": 1}
    ways = (  # the same code would be stopped when it calls again
        lambda: sv.simulate(RING, VALUES, NOISY, record=[0, 100], **how),
        lambda: sv.simulate(RING, VALUES, NOISY, record=[100], **how),
    )
    begun, other = (way() for way in ways)
    assert begun.steps.tolist() == [0]
    assert begun.relative_error.tolist() == [pytest.approx(1.0, rel=1e-13)]
    assert other.steps.tolist() == []
