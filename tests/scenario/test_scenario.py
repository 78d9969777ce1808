"""Everything that determines a run, in words, and as a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.scenario.graphs import GivenGraph
from sottovoce.scenario.methods import MethodSpec
from sottovoce.scenario.scenario import Scenario
from sottovoce.scenario.values import ValuesSpec

NOISY = "noise-insertion:noise_std=1,noise_decay=0.9"


def scenario(**changes: Any) -> Scenario:
    return Scenario.parse(
        **({"graph": "cycle:6", "values": "uniform", "methods": [NOISY]} | changes), seed=3, num_steps=40
    )


def test_words_determine_everything() -> None:
    """A random graph without a seed takes the run's; equal words are equal scenarios."""
    asked = scenario(graph="rgg:20")
    assert asked.graph == sv.graphs.random_geometric(20, seed=3)
    assert asked == scenario(graph="random-geometric:n=20")
    assert asked != scenario(graph="rgg:20:seed=4")


GIVEN = GivenGraph(sv.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], name="mine'); import os  #"))


@pytest.mark.parametrize(
    "asked",
    [
        scenario(methods=[NOISY, "standard", "mo-murray:noise_std=1,noise_decay=0.9"]),
        scenario(graph="rgg:25", values="normal", methods=["noise-insertion:noise_std=0.1,noise_decay=free"]),
        scenario(graph="grid:3x4", values="spike"),
        Scenario(GIVEN, ValuesSpec.of([0.1, -2.5, 1 / 3, 1e-17]), (MethodSpec("standard"),), 3, 40),
    ],
    ids=lambda asked: asked.graph.name,
)
def test_the_program_gives_the_same_numbers(asked: Scenario) -> None:
    """Executed, it makes the same graph, values and methods, and its runs are equal in every digit."""
    namespace: dict[str, Any] = {"print": lambda *_: None}
    exec(compile(asked.to_python(record=10), "copied", "exec"), namespace)
    assert namespace["graph"] == asked.graph
    for run, method in zip(namespace["runs"], asked.methods, strict=True):
        again = sv.simulate(asked.graph, asked.private_values, method, num_steps=40, seed=3, record=10)
        assert np.array_equal(run.values, again.values)
        assert np.array_equal(run.relative_error, again.relative_error)


def test_what_cannot_be_made_is_said_when_it_is_built() -> None:
    """Reading words makes nothing; building them checks the method against the graph."""
    asked = scenario(methods=["block:block_size=7"])
    with pytest.raises(InvalidParameter, match="block_size"):
        asked.built()


def test_private_values_are_in_no_repr() -> None:
    """Not before and not after they were made."""
    asked = Scenario(GIVEN, ValuesSpec.of([0.125, 0.25, 0.5, 7.75]), (MethodSpec("standard"),), 3, 40).built()
    assert "7.75" not in repr(asked)
