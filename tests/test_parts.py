"""Parts of the slow tests: every test is in one, and none takes much longer than the others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .parts import SECONDS, TOO_LONG, files_of, measured, part_of, seconds, write

ROOT = Path(__file__).parent.parent
NAMES = [
    *(name for name in SECONDS if seconds(name) <= TOO_LONG),
    *(f"tests/test_a.py::test_b[{k}]" for k in range(30)),
]


@pytest.mark.parametrize("number", [1, 2, 7, 12])
def test_every_test_is_in_exactly_one_part(number: int) -> None:
    """All parts together are the whole, and no two share a test."""
    parts = [part_of(NAMES, f"{k + 1}/{number}") for k in range(number)]
    assert set.union(*parts) == set(NAMES)
    assert sum(map(len, parts)) == len(set(NAMES))


def test_parts_take_about_equally_long() -> None:
    """The longest and the shortest differ by no more than one test."""
    took = [sum(map(seconds, part_of(NAMES, f"{k}/5"))) for k in range(1, 6)]
    assert max(took) - min(took) <= max(map(seconds, NAMES))


def test_what_takes_too_long_is_in_no_part() -> None:
    """A part is over in a few minutes; what takes longer is left to the whole."""
    assert part_of(["a"], "1/1") == {"a"}
    longest = max(SECONDS, key=seconds)
    assert seconds(longest) > TOO_LONG
    assert part_of([longest], "1/1") == set()


def test_measured_times_are_kept(tmp_path: Path) -> None:
    """The mean of each test, parameters left out; what did not run now is as it was."""
    spent: dict[str, list[float]] = {}
    with measured("tests/test_x.py::test_y[1]", spent):
        pass
    assert list(spent) == ["tests/test_x.py::test_y"]
    write({"tests/test_x.py::test_y": [2.0, 4.0], "tests/test_x.py::test_z": [0.5]}, tmp_path / "seconds.json")
    kept = json.loads((tmp_path / "seconds.json").read_text(encoding="utf-8"))
    assert kept["tests/test_x.py::test_y"] == 3.0
    assert "tests/test_x.py::test_z" not in kept
    assert set(SECONDS) <= set(kept)


@pytest.mark.parametrize("asked", ["0/3", "4/3", "1", "a/b", "1/0", ""])
def test_a_part_that_is_none_is_refused(asked: str) -> None:
    """Whoever asks for part 4 of 3 is told so."""
    with pytest.raises(ValueError, match="k/N"):
        part_of(NAMES, asked)
    with pytest.raises(ValueError, match="k/N"):
        files_of(asked)


def test_every_file_with_tests_is_in_exactly_one_part() -> None:
    """Parts of the quick tests go by files: tests, pages with examples, modules with doctests."""
    parts = [files_of(f"{k}/7") for k in range(1, 8)]
    together = sorted(name for part in parts for name in part)
    assert together == sorted(files_of("1/1"))
    assert len(together) == len(set(together))
    assert {"tests/test_parts.py", "docs/contributing.md", "src/sottovoce/errors.py"} <= set(together)
    assert "src/sottovoce/__main__.py" not in together  # pytest would run it
    assert max(map(len, parts)) - min(map(len, parts)) <= 3


def test_measured_tests_still_exist() -> None:
    """A test that was renamed would count as one second, and its part would run too long."""
    for name in SECONDS:
        path, _, test = name.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"def {test.rpartition('::')[2]}\(", text), name
