"""One party's rows, read from CSV and checked against what the study declares.

What does not fit is refused with its line and column. A value is never shown: the message may travel further than
the file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TextIO

import numpy as np

from ..errors import InvalidFile
from .columns import Categories, Column, Refused
from .exact import Whole

__all__ = ["Table", "read_table"]

SHOWN = 5
"""Faults that are named; the others are counted."""
LONGEST_ROW = 2**20
"""Characters of a row: what has longer ones is no table, and may have no end."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A party's rows.

    Parameters
    ----------
    columns
        For each declared column ``(rows,)`` whole numbers: units above the lower bound, or places in the list of words.
    clipped
        How many numbers of each column were moved to a bound.
    num_rows
        How many rows there are.
    """

    columns: Mapping[str, Whole]
    clipped: Mapping[str, int]
    num_rows: int

    def where(self, cell: Sequence[tuple[str, int]]) -> Table:
        """The rows that have these places in these columns."""
        if not cell:
            return self
        chosen = np.ones(self.num_rows, dtype=bool)
        for name, place in cell:
            chosen &= self.columns[name] == place
        return Table({name: numbers[chosen] for name, numbers in self.columns.items()}, {}, int(chosen.sum()))


def read_table(path: str | PathLike[str], columns: Mapping[str, Column], *, most_rows: int) -> Table:
    """Read a CSV file with a header. Columns that the study does not declare are left alone.

    Raises
    ------
    InvalidFile
        It cannot be read, a column is missing, there are more than ``most_rows`` rows, or a cell does not fit.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header, lines = _lines(path, stream, most_rows)
    except OSError as error:
        raise InvalidFile(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidFile(f"{path} cannot be read as CSV: it is not text in UTF-8") from None
    places = _places(path, header, columns)
    return _checked(path, lines, len(header), places, columns)


def _lines(path: Path, stream: TextIO, most_rows: int) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and the cells of every line that is not empty, with its number; no more of them than are allowed."""
    short = _Short(path, stream)
    reader = csv.reader(short, strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise InvalidFile(f"{path} is empty: it must begin with a line that names the columns")
        lines: list[tuple[int, list[str]]] = []
        for cells in reader:
            short.size = 0
            if cells and len(lines) == most_rows:
                raise InvalidFile(f"{path} has more rows than the study allows: most_rows = {most_rows}")
            if cells:
                lines.append((reader.line_num, cells))
        return header, lines
    except csv.Error as error:  # its messages are about quotes and lengths, never about what is between them
        raise InvalidFile(f"{path} cannot be read as CSV: line {reader.line_num}: {error}") from None


class _Short:
    """The lines of a file; those of one row, which quotes may spread over several, are not too long together."""

    def __init__(self, path: Path, stream: TextIO) -> None:
        self._path, self._stream = path, stream
        self._number = self.size = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(LONGEST_ROW + 1)
        self._number, self.size = self._number + 1, self.size + len(line)
        if self.size > LONGEST_ROW:
            raise InvalidFile(
                f"{self._path} cannot be read as CSV: the row at line {self._number} has more than {LONGEST_ROW} "
                "characters"
            )
        if not line:
            raise StopIteration
        return line


def _places(path: Path, header: Sequence[str], columns: Mapping[str, Column]) -> dict[str, int]:
    names = [name.strip() for name in header]
    for name in columns:
        if names.count(name) != 1:
            what = "no column" if name not in names else "more than one column"
            told = (
                "; its cells must be separated by commas" if len(names) == 1 and re.search(r"[;\t]", names[0]) else ""
            )
            raise InvalidFile(f"{path} has {what} {name!r}, which the study declares{told}")
    return {name: names.index(name) for name in columns}


def _checked(
    path: Path,
    lines: Sequence[tuple[int, list[str]]],
    width: int,
    places: Mapping[str, int],
    columns: Mapping[str, Column],
) -> Table:
    numbers: dict[str, Whole] = {name: np.empty(len(lines), dtype=np.int64) for name in columns}
    clipped = {name: 0 for name, column in columns.items() if not isinstance(column, Categories)}
    faults: list[str] = []
    for row, (line, cells) in enumerate(lines):
        if len(cells) != width:
            faults.append(f"line {line} has {len(cells)} cells, the header {width}")
            continue
        for name, column in columns.items():
            try:
                numbers[name][row], outside = column.read(cells[places[name]])
            except Refused as why:
                faults.append(f"line {line}, column {name!r}: the cell {why}")
            else:
                if outside:
                    clipped[name] += 1
    if faults:
        more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
        raise InvalidFile(f"{path} does not fit the study: " + "; ".join(faults[:SHOWN]) + more)
    return Table(numbers, clipped, len(lines))
