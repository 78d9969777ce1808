"""Edge-list files, as text or Parquet.

Text: two nodes a line, separated by spaces, tabs or a comma; ``#`` starts a comment. Parquet: columns ``source`` and
``target``. Nodes are numbers 0..n−1, or names; a line ``source,target`` at the top of names is a heading. What is
wrong with a file is said with its line.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidFile, InvalidGraph
from ..foundation.extras import missing
from ..foundation.files import write_atomically
from ..foundation.text import number_in
from .validation import chunks

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["read_edges", "write_edges"]

_NOT_IN_NAMES = '{}[]<>="'
"""Marks of other formats: a file that begins with one is not a list of names."""


def read_edges(path: str | os.PathLike[str]) -> Graph:
    """Read a graph from a text or (``.parquet``) Parquet edge list.

    Raises
    ------
    InvalidFile
        If there is no such file, or it is not an edge list, or what it lists is not a simple connected graph;
        for text, the message names the line.
    """
    from .graph import Graph

    path = Path(path)
    if not path.is_file():
        raise InvalidFile(f"{path} does not exist or is not a file")
    parquet = path.suffix == ".parquet"
    pairs: Any = _read_parquet(path) if parquet else _read_text(path)
    try:
        return Graph.from_edges(pairs, name=path.stem)
    except InvalidGraph as error:
        row = _offending_row(pairs) if isinstance(pairs, np.ndarray) and not parquet else None
        where = "" if row is None else f", line {_line_of(row, path, len(pairs))}"
        raise InvalidFile(f"{path}{where}: {error}") from None


def _read_text(path: Path) -> npt.NDArray[np.int64] | list[list[str]]:
    """NumPy's reader where it understands the file, otherwise ours, which knows what to say."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an empty file, or 1.0 read as 1
            pairs = np.loadtxt(
                path, dtype=np.int64, comments="#", ndmin=2, encoding="utf-8-sig", delimiter=_delimiter(path)
            )
        if pairs.shape[1:] == (2,) and len(pairs):
            return pairs
    except (ValueError, OverflowError, Warning):
        pass  # both spaces and commas, comments with odd characters, or not a graph: line by line
    if (names := _read_names(path)) is not None:
        return names
    found = [pair for _, pair in _lines(path)]
    if not found:
        raise InvalidFile(f"{path} contains no edges")
    return np.array(found, dtype=np.int64)


def _delimiter(path: Path) -> str | None:
    """A comma if the first line with numbers has one; ``None`` stands for spaces and tabs."""
    with path.open(encoding="utf-8-sig") as file:
        first = next((text for line in file if (text := line.split("#", 1)[0].strip())), "")
    return "," if "," in first else None


def _read_names(path: Path) -> list[list[str]] | None:
    """Pairs of names; ``None`` if the first line with a pair names a number: then the file is one of numbers."""
    found: list[list[str]] = []
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                content = line.split("#", 1)[0].strip()
                fields = [part.strip() for part in content.split(",")] if "," in content else content.split()
                if not fields or [field.lower() for field in fields] == ["source", "target"]:
                    continue
                if not found and any(number_in(field) is not None for field in fields):
                    return None
                if not found and any(mark in content for mark in _NOT_IN_NAMES):
                    return None
                if len(fields) != 2 or not all(fields):
                    raise InvalidFile(f"{path}, line {number}: expected two names, got {content[:60]!r}")
                found.append(fields)
    except UnicodeDecodeError:
        raise InvalidFile(f"{path} is not a text file of node pairs") from None
    return found or None


