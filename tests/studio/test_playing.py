"""The run behind a page: in pieces, and yet the engine's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.studio.limits import Limits
from sottovoce.studio.playing import Pace, Playback
from sottovoce.studio.reading import read_scenario

from .helpers import NOISY, SMALL


@pytest.mark.parametrize("cuts", [[200], [1, 2, 3, 77, 200], list(range(1, 201))])
def test_pieces_give_the_numbers_of_one_run(cuts: list[int]) -> None:
    """However a run is cut, values, noise and recorded errors are those of ``simulate``, bit by bit."""
    asked = read_scenario(SMALL | {"methods": [NOISY, "standard"]}, Limits())
    playback = Playback(asked, drawn=True)
    for end in cuts:
        while playback.step < end:
            playback.advance(end)
    for lane, method in zip(playback.lanes, asked.methods, strict=True):
        run = sv.simulate(asked.graph, asked.private_values, method, num_steps=200, seed=3, record=400)
        steps, errors = lane.recorded()
        assert np.array_equal(steps, run.steps)
        assert np.array_equal(errors, run.relative_error)
        assert np.array_equal(lane.values, run.values)
        assert np.array_equal(lane.outstanding, run.outstanding_noise)


def test_values_are_followed_on_the_way_however_fast_it_goes() -> None:
    """A jump to the end notes the values of followed nodes at a hundred steps, as they were there."""
    asked = read_scenario(SMALL, Limits())
    playback = Playback(asked, drawn=True)
    while not playback.finished:
        playback.advance(200)
    steps, columns = playback.lanes[0].take_trace()
    assert steps == list(range(0, 201, 2))
    for step, column in list(zip(steps, columns, strict=True))[1::30]:
        run = sv.simulate(asked.graph, asked.private_values, asked.methods[0], num_steps=step, seed=3)
        assert column.tolist() == [*run.values.tolist(), run.values.mean()]


def test_back_to_the_start_is_the_start() -> None:
    """After going back, values are the private ones and the run repeats itself."""
    asked = read_scenario(SMALL, Limits())
    playback = Playback(asked, drawn=True)
    playback.advance(50)
    first = playback.lanes[0].values
    playback.rewind()
    assert playback.step == 0
    assert np.array_equal(playback.lanes[0].values, asked.private_values)
    while playback.step < 50:  # the first slice may have been slow, and the next is cut
        playback.advance(50)
    assert np.array_equal(playback.lanes[0].values, first)


def test_a_frame_shows_the_edge_that_fired() -> None:
    """The last edge of the frame is the engine's."""
    asked = read_scenario(SMALL, Limits())
    playback = Playback(asked, drawn=True)
    playback.advance(30)
    header, _ = playback.frame()
    run = sv.simulate(asked.graph, asked.private_values, asked.methods[0], num_steps=30, seed=3)
    assert header["fired"] == [run.fired_edges()[-24:].tolist()]


def test_methods_in_rounds_have_no_firing_edge() -> None:
    """They are played all the same."""
    playback = Playback(read_scenario(SMALL | {"methods": ["synchronous"]}, Limits()), drawn=True)
    playback.advance(30)
    assert playback.frame()[0]["fired"] == [[]]
    assert playback.lanes[0].errors[-1] < 0.1


def test_large_graphs_are_shown_as_distributions() -> None:
    """Every node is counted once, and no list of all nodes is sent."""
    asked = read_scenario(SMALL | {"graph": "torus:60x50", "num_steps": 2000}, Limits())
    playback = Playback(asked, drawn=False)
    playback.advance(1000)
    header, arrays = playback.frame()
    lane = header["lanes"][0]
    assert "values" not in lane
    assert arrays[lane["valueBins"]["counts"][0]].sum() == 3000
    assert max(map(len, arrays)) < 1000


@pytest.mark.parametrize(
    ("graph", "methods", "most"),
    [("cycle:10", ["standard"], 100_000), ("torus:100x100", ["synchronous"], 4), ("cycle:10", ["synchronous"], 6666)],
)
def test_the_first_slice_is_cut_by_nodes_and_steps(graph: str, methods: list[str], most: int) -> None:
    """A round of all nodes costs as much as thousands of exchanges, and is cut accordingly."""
    playback = Playback(
        read_scenario(SMALL | {"graph": graph, "methods": methods, "num_steps": 10**8}, Limits()), drawn=True
    )
    assert playback.pace.steps == most
    playback.advance(10**8)
    assert playback.step == most


def test_slices_follow_what_was_measured() -> None:
    """Slow slices become shorter at once, fast ones longer little by little."""
    pace = Pace(cost=2)
    pace.note(pace.steps, seconds=5.0)
    assert pace.steps == 1000
    pace.note(1000, seconds=1e-9)
    assert pace.steps == 4000
    pace.note(1, seconds=100.0)
    assert pace.steps == 1
