"""What is not a graph is refused in the same sentence by every public function that takes one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import networkx
import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors

OTHERS: dict[str, Any] = {
    "private_values": np.arange(10.0), "values": np.arange(10.0), "method": sv.StandardGossip(),
    "methods": [sv.StandardGossip()], "view": sv.privacy.CuriousNodes([0]), "fired_edges": [0], "at": [1], "node": 0,
    "coalition": [1], "num_steps": 5, "probability": 0.5, "accuracy": 0.5, "momentum": 0.5, "seed": 1,
}  # fmt: skip
"""Good arguments of these names; all others are one."""
NOT_THESE = {"ensemble"}
"""Takes specifications, too."""


def taking_graphs() -> Iterator[Any]:
    """Public functions with an argument ``graph``."""
    for room in (sv, sv.theory, sv.privacy, sv.graphs, sv.simulation, sv.experiments):
        for name in room.__all__:
            function = getattr(room, name)
            if inspect.isfunction(function) and "graph" in inspect.signature(function).parameters:
                yield pytest.param(function, id=f"{room.__name__}.{name}")


def called(function: Callable[..., Any], graph: object) -> None:
    """Call it with all arguments that it must have."""
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    given = {p.name: graph if p.name == "graph" else OTHERS.get(p.name, 1.0) for p in needed}
    if function is sv.theory.plan:
        given |= {"relative_error": 0.1, "noise_std": 1.0}
    function(**given)


@pytest.mark.parametrize("function", [each for each in taking_graphs() if each.values[0].__name__ not in NOT_THESE])
def test_a_name_is_no_graph(function: Callable[..., Any]) -> None:
    """Also not one that the command line would take."""
    with pytest.raises(
        errors.InvalidGraph, match=r"^graph must be a sottovoce Graph, got str; make one with sv\.graphs"
    ):
        called(function, "cycle:10")


def test_graphs_of_others_are_converted_by_name() -> None:
    """The sentence says which function does it."""
    with pytest.raises(errors.InvalidGraph, match=r"got Graph; make one with sv\.Graph\.from_networkx"):
        sv.theory.plan(networkx.cycle_graph(10), relative_error=0.1, noise_std=1.0)  # type: ignore[arg-type]
