"""From the lines of the table to mutants."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .kinds import Named, Target
from .operators import find, mistakes, replaced

__all__ = ["Mutant", "named", "usual"]


@dataclass(frozen=True)
class Mutant:
    """One file of the package with a mistake in it, and the tests that should notice."""

    name: str
    path: Path
    source: str
    tests: tuple[str, ...]


def usual(root: Path, target: Target) -> Iterator[Mutant]:
    """Every mistake of the usual kinds in the code of ``target``, with a name that says what was changed."""
    path, names = _file_of(root, target.code)
    module = ".".join(path.with_suffix("").parts[1:])
    before: Counter[str] = Counter()
    for mistake in mistakes((root / path).read_text(encoding="utf-8"), names):
        name = f"{module}.{mistake.inside}: {mistake.old} → {mistake.new}"
        before[name] += 1
        again = f" ({before[name]})" if before[name] > 1 else ""
        yield Mutant(name + again, path, mistake.source, target.tests)


def named(root: Path, entry: Named) -> Mutant:
    """The mutant of one line of the table.

    Raises
    ------
    LookupError
        If the code is not there, or does not hold the old text exactly once.
    """
    path, names = _file_of(root, entry.code)
    source = (root / path).read_text(encoding="utf-8")
    node = find(ast.parse(source), names)
    text = (ast.get_source_segment(source, node) or "") if names else source
    if text.count(entry.old) != 1:
        raise LookupError(f"{entry.code} must hold {entry.old!r} once, got {text.count(entry.old)} times")
    text = text.replace(entry.old, entry.new)
    return Mutant(entry.title, path, replaced(source, node, text) if names else text, entry.tests)


def _file_of(root: Path, dotted: str) -> tuple[Path, list[str]]:
    """The file that holds ``dotted``, relative to ``root``, and the names to follow inside it."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        stem = Path("src", *parts[:cut])
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if (root / path).is_file():
                return path, parts[cut:]
    raise LookupError(f"there is no module for {dotted}")
