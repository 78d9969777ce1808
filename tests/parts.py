"""Cut many tests into parts of bounded time, so that one part can be run at a time.

``seconds.json`` beside this file has the processor seconds of slow tests, by name without parameters; ``pytest -m slow
--measure`` writes it anew. A test that is not there counts as one second. The longest are dealt out first, each to the
part that has least so far, so parts differ by no more than one test. Which test is in which part depends on names and
seconds alone. A test of more than two minutes is in no part: only the whole runs it.

``python -m tests.parts 2/40`` says which files are in a part of the quick tests, so that only these are read.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILE = Path(__file__).with_name("seconds.json")
SECONDS: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
UNKNOWN = 1.0
_LEFT_OUT = re.compile(r"/_.*/|/__main__\.py$")
"""What is generated, and what runs when it is imported."""
TOO_LONG = 120.0


def part_of(names: Sequence[str], asked: str) -> set[str]:
    """Those of ``names`` that belong to part k of N.

    Raises
    ------
    ValueError
        If ``asked`` is not k/N with 1 ≤ k ≤ N.
    """
    number, of = _parsed(asked)
    parts: list[set[str]] = [set() for _ in range(of)]
    taken = [0.0] * len(parts)
    short = {name for name in names if seconds(name) <= TOO_LONG}
    for name in sorted(short, key=lambda name: (-seconds(name), name)):
        least = min(range(len(parts)), key=lambda k: (taken[k], k))
        parts[least].add(name)
        taken[least] += seconds(name)
    return parts[number - 1]


def files_of(asked: str, root: Path = ROOT) -> list[str]:
    """Every N-th file with tests, doctests or examples, in the order of their names: neighbours take about as long.

    Raises
    ------
    ValueError
        If ``asked`` is not k/N with 1 ≤ k ≤ N.
    """
    number, of = _parsed(asked)
    kinds = ("tests/**/test_*.py", "docs/**/*.md", "src/**/*.py")
    found = (sorted(path.relative_to(root).as_posix() for path in root.glob(kind)) for kind in kinds)
    ours = ([name for name in names if not _LEFT_OUT.search(name)] for names in found)
    return [name for names in ours for name in names[number - 1 :: of]]


def _parsed(asked: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", asked)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"a part must be k/N with 1 ≤ k ≤ N, got {asked!r}")
    return int(found[1]), int(found[2])


def seconds(name: str) -> float:
    """What a test is expected to take."""
    return SECONDS.get(_family(name), UNKNOWN)


@contextmanager
def measured(name: str, spent: dict[str, list[float]]) -> Iterator[None]:
    """Note the processor time of a test, that of its processes included."""
    before = sum(os.times()[:4])
    yield
    spent.setdefault(_family(name), []).append(sum(os.times()[:4]) - before)


def write(spent: Mapping[str, Sequence[float]], path: Path = FILE) -> None:
    """Keep the mean of each test of more than a second, and what was known of those that did not run."""
    means = {name: round(sum(each) / len(each), 1) for name, each in spent.items()}
    known = {name: taken for name, taken in (SECONDS | means).items() if taken > UNKNOWN}
    path.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n", encoding="utf-8")


def _family(name: str) -> str:
    return name.partition("[")[0]


if __name__ == "__main__":
    sys.stdout.write(" ".join(files_of(sys.argv[1])) + "\n")
