"""Numbers in text: one that somebody typed, tables of them in files, and lists in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import InvalidFile

__all__ = ["listed", "named_rows", "number_in", "number_rows", "shortened"]

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


def named_rows(text: str, name: str) -> list[tuple[str, list[float]]] | None:
    r"""The first word of each line and the numbers after it; ``None`` if the first line with numbers begins with one.

    Lines are as in :func:`number_rows`; a name may have spaces where commas or semicolons separate.

    Raises
    ------
    InvalidFile
        If the first line with numbers begins with a name, and another line is not a name and numbers.

    Examples
    --------
    >>> named_rows("who, value\nada, 0.5\nbob, 0.25", "pasted")
    [('ada', [0.5]), ('bob', [0.25])]
    >>> named_rows("0.5\n0.25", "pasted")
    """
    rows: list[tuple[str, list[float]]] = []
    for line_number, line in enumerate(text.splitlines(), start=1):
        content = line.split("#", 1)[0].replace(";", ",")
        cells = [cell.strip() for cell in content.split(",")] if "," in content else content.split()
        numbers = [number_in(cell) for cell in cells]
        if not any(cells) or (not rows and all(each is None for each in numbers)):
            continue
        if not rows and numbers[0] is not None:
            return None
        if not cells[0] or len(cells) < 2 or None in numbers[1:]:
            raise InvalidFile(f"{name}, line {line_number}: expected a name and numbers")
        rows.append((cells[0], [float(each) for each in numbers[1:] if each is not None]))
        if not all(math.isfinite(each) for each in rows[-1][1]):
            raise InvalidFile(f"{name}, line {line_number}: numbers must be finite")
    return rows or None


def shortened(text: str, length: int = 40) -> str:
    """``text``, cut if it is long.

    Examples
    --------
    >>> shortened("a name"), shortened("long " * 20, length=12)
    ('a name', 'long long …')
    """
    return text if len(text) <= length else f"{text[: length - 2].rstrip()} …"


def listed(items: Sequence[object]) -> str:
    """A Python list, over several lines if it is long."""
    if len(items) <= INLINE:
        return repr(list(items))
    rows = [", ".join(map(repr, items[k : k + INLINE])) for k in range(0, len(items), INLINE)]
    return "[\n" + "".join(f"    {row},\n" for row in rows) + "]"
