"""Copy as Python: executed, it gives the numbers of the page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce.studio.catalogue import catalogue
from sottovoce.studio.limits import Limits
from sottovoce.studio.playing import Playback
from sottovoce.studio.problem import Problem
from sottovoce.studio.python_code import python_code

from .helpers import NOISY, SMALL

OWN_GRAPH = {"edges": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]], "name": "mine'); import os  #"}


def executed(problem: Problem) -> dict[str, Any]:
    namespace: dict[str, Any] = {"print": lambda *_: None}
    exec(compile(python_code(problem), "copied", "exec"), namespace)
    return namespace


@pytest.mark.parametrize(
    "changes",
    [
        {"methods": [NOISY, "standard"]},
        {"graph": "rgg:25", "values": "normal", "methods": ["noise-insertion:noise_std=0.1,noise_decay=free"]},
        {"graph": OWN_GRAPH, "values": [0.1, -2.5, 1 / 3, 1e-17]},
        {"graph": "grid:3x4", "values": "spike", "num_steps": 1},
    ],
)
def test_copied_python_gives_the_same_numbers(changes: dict[str, Any]) -> None:
    """Values and recorded errors are equal in every digit."""
    problem = Problem.read(SMALL | changes, Limits())
    playback = Playback(problem, drawn=True)
    for end in playback.pieces(problem.num_steps):
        playback.advance(end)
    runs = executed(problem)["runs"]
    assert len(runs) == len(playback.lanes)
    for lane, run in zip(playback.lanes, runs, strict=True):
        steps, errors = lane.recorded()
        assert np.array_equal(run.values, lane.values)
        assert np.array_equal(run.steps, steps)
        assert np.array_equal(run.relative_error, errors)


@pytest.mark.parametrize("entry", catalogue(Limits())["methods"], ids=lambda entry: entry["name"])
def test_every_method_of_the_page_can_be_written_down(entry: dict[str, Any]) -> None:
    """The program makes the same method, with every parameter in full."""
    parameters = ",".join(f"{p['name']}={p['start']}" for p in entry["parameters"])
    spec = f"{entry['name']}:{parameters}" if parameters else entry["name"]
    problem = Problem.read(SMALL | {"methods": [spec]}, Limits())
    code = python_code(problem)
    line = next(line for line in code.splitlines() if line.startswith("    sv."))
    import sottovoce as sv

    assert eval(line.strip().rstrip(","), {"sv": sv, "graph": problem.graph}) == problem.methods[0]
