"""Numbers in text: one that somebody typed, tables of them in files, and lists in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import InvalidFile

__all__ = ["listed", "number_in", "number_rows"]

INLINE = 12
"""Lists up to this long stand on one line."""


def number_in(text: str) -> int | float | None:
    """The number that ``text`` is, whole if it has no fraction; ``None`` if it is none.

    Examples
    --------
    >>> number_in("10"), number_in("1e3"), number_in("0.5"), number_in("free")
    (10, 1000, 0.5, None)
    """
    try:
        return int(text)
    except ValueError:
        pass
    try:
        found = float(text)
    except ValueError:
        return None
    return int(found) if found.is_integer() and abs(found) < 2**53 else found


def number_rows(text: str, name: str) -> list[list[float]]:
    r"""The numbers of each line, separated by spaces, commas or semicolons.

    ``#`` starts a comment; lines without any number at the top are headings. Errors give the line of ``name`` and
    never what stands in it, because it may be a private value.

    Raises
    ------
    InvalidFile
        If there is anything else, or a number that is not finite, or nothing at all.

    Examples
    --------
    >>> number_rows("node; value\n0; 0.5  # Ada\n1; 0.25", "pasted")
    [[0.0, 0.5], [1.0, 0.25]]
    """
    rows: list[list[float]] = []
    for line_number, line in enumerate(text.splitlines(), start=1):
        cells = line.split("#", 1)[0].replace(",", " ").replace(";", " ").split()
        row = [float(cell) for cell in cells if number_in(cell) is not None]
        if len(row) < len(cells) and (row or rows):
            raise InvalidFile(f"{name}, line {line_number}: expected numbers")
        if not all(math.isfinite(value) for value in row):
            raise InvalidFile(f"{name}, line {line_number}: numbers must be finite")
        if row:
            rows.append(row)
    if not rows:
        raise InvalidFile(f"{name} contains no numbers")
    return rows


def listed(items: Sequence[object]) -> str:
    """A Python list, over several lines if it is long."""
    if len(items) <= INLINE:
        return repr(list(items))
    rows = [", ".join(map(repr, items[k : k + INLINE])) for k in range(0, len(items), INLINE)]
    return "[\n" + "".join(f"    {row},\n" for row in rows) + "]"
