"""Long vectors of one topic, in a file beside the database: each in a place of its own, and written anew in another.

SQLite would copy a long vector again and again on its way to the disk, and write it twice. Here it is written once:
into a place that no row of the database refers to, and the disk is waited for; then comes the transaction whose row
says where it is, and what its checksum is. Whatever a crash interrupts, rows refer to places that hold what they say.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from ...errors import UnusableStore
from ...foundation.files import sync_folder
from ..protocol.messages import Vector
from ..protocol.packing import WORD, tightly
from .base import AS_AFTER_A_LOST_DISK

__all__ = ["Place", "Places", "remove_others"]

_ENDING = ".vectors"
_BLOCK = 4096
"""Places begin at multiples of this."""

_wait_for_the_disk = getattr(os, "fdatasync", os.fsync)

Place = tuple[int, int, int]
"""Where a vector is, how many bytes it has, and their checksum: against bit rot, not against who can write the file."""


class Places:
    """The file with the vectors of one topic; made when the first of them is written.

    Parameters
    ----------
    folder
        Where the database is.
    topic
        Whose vectors.
    dimension
        How many numbers each has.
    """

    def __init__(self, folder: Path, topic: bytes, dimension: int) -> None:
        self._path = folder / f"{topic.hex()}{_ENDING}"
        self.dimension = dimension
        self._size = -(-(WORD * dimension + 1) // _BLOCK) * _BLOCK
        self._file, self._found = -1, False
        self._used: dict[str, int] = {}
        self._changed: dict[str, int | None] = {}
        self._doubtful: set[int] = set()
        """Written for transactions that failed, perhaps after they were on disk: rows may refer to these places."""

    # -- writing --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """While it lasts vectors are written to places that are free; at its end, those are free that they had before.

        If it fails, what is on disk must be read again before the next one: :meth:`forget`, and :meth:`read`.
        """
        try:
            yield
        except BaseException:
            self._doubtful.update(place for place in self._changed.values() if place is not None)
            raise
        else:
            self._doubtful.clear()
            self._used = {name: place for name, place in {**self._used, **self._changed}.items() if place is not None}
        finally:
            self._changed.clear()
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def write(self, what: str, vector: Vector) -> Place:
        """Write a vector; :meth:`sync` must follow before anything refers to it."""
        taken = {*self._used.values(), *self._changed.values(), *self._doubtful}
        place = next(number for number in itertools.count() if number not in taken)
        file, length, checksum = self._open(), 0, 0
        for part in tightly(vector):
            content = memoryview(part).cast("B")
            if os.pwrite(file, content, place * self._size + length) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            length, checksum = length + len(content), zlib.crc32(content, checksum)
        self._changed[what] = place
        return place, length, checksum

    def drop(self, what: str) -> None:
        """A vector is not needed any more."""
        self._changed[what] = None

    def sync(self) -> None:
        """Wait until what was written is on disk."""
        if any(place is not None for place in self._changed.values()):
            _wait_for_the_disk(self._file)

    def _open(self) -> int:
        if self._file < 0:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not self._found:
            sync_folder(self._path.parent)
            self._found = True
        return self._file

    # -- reading --------------------------------------------------------------------------------

    def forget(self) -> None:
        """Which places are in use is to be found out anew."""
        self._used.clear()

    def read(self, what: str, place: Place) -> bytes:
        """The bytes of a vector; its place is in use from now on."""
        number, length, checksum = place
        try:
            with self._path.open("rb") as file:
                file.seek(number * self._size)
                content = file.read(length)
        except FileNotFoundError:
            content = b""
        if len(content) != length or zlib.crc32(content) != checksum:
            why = f"vector {what!r} in {str(self._path)!r} is damaged: its checksum does not fit"
            raise UnusableStore(f"{why}; {AS_AFTER_A_LOST_DISK}")
        self._used[what] = number
        return content

    # -- the end --------------------------------------------------------------------------------

    def remove(self) -> None:
        """Remove the file: no row refers to it any more."""
        self._used.clear()
        self._path.unlink(missing_ok=True)


def remove_others(folder: Path, topics: set[bytes]) -> None:
    """Remove the files of all other topics: those that a crash has left behind."""
    known = {topic.hex() for topic in topics}
    for path in folder.glob(f"*{_ENDING}"):
        if re.fullmatch("[0-9a-f]{32}", path.stem) and path.stem not in known:
            path.unlink()
