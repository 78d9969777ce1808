"""What a page may ask for, and what is refused with a sentence."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import InvalidGraph, InvalidInput, InvalidParameter, InvalidValues
from sottovoce.scenario.scenario import Scenario
from sottovoce.studio.limits import Limits, TooMuch
from sottovoce.studio.reading import read_scenario, record_steps

from .helpers import NOISY, SMALL

LIMITS = Limits()


def read(**changes: Any) -> Scenario:
    return read_scenario(SMALL | changes, LIMITS)


def test_a_scenario_is_what_the_words_say() -> None:
    """Graph, values, methods, seed and length arrive as the engine takes them."""
    asked = read(graph="rgg:30:seed=4", methods=[NOISY, "standard"], num_steps=50)
    assert asked.graph == sv.graphs.random_geometric(30, seed=4)
    assert asked.methods == (sv.NoiseInsertion(noise_std=1, noise_decay=0.9), sv.StandardGossip())
    assert (asked.seed, asked.num_steps) == (3, 50)


def test_a_graph_without_a_seed_of_its_own_uses_the_seed_of_the_run() -> None:
    """So that the address determines everything."""
    assert read(graph="rgg:30").graph == sv.graphs.random_geometric(30, seed=3)


def test_no_file_of_this_machine_is_read(tmp_path: Path) -> None:
    """The command line takes a path for a graph and for values; a page must not."""
    secret = tmp_path / "edges.txt"
    secret.write_text("0 1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="graph must be one of"):
        read(graph=str(secret))
    with pytest.raises(InvalidInput, match="values must be one of"):
        read(values=str(secret))


@pytest.mark.parametrize(
    "spec",
    ["grid:rows=4000:cols=4000", "complete:100000", "hypercube:60", "grid:100000x100000", "rgg:100000:0.5",
     "barbell:50000", "cycle:n=1e12", "erdos-renyi:100000:0.5", "random-regular:50000:1000",
     "watts-strogatz:100000:900:0.1", "cycle:inf"],
)  # fmt: skip
def test_huge_graphs_are_refused_before_they_are_made(spec: str) -> None:
    """The answer names the limit; nothing of that size is allocated."""
    with pytest.raises(InvalidInput, match=r"at most|whole number"):
        read(graph=spec)


def test_hopelessly_sparse_graphs_are_refused_before_many_draws() -> None:
    """A radius far below connectivity would be drawn again and again."""
    with pytest.raises(InvalidGraph, match="too few edges"):
        read(graph="rgg:20000:0.001")


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"graph": {"edges": [[0, 1], [2, 3]]}}, InvalidGraph, "not connected"),
        ({"graph": {"edges": [[0, 0]]}}, InvalidGraph, "self-loop"),
        ({"graph": {"edges": [[0, 1.5]]}}, InvalidGraph, "whole numbers"),
        ({"graph": {"edges": [[0, 2_000_000_000]]}}, TooMuch, "nodes"),
        ({"graph": {"edges": [[0, 10**400]]}}, TooMuch, "far more"),
        ({"graph": 7}, InvalidGraph, "graph must be"),
        ({"graph": "cycle:two"}, InvalidParameter, "not a number"),
        ({"graph": "dodecahedron:3"}, InvalidParameter, "must be one of"),
        ({"graph": "cycle:1" + "0" * 300}, InvalidParameter, "too long"),
        ({"values": [1.0, 2.0]}, InvalidValues, "10 nodes, got 2"),
        ({"values": [1e300] * 10}, InvalidValues, "at most"),
        ({"values": [10**400] * 10}, InvalidValues, "at most"),
        ({"values": "secret"}, InvalidValues, "must be one of"),
        ({"methods": []}, InvalidParameter, "1 to 3"),
        ({"methods": ["standard"] * 4}, InvalidParameter, "1 to 3"),
        ({"methods": "standard"}, InvalidParameter, "list"),
        ({"methods": ["noise-insertion:noise_std=1,noise_decay=2"]}, InvalidParameter, "noise_decay"),
        ({"methods": ["telepathy"]}, InvalidParameter, "method must be one of"),
        ({"seed": -1}, InvalidParameter, "seed"),
        ({"num_steps": 10**12}, InvalidParameter, "num_steps"),
        ({"num_steps": True}, InvalidParameter, "num_steps"),
    ],
)
def test_bad_requests_get_a_sentence(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    """Each names what is wrong and what is allowed."""
    with pytest.raises(error, match=words):
        read(**changes)


def test_errors_never_show_a_private_value() -> None:
    """A refusal says which node, not which number."""
    with pytest.raises(InvalidValues) as caught:
        read(values=[0.1234567] * 9 + [7.5e200])
    assert "0.1234567" not in str(caught.value)
    assert "7.5" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(message=st.fixed_dictionaries({}, optional=dict.fromkeys(SMALL, JSON)) | JSON)
def test_any_json_is_answered(message: object) -> None:
    """Whatever arrives, the answer is a scenario or an :class:`InvalidInput`."""
    with contextlib.suppress(InvalidInput):
        read_scenario(message, Limits(nodes=50, edges=100))


@pytest.mark.parametrize("num_steps", [1, 7, 400, 401, 5000])
def test_recorded_steps_are_those_of_simulate(num_steps: int) -> None:
    """The page's grid is what ``record=400`` means."""
    run = sv.simulate(
        sv.graphs.cycle(4), [0.0, 1.0, 2.0, 3.0], sv.StandardGossip(), num_steps=num_steps, seed=1, record=400
    )
    assert np.array_equal(run.steps, record_steps(num_steps))
