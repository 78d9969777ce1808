"""Writing files so that they are whole or not there; looking for one that somebody named."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from . import system

__all__ = ["is_file", "write_atomically", "written_together"]


def is_file(text: str) -> bool:
    """Whether ``text`` is the path of a file, whatever it contains."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def write_atomically(path: Path, write: Callable[[Path], object], *, mode: int | None = None) -> None:
    """Write beside ``path``, flush to disk, then rename into place: never half a file.

    If ``write`` fails or is interrupted, what was at ``path`` before is untouched and nothing else is left. A device or
    a pipe, such as ``/dev/stdout``, stays what it is and gets the bytes.

    Parameters
    ----------
    path
        Where the file shall be; missing folders are made.
    write
        Called with the name of a new empty file in the same folder.
    mode
        Permissions; ``None``: what an ordinary new file gets. Until the end only the owner can read it.
    """
    if _is_special(path):
        _pour(path, write)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(_ordinary() if mode is None else mode & 0o777)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextlib.contextmanager
def written_together(folder: Path) -> Iterator[Path]:
    """Several files that belong together: all of them come into ``folder`` at the end, or none.

    Gives a folder to write them to. If that fails or is interrupted, what was in ``folder`` before is untouched, and
    nothing else is left.
    """
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".unfinished-") as name:
            yield Path(name)
            for file in sorted(Path(name).iterdir()):
                file.replace(folder / file.name)
        sync_folder(folder)
    except BaseException:
        if new:
            with contextlib.suppress(OSError):  # somebody else has put something there
                folder.rmdir()
        raise


def _is_special(path: Path) -> bool:
    """A device, a pipe, or a name of the system for an open file, which may be an ordinary one."""
    if not path.exists() or path.is_dir():
        return False
    return not path.is_file() or {"dev", "proc"} & set(path.absolute().parts[1:2]) != set()


def _pour(device: Path, write: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / f"whole{device.suffix}"
        write(whole)
        device.write_bytes(whole.read_bytes())


def _ordinary() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def sync_folder(folder: Path) -> None:
    """So that the rename, too, survives a power cut; elsewhere than on POSIX a folder cannot be opened."""
    if not system.POSIX:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
