"""Stores that earlier programs have written are read, and go on."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.errors import StoreError, UnusableStore
from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.units import LONG
from sottovoce.peer.store import rows, sheets
from sottovoce.peer.store.sqlite import MIGRATIONS, SqliteStore
from sottovoce.testing.stores import assert_same, some_state

from .long_topics import TOPIC, WHO, fails, loaded, opened, states


def as_in_schema_2(folder: Path, state: PeerState, schemas: int = 1) -> None:
    """A store as it was written then: long vectors in the rows of the database."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sottovoce.peer.store.sqlite.MIGRATIONS", MIGRATIONS[:schemas])
        patch.setattr("sottovoce.peer.store.sqlite.LONG", 10**9)
        store = opened(folder)
        store.topic(TOPIC, LONG).save(state)
        store.close()


def as_in_schema_3(folder: Path, state: PeerState) -> None:
    """A store as it was written then: long vectors in a file, and where they are in the rows of the database."""
    as_in_schema_2(folder, state, schemas=2)
    size, content = sheets._place_size(LONG), bytearray()
    with closing(sqlite3.connect(folder / "peer.sqlite")) as db:
        found = db.execute("SELECT what, data FROM state WHERE data IS NOT NULL AND what <> 'certificate'").fetchall()
        for number, (what, data) in enumerate(found):
            content += data.ljust(size, b"\0")
            numbers = json.dumps((number, len(data), zlib.crc32(data)))
            row = (numbers, None, rows._checksum(TOPIC, what, numbers, None), what)
            db.execute("UPDATE state SET numbers = ?, data = ?, checksum = ? WHERE what = ?", row)
        db.commit()
    assert len(found) >= 2
    (folder / f"{TOPIC.hex()}.vectors").write_bytes(content)


@pytest.mark.parametrize("made", [as_in_schema_2, as_in_schema_3])
def test_a_store_from_before_is_read_and_goes_on(tmp_path: Path, made: Callable[[Path, PeerState], None]) -> None:
    """All of a state moves when it is saved next, whole or not at all; and an older program refuses the store."""
    folder = tmp_path / "data"
    state, *later = states(4)
    made(folder, state)
    old = (folder / f"{TOPIC.hex()}.vectors").exists()
    assert old == (made is as_in_schema_3)
    assert_same(loaded(folder), state)
    assert (folder / f"{TOPIC.hex()}.vectors").exists() == old
    store = opened(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteStore, "write", fails)  # the sheet is there, and nobody knows of it
        with pytest.raises(OSError, match="Input/output"):
            store.topic(TOPIC, LONG).save(later[0])
    store.close()
    assert_same(loaded(folder), state)
    for number in range(3):
        store = opened(folder)
        kept = store.topic(TOPIC, LONG)
        assert_same(kept.load(), state)
        kept.save(later[number])
        state = later[number]
        store.close()
        assert list(folder.glob("*.vectors")) == []
    for schemas in (1, 2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sottovoce.peer.store.sqlite.MIGRATIONS", MIGRATIONS[:schemas])
            with pytest.raises(StoreError, match="later version"):
                SqliteStore(folder, WHO)


@pytest.mark.parametrize("damage", ["a bit", "gone"])
def test_damage_to_a_store_from_before_is_noticed(tmp_path: Path, damage: str) -> None:
    """Before anything of it moves."""
    as_in_schema_3(tmp_path / "data", some_state(LONG))
    (path,) = (tmp_path / "data").glob("*.vectors")
    content = bytearray(path.read_bytes())
    content[5000] ^= 4
    path.write_bytes(content)
    if damage == "gone":
        path.unlink()
    store = opened(tmp_path / "data")
    with pytest.raises(UnusableStore, match="checksum"):
        store.topic(TOPIC, LONG).save(replace(some_state(LONG), requests=9))
    assert not list((tmp_path / "data").glob("*.sheet"))
    store.close()
