"""Tables that people upload or paste: what separates columns, how decimals are written, whether there are headings.

What is found is a guess, so a page shows it and a person may say otherwise. Errors name a line and never what stands
in it, because it may be a private value.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidFile, InvalidParameter
from ..foundation.text import number_in

__all__ = ["Choices", "Table", "read_table"]

DELIMITERS = ("\t", ";", ",", " ")
SAMPLE = 200
"""Lines that decide about delimiter and decimals."""

SHOWN_ROWS, SHOWN_CELLS, SHOWN_LETTERS = 6, 12, 40
"""How much of a table a preview shows."""

_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_HEADINGS = frozenset(("source", "target", "from", "to", "node", "name", "value", "weight", "id"))


@dataclass(frozen=True)
class Choices:
    """What a person says about a table; ``None`` is found by itself."""

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None

    @classmethod
    def parse(cls, given: dict[str, str]) -> Choices:
        """From the query of a request.

        Raises
        ------
        InvalidParameter
            If there is something else than is offered.
        """
        delimiter, decimal, header = (given.get(key) or None for key in ("delimiter", "decimal", "header"))
        if delimiter is not None and delimiter not in DELIMITERS:
            raise InvalidParameter("delimiter must be a comma, a semicolon, a tab or a space")
        if decimal not in (None, ".", ","):
            raise InvalidParameter("decimal must be a point or a comma")
        if header not in (None, "true", "false"):
            raise InvalidParameter("header must be true or false")
        return cls(delimiter, decimal, None if header is None else header == "true")


@dataclass(frozen=True)
class Table:
    """Cells as text, row by row, and how they were read.

    Attributes
    ----------
    name
        Of the file, for sentences.
    rows, lines
        Cells of each row, and the line on which it stands.
    heading
        Names of the columns, or ``None``.
    """

    name: str
    delimiter: str
    decimal: str
    heading: tuple[str, ...] | None
    rows: list[list[str]]
    lines: list[int]

    def number(self, row: int, column: int) -> float | None:
        """The number in a cell, or ``None`` if there is none; it may be infinite."""
        return in_cell(self.rows[row][column], self.decimal)

    def preview(self) -> dict[str, Any]:
        """For the page: how it was read, and its first rows."""
        shown = self.rows[:SHOWN_ROWS]
        if self.heading is not None:
            shown = [list(self.heading), *shown]
        return {
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "header": self.heading is not None,
            "rows": [[cell[:SHOWN_LETTERS] for cell in row[:SHOWN_CELLS]] for row in shown],
            "numRows": len(self.rows),
        }


def in_cell(cell: str, decimal: str) -> float | None:
    """The number that a cell holds, or ``None``.

    Examples
    --------
    >>> in_cell("0,5", ","), in_cell("0.5", "."), in_cell("ada", ".")
    (0.5, 0.5, None)
    """
    text = cell.replace(",", ".") if decimal == "," and "." not in cell else cell
    found = number_in(text)
    return None if found is None else float(found)


def read_table(text: str, name: str, choices: Choices, *, least: int = 1) -> Table:
    r"""Split a text into cells; ``#`` starts a comment. There must be at least ``least`` columns.

    Raises
    ------
    InvalidFile
        If there is nothing in it.

    Examples
    --------
    >>> table = read_table("who;value\nada;0,5\nbob;1,25\n", "mine.csv", Choices())
    >>> table.delimiter, table.decimal, table.heading, table.number(0, 1)
    (';', ',', ('who', 'value'), 0.5)
    """
    lines, numbers = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.split("#", 1)[0].strip(" \r\n\ufeff")
        if content.strip():
            lines.append(content)
            numbers.append(number)
    if not lines:
        raise InvalidFile(f"{name} is empty")
    sample = lines[:SAMPLE]
    delimiter = choices.delimiter or _delimiter(sample, choices.decimal, least)
    decimal = choices.decimal or _decimal(sample, delimiter)
    rows = [row if len(row) >= least else row[0].split() for row in _split(lines, delimiter)]  # "0,1" and "1 2" mixed
    header = _is_heading(rows, decimal) if choices.header is None else choices.header
    heading = tuple(rows[0]) if header else None
    return Table(name, delimiter, decimal, heading, rows[header:], numbers[header:])


def _delimiter(sample: Sequence[str], decimal: str | None, least: int) -> str:
    """Tabs and semicolons are never parts of numbers; a comma may be the decimal sign."""
    for sign in ("\t", ";"):
        if any(sign in line for line in sample):
            return sign
    if decimal == "," or not any("," in line for line in sample) or _commas_are_decimal(sample, least):
        return " "
    return ","


def _commas_are_decimal(sample: Sequence[str], least: int) -> bool:
    """Whether all commas stand inside numbers; one column of them counts as two where the first numbers nodes."""
    cells = [cell for line in sample for cell in line.split()]
    with_comma = [cell for cell in cells if "," in cell]
    if not all(_COMMA_NUMBER.fullmatch(cell) for cell in with_comma):
        return False
    widths = [len(line.split()) for line in sample]
    if min(widths) > 1:
        return True  # "0 0,5": spaces separate
    if least > 1 or max(widths) > 1:
        return False
    first = sorted(int(cell.split(",")[0]) for cell in with_comma)
    return first not in (list(range(len(first))), list(range(1, len(first) + 1)))


def _decimal(sample: Sequence[str], delimiter: str) -> str:
    """A comma, if some cells are numbers with one and none has a point."""
    if delimiter == ",":
        return "."
    cells = [cell.strip() for row in _split(sample, delimiter) for cell in row]
    commas = any(_COMMA_NUMBER.fullmatch(cell) for cell in cells)
    return "," if commas and not any(_POINT_NUMBER.fullmatch(cell) for cell in cells) else "."


def _split(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    if delimiter == " ":
        return [line.split() for line in lines]
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        rows = []
    if len(rows) != len(lines):  # a quotation mark that is no quotation
        rows = [line.split(delimiter) for line in lines]
    return [[cell.strip() for cell in row] for row in rows]


def _is_heading(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """The first row names columns: it has no number, and others have, or its words are those of headings."""
    first = [cell.lower() for cell in rows[0]]
    if len(rows) < 2 or any(in_cell(cell, decimal) is not None for cell in first):
        return False
    if all(cell in _HEADINGS for cell in first):
        return True
    return any(in_cell(cell, decimal) is not None for row in rows[1:SAMPLE] for cell in row)
