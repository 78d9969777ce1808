"""docs/reference/paper-map.md: every function it names exists, and so does every test."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py")))
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in (ROOT / "docs/reference/paper-map.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and "`" in line
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_the_map_names_exists(row: list[str]) -> None:
    """Names in the second column can be reached from the package; those in the third are tests, or a file of them."""
    _, here, checks = (re.findall(r"`([^`]+)`", cell) for cell in row)
    assert here
    assert checks
    for name in here:
        pkgutil.resolve_name(f"sottovoce.{name}")
    for name in checks:
        assert (ROOT / name).is_file() if "/" in name else f"def {name}(" in TESTS, name
