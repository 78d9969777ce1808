"""Which rows a run of a study began with: after a break it goes on with the same ones, or not at all.

Sums that were made before the break stay as they are. With other rows after it, counts of the old ones would meet sums
of the new ones, in a report that fits neither. So a party notes a digest of its rows beside its state, for as long as
the run lasts. Nobody else ever sees it: for a small table it would tell the rows.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..errors import InvalidFile, InvalidParameter
from ..foundation.files import write_atomically
from .sums import Party
from .table import Table

__all__ = ["same_rows"]

_SALT = 16
"""Bytes, so that equal rows of two runs do not look equal."""


@contextlib.contextmanager
def same_rows(party: Party, run: str, table: Table) -> Iterator[None]:
    """While it lasts a run goes on; if that ends well, the note of its rows is removed.

    Parameters
    ----------
    party, table
        Whose rows; a party that has no ``data_dir`` in its configuration, such as one in memory, notes nothing.
    run
        How the names of its sums begin.

    Raises
    ------
    InvalidParameter
        Sums of this run were begun with other rows.
    """
    folder: Path | None = getattr(party.config, "data_dir", None)
    if folder is None:
        yield
        return
    note = folder / f"study-{hashlib.sha256(run.encode()).hexdigest()[:32]}.rows"
    begun = any(name.startswith(f"{run}/") for name in party.topics())
    with _told(note):
        _keep(note, table, run, may_be_others=not begun)
    yield
    with _told(note):
        note.unlink(missing_ok=True)


@contextlib.contextmanager
def _told(note: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidFile(f"cannot keep the note of a study's rows, {str(note)!r}: {error.strerror}") from None


def _keep(note: Path, table: Table, run: str, *, may_be_others: bool) -> None:
    if note.exists():
        noted = note.read_bytes()
        if noted[_SALT:] == _digest(noted[:_SALT], table):
            return
        if not may_be_others:
            raise InvalidParameter(
                f"the rows must be those with which {run!r} began: sums of it hold them already; give the same rows "
                "again, or agree on another topic with the others"
            )
    salt = os.urandom(_SALT)
    write_atomically(note, lambda draft: draft.write_bytes(salt + _digest(salt, table)), mode=0o600)


def _digest(salt: bytes, table: Table) -> bytes:
    """The same for the same rows in whatever order."""
    names = sorted(table.columns)
    rows = np.array([table.columns[name] for name in names], dtype="<i8").reshape(len(names), table.num_rows)
    facts = json.dumps([names, rows.shape, sorted(table.clipped.items())]).encode()
    return hashlib.sha256(salt + facts + rows[:, np.lexsort([np.zeros(table.num_rows), *rows])].tobytes()).digest()
