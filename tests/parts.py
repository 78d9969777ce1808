"""Cut many tests into parts that take about equally long, so that one part can be run at a time.

``seconds.json`` beside this file has the processor seconds that slow tests were measured at, by name without
parameters; a test that is not there counts as one second. The longest are dealt out first, each to the part that has
least so far, so the parts differ by no more than one test. Which test is in which part depends on names and seconds
alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

SECONDS: dict[str, float] = json.loads(Path(__file__).with_name("seconds.json").read_text(encoding="utf-8"))
UNKNOWN = 1.0


def part_of(names: Sequence[str], asked: str) -> set[str]:
    """Those of ``names`` that belong to part k of N.

    Raises
    ------
    ValueError
        If ``asked`` is not k/N with 1 ≤ k ≤ N.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", asked)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"a part must be k/N with 1 ≤ k ≤ N, got {asked!r}")
    parts: list[set[str]] = [set() for _ in range(int(found[2]))]
    taken = [0.0] * len(parts)
    for name in sorted(set(names), key=lambda name: (-seconds(name), name)):
        least = min(range(len(parts)), key=lambda k: (taken[k], k))
        parts[least].add(name)
        taken[least] += seconds(name)
    return parts[int(found[1]) - 1]


def seconds(name: str) -> float:
    """What a test is expected to take."""
    return SECONDS.get(name.partition("[")[0], UNKNOWN)
