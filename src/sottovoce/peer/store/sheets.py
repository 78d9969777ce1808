"""The state of one topic with long vectors, in a file of its own: two heads, and behind them a place for each vector.

SQLite would copy a long vector again and again on its way to the disk, and write it twice. Here what has changed is
written once, to places that the last state does not use; then a head that says what stands where, with a checksum of
each vector and of itself; and the disk is waited for once. Heads take turns, and the one that is replaced is always
the older one. Whatever a crash or a power cut interrupts, and in whichever order the disk has written: if the newer
head is not whole, or one of the vectors that came with it, the state is the one before, and all of that is there.

So damage to what was written last looks like a save that was interrupted, as it does in the log of a database: the
state is then the one before. Damage to anything older is noticed, and refused.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ...errors import UnusableStore
from ...foundation.files import sync_folder
from ..protocol.packing import WORD
from .base import AS_AFTER_A_LOST_DISK
from .rows import Parts, Row

__all__ = ["FORMER", "SHEET", "Sheet", "read_former", "remove_others"]

SHEET, FORMER = ".sheet", ".vectors"
"""Endings of the files: as they are written now, and with vectors only, whose rows are in the database (schema 3)."""

_BLOCK = 4096
"""Places begin at multiples of this."""

_HEAD = 2**20
"""Bytes kept free for each of the two heads; one needs about 300 for each neighbour."""

_HEADING = struct.Struct("<8sIIQ")
"""What a head begins with: a word, the checksum of all that follows, how many bytes its rows have, its generation."""

_WORD = b"sv sheet"

_wait_for_the_disk = getattr(os, "fdatasync", os.fsync)


class Place(NamedTuple):
    """Where a vector is, how many bytes it has, and their checksum (against bit rot, not who can write the file)."""

    number: int
    length: int
    checksum: int


Entry = tuple[str | None, Place | None]
"""A row: its numbers as text, and where its data is."""


@dataclass(frozen=True)
class _Head:
    generation: int
    entries: dict[str, Entry]


class Sheet:
    """The file of one topic; made when its first state is saved.

    Parameters
    ----------
    folder
        Where the database is.
    topic
        Whose state.
    dimension
        How many numbers each vector has.
    """

    def __init__(self, folder: Path, topic: bytes, dimension: int) -> None:
        self._path = folder / f"{topic.hex()}{SHEET}"
        self.dimension = dimension
        self._size = _place_size(dimension)
        self._generation = 0
        self._entries: dict[str, Entry] = {}
        self._draft: dict[str, Entry] = {}
        self._file, self._found = -1, False

    # -- writing --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """While it lasts rows are put and deleted; at its end all of them are on disk.

        If it fails, nobody knows whether it counts: what is there must be read again, and settled, before the next one.
        """
        self._draft = dict(self._entries)
        try:
            yield
            self._write_head(self._draft, self._generation + 1)
            _wait_for_the_disk(self._open())
            self._entries, self._generation = self._draft, self._generation + 1
        finally:
            self._draft = {}
            self._close()

    def put(self, what: str, numbers: str | None, data: Parts | None) -> None:
        """Write a row; its data to a place that nothing refers to."""
        self._draft[what] = numbers, None if data is None else self._place(data)

    def delete(self, what: str) -> None:
        """Leave a row out."""
        self._draft.pop(what, None)

    def _place(self, data: Parts) -> Place:
        taken = _places(self._entries) | _places(self._draft)
        number = next(number for number in itertools.count() if number not in taken)
        length, checksum = _write_at(self._open(), data, _place_at(number, self._size))
        return Place(number, length, checksum)

    def _write_head(self, entries: dict[str, Entry], generation: int) -> None:
        rows = json.dumps(entries).encode()
        if len(rows) + _HEADING.size > _HEAD:
            raise OSError(errno.EFBIG, "too many neighbours for a topic with long vectors")
        _write_at(self._open(), (_heading(rows, generation), rows), _head_at(generation))

    def _open(self) -> int:
        if self._file < 0:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not self._found:
            sync_folder(self._path.parent)
            self._found = True
        return self._file

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    # -- reading --------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """What the newest head says that is whole; it is what the next transaction changes.

        Raises
        ------
        UnusableStore
            There is none, or something older than the last save is damaged.
        """
        self._entries, found = {}, None
        try:
            with self._path.open("rb") as file:
                heads = sorted(_heads(file), key=lambda head: head.generation, reverse=True)
                for head in heads:
                    before = any(other.generation == head.generation - 1 for other in heads)
                    found = self._whole(file, head, may_be_interrupted=before)
                    if found is not None:
                        self._entries, self._generation = head.entries, head.generation
                        break
        except FileNotFoundError:
            pass
        if found is None:
            raise _damaged(f"{str(self._path)!r} is damaged: no checksum fits")
        yield from found

    def _whole(self, file: BinaryIO, head: _Head, *, may_be_interrupted: bool) -> list[Row] | None:
        """All rows of a head; ``None`` if the save that it belongs to was interrupted."""
        found: list[Row] = []
        for what, (numbers, place) in head.entries.items():
            data = None if place is None else _read_at(file, _place_at(place.number, self._size), place.length)
            if place is not None and zlib.crc32(data or b"") != place.checksum:
                if may_be_interrupted:  # what the head before has too is found damaged there
                    return None
                raise _damaged(f"vector {what!r} in {str(self._path)!r} is damaged: its checksum does not fit")
            found.append((what, numbers, data))
        return found

    def settle(self) -> None:
        """Let stay what was read: it may be of a process that was killed before it had waited for the disk, or did so
        in vain. After a failure systems keep in memory what never reached the disk, and take it for written; so all
        of it is written once more, byte for byte where it is.
        """
        try:
            with self._path.open("rb") as file:
                for _, place in self._entries.values():
                    if place is not None:
                        at = _place_at(place.number, self._size)
                        _write_at(self._open(), (_read_at(file, at, place.length),), at)
            self._write_head(self._entries, self._generation)
            _wait_for_the_disk(self._open())
        finally:
            self._close()

    # -- beginning and end ----------------------------------------------------------------------

    def start_over(self) -> None:
        """Begin with an empty file: nothing in it counts."""
        self._entries, self._generation, self._found = {}, 0, False
        self.remove()

    def remove(self) -> None:
        """Remove the file: nobody needs it any more."""
        self._path.unlink(missing_ok=True)


def _places(entries: dict[str, Entry]) -> set[int]:
    return {place.number for _, place in entries.values() if place is not None}


def _place_size(dimension: int) -> int:
    return -(-(WORD * dimension + 1) // _BLOCK) * _BLOCK


def _place_at(number: int, size: int) -> int:
    return 2 * _HEAD + number * size


def _head_at(generation: int) -> int:
    return (generation % 2) * _HEAD


def _heading(rows: bytes, generation: int) -> bytes:
    checksum = zlib.crc32(rows, zlib.crc32(struct.pack("<Q", generation)))
    return _HEADING.pack(_WORD, checksum, len(rows), generation)


def _heads(file: BinaryIO) -> Iterator[_Head]:
    """Those that are whole."""
    for parity in (0, 1):
        start = _read_at(file, _head_at(parity), _HEADING.size)
        if len(start) == _HEADING.size:
            _, _, length, generation = _HEADING.unpack(start)
            rows = file.read(min(length, _HEAD))
            if start == _heading(rows, generation):
                entries = {
                    what: (numbers, place and Place(*place)) for what, (numbers, place) in json.loads(rows).items()
                }
                yield _Head(generation, entries)


def _write_at(file: int, data: Parts, at: int) -> tuple[int, int]:
    """Write these parts one behind the other; their length and checksum."""
    parts = [memoryview(part).cast("B") for part in data]
    length, checksum = sum(map(len, parts)), 0
    if os.pwritev(file, parts, at) != length:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return length, checksum


def _read_at(file: BinaryIO, at: int, length: int) -> bytes:
    file.seek(at)
    return file.read(length)


def _damaged(why: str) -> UnusableStore:
    return UnusableStore(f"{why}; {AS_AFTER_A_LOST_DISK}")


def read_former(folder: Path, topic: bytes, dimension: int, what: str, place: Iterable[int]) -> bytes:
    """A vector in a file as it was written before sheets, from the place that its row in the database names."""
    path, (number, length, checksum) = folder / f"{topic.hex()}{FORMER}", place
    try:
        with path.open("rb") as file:
            content = _read_at(file, number * _place_size(dimension), length)
    except FileNotFoundError:
        content = b""
    if len(content) != length or zlib.crc32(content) != checksum:
        raise _damaged(f"vector {what!r} in {str(path)!r} is damaged: its checksum does not fit")
    return content


def remove_others(folder: Path, ending: str, topics: set[bytes]) -> None:
    """Remove the files of all other topics: those that a crash has left behind."""
    known = {topic.hex() for topic in topics}
    for path in folder.glob(f"*{ending}"):
        if re.fullmatch("[0-9a-f]{32}", path.stem) and path.stem not in known:
            path.unlink()