def _lines(path: Path) -> Iterator[tuple[int, tuple[int, int]]]:
    """(line number, pair) for every line that has one."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                fields = line.split("#", 1)[0].replace(",", " ").split()
                if not fields or [field.lower() for field in fields] == ["source", "target"]:
                    continue
                try:
                    first, second = (int(f) for f in fields)
                except ValueError:
                    raise InvalidFile(
                        f"{path}, line {number}: expected two whole numbers or two names, got {line.strip()[:60]!r}"
                    ) from None
                if max(abs(first), abs(second)) >= 2**63:
                    raise InvalidFile(
                        f"{path}, line {number}: node numbers must be below 2⁶³, got {line.strip()[:60]!r}"
                    )
                yield number, (first, second)
    except UnicodeDecodeError:
        raise InvalidFile(f"{path} is not a text file of node pairs") from None


def _offending_row(pairs: npt.NDArray[np.int64]) -> int | None:
    """The first row with a loop, a negative number or an edge of an earlier row; ``None`` if there is no such row."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    order = np.lexsort((high, low))  # equal edges beside each other, earlier rows first
    again = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    wrong = (low == high) | (low < 0)
    wrong[order[1:][again]] = True
    return int(np.argmax(wrong)) if wrong.any() else None


def _line_of(row: int, path: Path, num_rows: int) -> int:
    """The line, from one, of the row-th pair. Usually all lines after the head of the file are pairs."""
    with path.open("rb") as file:
        head = next(number for number, line in enumerate(file) if _has_pair(line))
        file.seek(0)
        lines = sum(1 for _ in file)
        if lines - head == num_rows:
            return head + row + 1
        file.seek(0)
        pairs = (number for number, line in enumerate(file, start=1) if _has_pair(line))
        return next(itertools.islice(pairs, row, None))


def _has_pair(line: bytes) -> bool:
    return bool(line.split(b"#", 1)[0].strip(b" ,\t\r\n"))


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise missing("pyarrow", by="a Parquet file") from None
    return pyarrow.parquet


def _read_parquet(path: Path) -> npt.NDArray[Any]:
    parquet = _parquet()
    import pyarrow

    try:
        table = parquet.read_table(path, columns=["source", "target"])
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidFile(f"{path} is not a Parquet edge list with columns source and target: {reason}") from None
    for column in ("source", "target"):
        if column not in table.column_names:
            raise InvalidFile(f"{path} has no column {column}; an edge list has columns source and target")
        kind = table.schema.field(column).type
        text = pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)
        if not (pyarrow.types.is_integer(kind) or text) or table[column].null_count:
            raise InvalidFile(f"{path}: column {column} must be whole numbers or names without gaps, got {kind}")
    pairs: npt.NDArray[Any] = np.stack([table["source"].to_numpy(), table["target"].to_numpy()], axis=1)
    return pairs if pairs.dtype.kind == "O" else pairs.astype(np.int64)


def write_edges(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write an edge list (``.parquet``: as Parquet); the previous file stays until the new one is complete."""
    path = Path(path)
    if path.suffix == ".parquet":
        parquet = _parquet()
        import pyarrow

        source, target = graph.edges.T if graph.labels is None else np.array(graph.labels)[graph.edges.T]
        table = pyarrow.table({"source": source, "target": target})
        write_atomically(path, lambda temporary: parquet.write_table(table, temporary))
    else:
        write_atomically(path, lambda temporary: _write_text(graph, temporary))


def _write_text(graph: Graph, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(f"# {' '.join(graph.name.split())}\n")
        if graph.labels is not None:
            _refuse_unwritable(graph.labels)
            file.writelines(f"{graph.labels[first]},{graph.labels[second]}\n" for first, second in graph.edges.tolist())
            return
        for part in chunks(graph.num_edges):
            file.writelines(f"{first} {second}\n" for first, second in graph.edges[part].tolist())


def _refuse_unwritable(labels: Sequence[str]) -> None:
    """Names that a text file would not give back; Parquet does."""
    for label in labels:
        if label != label.strip() or any(mark in label for mark in ",#\n\r") or number_in(label) is not None:
            raise InvalidGraph(f"the name {label!r} cannot be kept in a text file of edges; write a .parquet file")
