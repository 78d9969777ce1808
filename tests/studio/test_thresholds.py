"""Thresholds that are known already are not computed again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sottovoce.studio.insight import threshold
from sottovoce.studio.limits import Limits
from sottovoce.studio.reading import read_scenario
from sottovoce.studio.thresholds import KEPT, Thresholds

RING = {"edges": [[0, 1], [1, 2], [0, 2]]}


def computed(kept: Thresholds, *graphs: Any) -> list[bool]:
    """Whether each was computed when it was asked for."""
    found = []

    async def ask(graph: Any) -> None:
        problem = read_scenario({"graph": graph}, Limits())

        async def compute() -> dict[str, Any]:
            found.append(True)
            return {}

        before = len(found)
        await kept.find(problem, compute)
        found.extend([False] * (len(found) == before))

    for graph in graphs:
        asyncio.run(ask(graph))
    return found


def test_the_first_pages_threshold_comes_with_the_package() -> None:
    """That of the ring of ten, as it is computed today; of no other."""
    kept = Thresholds()
    problem = read_scenario({"graph": "cycle:10"}, Limits())
    told, now = kept.known(problem), threshold(problem.graph)
    assert told is not None
    assert {key: told[key] for key in ("low", "high", "really")} == pytest.approx(
        {key: now[key] for key in ("low", "high", "really")}, rel=1e-9
    )
    assert computed(kept, "cycle:10", "cycle:11") == [False, True]


def test_a_graph_is_computed_once_and_again_with_other_weights() -> None:
    """The same edges in whatever words are one graph; how often they fire is part of the question."""
    weighted = RING | {"weights": [1.0, 2.0, 3.0]}
    assert computed(Thresholds(), RING, "cycle:3", weighted, weighted, RING) == [True, False, True, False, False]


def test_only_the_latest_are_kept() -> None:
    """However many graphs are asked for; the one that is used again and again stays."""
    kept = Thresholds()
    for size in range(3, KEPT + 8):
        computed(kept, f"path:{size}", "cycle:10")
    assert computed(kept, "cycle:10", "path:3", f"path:{KEPT + 7}") == [False, True, False]
