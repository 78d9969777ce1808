"""Plans of what is recorded: as a list or as a stretch, and what they cost."""

import tracemalloc

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.simulation.records import NEVER, Plan, Recorder, planned

LISTS = {"empty": [], "one": [7], "stretch": [3, 4, 5, 6], "gaps": [0, 3, 4, 9], "from 0": [0, 1, 2]}


@pytest.mark.parametrize("steps", LISTS.values(), ids=LISTS)
def test_a_plan_is_its_list(steps):
    """Whether it holds a list or only its ends, a plan answers as the sorted list does, with NEVER after the last."""
    plan = Plan.of(np.array(steps, dtype=np.int64))
    listed = np.array([*steps, NEVER])
    assert len(plan) == len(steps)
    assert [plan[k] for k in range(len(steps) + 1)] == listed.tolist()
    for step in range(11):
        assert plan.passed(step) == np.searchsorted(listed, step, side="right")
        later = plan.after(step)
        assert later.part(0, len(later)).tolist() == [s for s in steps if s > step]
    for low in range(len(steps) + 1):
        for high in range(low, len(steps) + 1):
            assert plan.part(low, high).tolist() == listed[low:high].tolist()
            assert plan.part_and_next(low, high).tolist() == listed[low : high + 1].tolist()


SPACED = [(0, 10, 3), (5, 1000, 994), (0, 50_000, 500), (7, 8, 5), (0, 9, 9)]


@pytest.mark.parametrize(("begin", "end", "count"), SPACED)
def test_steps_that_are_spaced_evenly(begin, end, count):
    """So many steps, or all there are, from the beginning to the end, none more than one step from its exact place."""
    plan = planned(count, begin, end, 1)
    steps = plan.part(0, len(plan))
    assert len(steps) == min(count, end - begin) + 1
    assert (np.diff(steps) > 0).all()
    assert np.abs(steps - np.linspace(begin, end, len(steps))).max() <= 0.5


def test_a_list_without_gaps_is_not_held():
    """Somebody who lists every step gets the plan of somebody who asks for all of them."""
    assert planned([4, 2, 3, 3], 0, 9, 1).steps == range(2, 5)
    assert planned(100, 0, 9, 1).steps == range(10)
    assert planned(range(2, 10), 0, 9, 1).steps == range(2, 10)


def test_a_range_is_its_list():
    """Backwards, with gaps or empty: a range is recorded as the list of its steps, and refused as that is."""
    for steps in (range(9, -1, -3), range(0, 9, 4), range(4, 4), range(5, 4, -1)):
        plan, listed = planned(steps, 0, 9, 1), planned(list(steps), 0, 9, 1)
        assert plan.part(0, len(plan)).tolist() == listed.part(0, len(listed)).tolist() == sorted(steps)
    for outside in (range(11), range(-1, 3), range(2**70, 2**70 + 2)):
        with pytest.raises(InvalidParameter, match=r"whole numbers in \[0, 9\]"):
            planned(outside, 0, 9, 1)


def test_the_row_of_an_interruption_comes_last():
    """A run that ends between two planned steps has one row more, at the step where it ended."""
    for plan in (Plan(range(10)), Plan.of(np.array([0, 5, 9]))):
        recorder = Recorder(plan, 1)
        recorder.rows(2)[0][:] = [[1.0], [2.0]]
        recorder.row(plan[1] + 1 if plan[2] != plan[1] + 1 else 8)[0][:] = 3.0
        records = recorder.records()
        assert records.steps.tolist() == [plan[0], plan[1], recorder.last]
        assert records.squared[:, 0].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("record", [1_000_000, range(1_000_001)], ids=["number", "range"])
def test_every_step_recorded_takes_two_numbers_a_step(record):
    """Error and drift are all that a run of 10⁶ recorded steps has allocated at any time, and its steps are right."""
    graph, values = sv.graphs.cycle(10), np.arange(10.0)
    sv.simulate(graph, values, sv.StandardGossip(), num_steps=10, seed=1)
    steps = 1_000_000
    tracemalloc.start()
    try:
        run = sv.simulate(graph, values, sv.StandardGossip(), num_steps=steps, seed=1, record=record, threads=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * steps + 2**23
    assert np.array_equal(run.steps, np.arange(steps + 1))
    assert run.squared_error[-1] < 1e-20 < run.squared_error[0]
