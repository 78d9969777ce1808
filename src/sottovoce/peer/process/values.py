"""Reading a private value from a file: a number, a list of numbers, a NumPy file or a CSV column.

Never from the command line, where other users of the machine could read it in the process list. Errors say what is
wrong and where (line, coordinate), never what was read.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidFile
from ...foundation.text import number_rows
from ..protocol.state import check_value

__all__ = ["read_value"]

# A text of 10⁶ numbers is about 25 MB; anything much larger is a mistake, and reading it would fill the memory.
_MAX_BYTES = 256 * 1024 * 1024


def read_value(path: str | Path, *, column: str | None = None) -> NDArray[np.float64]:
    """Read a vector of float64 from `path`.

    Parameters
    ----------
    path
        ``.npy``: a NumPy array with at most one axis. ``.csv``: one column. Anything else: text with one number, or
        several separated by spaces, commas or line ends, or a JSON list. ``-`` reads text from standard input.
    column
        CSV only: the column's name in the first line, or its position counted from 1. May be left out when there is
        only one column.
    """
    path = Path(path)
    content = _read_bytes(path)
    suffix = path.suffix.lower()
    if column is not None and suffix != ".csv":
        raise InvalidFile(f"a column can be chosen only in a .csv file, got {path.name!r}")
    if suffix == ".npy":
        vector = _from_npy(content, path.name)
    else:
        text = _decode(content, path.name)
        vector = _from_csv(text, path.name, column) if suffix == ".csv" else _from_text(text, path.name)
    if vector.size == 0:
        raise InvalidFile(f"the value file {path.name!r} is empty")
    return check_value(vector, dimension=vector.size)


def _read_bytes(path: Path) -> bytes:
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read(_MAX_BYTES)
        if path.stat().st_size > _MAX_BYTES:
            raise InvalidFile(f"the value file {path.name!r} is larger than {_MAX_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InvalidFile(f"cannot read the value file {path.name!r}: {error.strerror}") from None


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidFile(f"the value file {name!r} is not text; NumPy arrays need the ending .npy") from None


def _from_npy(content: bytes, name: str) -> NDArray[np.float64]:
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError):
        raise InvalidFile(f"the value file {name!r} is not a NumPy array of numbers") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
        raise InvalidFile(f"the value file {name!r} does not hold real numbers")
    if array.ndim > 1:
        raise InvalidFile(f"the value file {name!r} must have at most one axis, got shape {array.shape}; flatten it")
    return np.atleast_1d(array).astype(np.float64)


def _from_text(text: str, name: str) -> NDArray[np.float64]:
    """Numbers separated by spaces, commas or line ends, with or without the brackets of a list."""
    bare = text.strip()
    text = bare[1:-1] if bare.startswith("[") and bare.endswith("]") else text
    return np.concatenate(number_rows(text, f"the value file {name!r}"))


def _from_csv(text: str, name: str, column: str | None) -> NDArray[np.float64]:
    rows = [(number, row) for number, row in enumerate(csv.reader(io.StringIO(text)), start=1) if any(row)]
    if not rows:
        return np.empty(0)
    first = rows[0][1]
    has_header = not all(_is_number(cell) for cell in first)
    position = _column_position(first, column, name, has_header=has_header)
    numbers = []
    for number, row in rows[1:] if has_header else rows:
        if position >= len(row):
            raise InvalidFile(f"line {number} of the value file {name!r} has no column {position + 1}")
        numbers.append(_number(row[position], f"line {number} of the value file {name!r}"))
    return np.array(numbers, dtype=np.float64)


def _column_position(first: list[str], column: str | None, name: str, *, has_header: bool) -> int:
    if column is None:
        if len(first) != 1:
            raise InvalidFile(f"the value file {name!r} has {len(first)} columns; choose one with --column")
        return 0
    titles = [title.strip() for title in first] if has_header else []
    if titles.count(column) == 1:
        return titles.index(column)
    if column.isdecimal() and 1 <= int(column) <= len(first):
        return int(column) - 1
    raise InvalidFile(f"the value file {name!r} has no single column {column!r}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidFile(f"{where} is not numeric") from None
