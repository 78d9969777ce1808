"""What a page is told first, and methods side by side at equal cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidGraph, InvalidValues
from sottovoce.scenario.scenario import Scenario
from sottovoce.studio.comparing import comparison
from sottovoce.studio.limits import Limits
from sottovoce.studio.opening import opening
from sottovoce.studio.playing import Playback
from sottovoce.studio.reading import read_scenario

from .helpers import NOISY, SMALL, Studio, Visitor

FRIENDS = {
    "edges": [[2, 1], [0, 1], [0, 2]],
    "name": "friends",
    "labels": ["ada", "bob", "eve"],
    "weights": [1.0, 2.0, 5.0],
}


def read(**changes: Any) -> Scenario:
    return read_scenario(SMALL | changes, Limits())


def test_it_says_which_methods_take_noise_back_and_what_a_step_costs() -> None:
    """A halo is drawn only where noise is outstanding; messages are those of the package."""
    told = opening(read(methods=[NOISY, "standard", "synchronous"]), drawn=True)
    assert told["takesBack"] == [True, False, False]
    assert told["messagesPerStep"] == [2, 2, 20]
    assert told["trueMeanText"] == f"{told['trueMean']:.4f}"


@pytest.mark.parametrize(
    ("graph", "steps", "advised"),
    [("cycle:10", 600, None), ("rgg:1000", 600, 30_000), ("rgg:1000", 30_000, None), ("cycle:10", 49, 300)],
)
def test_runs_too_short_for_their_nodes_are_said_to_be(graph: str, steps: int, advised: int | None) -> None:
    """600 steps suit ten nodes and not a thousand; what is advised is not advised against."""
    found = opening(read(graph=graph, num_steps=steps), drawn=False)["advice"]
    assert (found and found["steps"]) == advised


def test_methods_in_rounds_need_no_such_advice() -> None:
    """All nodes act in every round."""
    assert opening(read(graph="rgg:1000", methods=["synchronous"], num_steps=50), drawn=False)["advice"] is None


def test_a_comparison_gives_every_method_the_same_messages() -> None:
    """Errors are those of ``simulate`` at the steps that so many messages pay for."""
    asked = read(methods=[NOISY, "synchronous"])
    found = comparison(asked)
    assert found["messages"] == 400
    noisy, rounds = found["lanes"]
    assert (noisy["steps"][-1], rounds["steps"][-1]) == (200, 20)
    assert (noisy["messages"][-1], rounds["messages"][-1]) == (400, 400)
    run = sv.simulate(asked.graph, asked.private_values, asked.methods[1], num_steps=20, seed=3)
    assert rounds["errors"][-1] == run.relative_error[-1]


def test_named_and_weighted_graphs_are_set_up(server: Studio) -> None:
    """Names come back; edges fire as often as their weights say, in the picture and in the audit."""
    with server.open() as socket:
        visitor = Visitor(socket)
        visitor.say(type="setup", run=1, problem=SMALL | {"graph": FRIENDS, "values": {"eve": 3, "ada": 1, "bob": 2}})
        ready = visitor.until("ready")
        assert ready["graph"]["labels"] == ["ada", "bob", "eve"]
        assert ready["privateValues"] == [1.0, 2.0, 3.0]
        visitor.say(type="watch", observer={"nodes": ["ada"]}, prior=1.0)
        assert visitor.until("privacy")["who"] == "ada"
    asked = read(graph=FRIENDS, values="ramp", num_steps=40_000)
    fired = Playback(asked, drawn=True).all_fired()
    share = np.bincount(fired, minlength=3) / len(fired)
    chances = {(1, 2): 1 / 8, (0, 1): 2 / 8, (0, 2): 5 / 8}
    assert share == pytest.approx([chances[i, j] for i, j in asked.graph.edges.tolist()], abs=0.01)


def test_the_copied_program_of_a_weighted_graph_gives_the_same_run() -> None:
    """Bit by bit, for a method in exchanges and one in rounds."""
    asked = read(graph=FRIENDS | {"labels": None}, values="ramp", methods=[NOISY, "synchronous"], num_steps=50)
    scope: dict[str, Any] = {}
    exec(asked.to_python(record=50), scope)
    playback = Playback(asked, drawn=True)
    while not playback.finished:
        playback.advance(50)
    for lane, run in zip(playback.lanes, scope["runs"], strict=True):
        assert np.array_equal(lane.values, run.values)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"weights": [1.0, 2.0]}, InvalidGraph, "weights"),
        ({"weights": [1.0, 2.0, -1.0]}, InvalidGraph, "weights"),
        ({"weights": [1.0, 2.0, 10**400]}, InvalidGraph, "weights"),
        ({"weights": "heavy"}, InvalidGraph, "weights"),
        ({"labels": ["ada", "ada", "eve"]}, InvalidGraph, "distinct"),
        ({"labels": ["ada"]}, InvalidGraph, "one name per node"),
        ({"labels": [1, 2, 3]}, InvalidGraph, "labels"),
    ],
)
def test_bad_names_and_weights_get_a_sentence(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    """Each says what is wrong."""
    with pytest.raises(error, match=words):
        read(graph=FRIENDS | changes, values="ramp")


def test_values_of_unknown_names_are_refused_without_being_shown() -> None:
    """The name is told, not the number."""
    with pytest.raises(InvalidValues, match="mallory") as caught:
        read(graph=FRIENDS, values={"ada": 1.5, "bob": 2.5, "mallory": 77.25})
    assert "77.25" not in str(caught.value)
