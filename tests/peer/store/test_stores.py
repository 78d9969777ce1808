"""Both stores do what a store must; the one on disk also refuses what it must."""

from __future__ import annotations

import gc
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import StoreError, UnusableStore
from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.packing import bytes_of, pack
from sottovoce.peer.protocol.units import LONG
from sottovoce.peer.store import Identity, MemoryStore
from sottovoce.peer.store.base import TopicRecord
from sottovoce.peer.store.sqlite import MIGRATIONS, SCHEMA_VERSION, SqliteStore, migrate, read_state
from sottovoce.testing import StoreConformance
from sottovoce.testing.stores import assert_same, some_state

WHO = Identity("net", "ada", 3, "0.01")


class TestMemoryStore(StoreConformance):
    def open(self, place: dict[str, Any]) -> MemoryStore:
        return place.setdefault("store", MemoryStore())

    def close(self, store: Any) -> None:
        """Its life is the object's."""


class TestSqliteStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def open(self, place: dict[str, Any]) -> SqliteStore:
        return SqliteStore(place.setdefault("folder", self.folder / "data"), WHO)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with_state = SqliteStore(tmp_path / "data", WHO)
    with_state.save(some_state())
    yield with_state
    with_state.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_of_a_fork_leaves_the_store_alone(store: SqliteStore, tmp_path: Path) -> None:
    """With its copy freed the log was removed, and what the parent stored from then on was lost when it died."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with pytest.raises(StoreError, match="the store is closed"):
                store.save(some_state())
            store.close()
            held = [store.__dict__.pop(name) for name in ("_db", "_standing", "_sheets")]
            held.clear()
            gc.collect()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    after = replace(some_state(), requests=77)
    store.save(after)
    shutil.copytree(store.path.parent, tmp_path / "as after a power cut")
    again = SqliteStore(tmp_path / "as after a power cut", WHO)
    assert_same(again.load(), after)
    again.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_that_lives_longer_does_not_hold_the_store(store: SqliteStore) -> None:
    """A worker that was left behind by a killed server kept the next one out."""
    (reading, writing), (heard, saying) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.write(saying, b"1")  # it runs: a moment ago it still held what its parent holds
        os.read(reading, 1)
        os._exit(0)
    try:
        os.read(heard, 1)
        store.close()
        SqliteStore(store.path.parent, WHO).close()
    finally:
        for end in (reading, writing, heard, saying):
            os.close(end)
        os.waitpid(child, 0)


def test_two_processes_cannot_hold_one_store(store: SqliteStore) -> None:
    """A second process is refused with a sentence that names the file, and the first goes on."""
    program = (
        "from sottovoce.peer.store.sqlite import SqliteStore; from sottovoce.peer.store import Identity\n"
        f"SqliteStore({str(store.path.parent)!r}, Identity('net', 'ada', 3, '0.01'))"
    )
    paths = os.pathsep.join(p for p in sys.path if p)
    environment = {**os.environ, "PYTHONPATH": paths}
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    assert "StoreError" in result.stderr
    assert "held by another process" in result.stderr
    store.save(some_state())


def test_a_transaction_waits_for_the_disk(store: SqliteStore) -> None:
    """Write-ahead log, synchronised at every commit (2 is FULL): what was saved survives a power cut, not only a crash.

    Asked on the store's own connection: the setting belongs to a connection, not to the file.
    """
    assert store._db is not None
    settings = ("synchronous", "journal_mode", "locking_mode")
    assert [store._db.execute(f"PRAGMA {name}").fetchone()[0] for name in settings] == [2, "wal", "exclusive"]


def test_a_killed_peer_with_long_vectors_finds_what_it_was_about_to_say(tmp_path: Path) -> None:
    """After every save the files alone, as a kill leaves them, hold that state.

    Registers of widths from one byte to eight, most of them changed several times, so that places are written again.
    """
    store, topic = SqliteStore(tmp_path / "data", WHO), bytes([7]) * 16
    store.note_topic(topic, TopicRecord("t", LONG, "wait", "s"))
    kept, state, rng = store.topic(topic, LONG), some_state(LONG), np.random.default_rng(0)
    for number, most in enumerate((2**60, 100, 2**20, 2**31 - 1, 2**33)):
        ada = replace(state.edges["ada"], s=number + 3, f=rng.integers(-most, most, size=LONG))
        state = replace(state, edges={**state.edges, "ada": ada}, noise=ada.f >> 1)
        kept.save(state)
        shutil.copytree(store.path.parent, tmp_path / f"killed-{number}")
        again = SqliteStore(tmp_path / f"killed-{number}", WHO)
        assert_same(again.topic(topic, LONG).load(), state)
        again.close()
    store.close()


def test_a_copy_taken_at_any_time_holds_a_whole_state(store: SqliteStore, tmp_path: Path) -> None:
    """What a crash would leave is the last state saved: nothing waits for a clean shutdown."""
    state = replace(some_state(), requests=13)
    store.save(state)
    shutil.copytree(store.path.parent, tmp_path / "after-crash")
    assert_same(read_state(tmp_path / "after-crash"), state)


@pytest.mark.parametrize(
    "other",
    [
        Identity("net", "bob", 3, "0.01"),
        Identity("web", "ada", 3, "0.01"),
        Identity("net", "ada", 4, "0.01"),
        Identity("net", "ada", 3, "0.1"),
    ],
    ids=str,
)
def test_a_store_of_somebody_else_is_refused(store: SqliteStore, other: Identity) -> None:
    """Another name, network, dimension or unit: refused, and the store is as it was."""
    store.close()
    with pytest.raises(StoreError, match="belongs to peer 'ada'"):
        SqliteStore(store.path.parent, other)
    assert_same(read_state(store.path.parent), some_state())


def test_a_full_disk_is_a_clear_refusal(store: SqliteStore) -> None:
    """The state before is still there, and saving works again when there is room."""
    assert store._db is not None
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    state = some_state()
    many = {f"n{k}": state.edges["ada"] for k in range(2000)}
    with pytest.raises(StoreError, match="disk is full"):
        store.save(replace(state, edges=many))
    store._db.execute("PRAGMA max_page_count = 1000000")
    store.save(replace(state, requests=99))
    store.close()
    assert_same(read_state(store.path.parent), replace(state, requests=99))


def test_damage_is_found_on_start(store: SqliteStore) -> None:
    """A file whose pages were overwritten is refused, not believed."""
    store.close()
    data = bytearray(store.path.read_bytes())
    data[4096 : 4096 * 3] = os.urandom(4096 * 2)
    store.path.write_bytes(data)
    with pytest.raises(UnusableStore, match="move the data folder away"):
        SqliteStore(store.path.parent, WHO)


@pytest.mark.parametrize("row", ["peer", "edge ada"])
def test_a_row_that_makes_no_sense_says_what_to_do(store: SqliteStore, row: str) -> None:
    """SQLite finds nothing wrong with the file, and yet it cannot be used: one sentence with the way out."""
    assert store._db is not None
    for numbers in ("no numbers", "[1, 2]", "7"):
        store._db.execute("UPDATE state SET numbers = ? WHERE what = ?", (numbers, row))
        with pytest.raises(UnusableStore, match="move the data folder away"):
            store.load()


@pytest.mark.parametrize("content", [b"not a database at all, sorry" * 100, None], ids=["text", "foreign database"])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """A file that is not ours is left alone."""
    path = tmp_path / "peer.sqlite"
    if content is None:
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE theirs (x)")
        db.close()
        content = path.read_bytes()
    else:
        path.write_bytes(content)
    with pytest.raises(StoreError):
        SqliteStore(tmp_path, WHO)
    assert path.read_bytes()[100:] == content[100:]  # SQLite may set the journal mode in its header


def test_a_later_version_is_refused(store: SqliteStore) -> None:
    """A store from the future is not guessed at."""
    assert store._db is not None
    store._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    store.close()
    with pytest.raises(StoreError, match="later version"):
        SqliteStore(store.path.parent, WHO)


def test_a_store_of_the_first_wire_is_refused_with_a_sentence(tmp_path: Path) -> None:
    """It says what to do, and the file is as it was."""
    path = tmp_path / "peer.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE identity (network TEXT, name TEXT, dimension INTEGER)")
        db.execute("CREATE TABLE state (what TEXT PRIMARY KEY, numbers TEXT, data BLOB)")
        db.execute("PRAGMA application_id = 0x736F7474")
        db.execute("PRAGMA user_version = 1")
    db.close()
    content = path.read_bytes()
    with pytest.raises(StoreError, match=r"version 1, whose numbers are not whole.*new data folder"):
        SqliteStore(tmp_path, WHO)
    assert path.read_bytes()[100:] == content[100:]


def refused_or_the_same(folder: Path) -> bool:
    """Open a store whose file was damaged; whether it was refused. If not, it holds what was saved, bit for bit."""
    store = None
    try:
        store = SqliteStore(folder, WHO)
        assert_same(store.load(), some_state())
    except StoreError:
        return True
    finally:
        if store is not None:
            store.close()
    return False


def vectors_of(state: PeerState) -> dict[str, Any]:
    ada = state.edges["ada"]
    return {"value": state.value, "noise": state.noise, "own register": ada.f, "copied register": ada.g}


@pytest.mark.parametrize("what", vectors_of(some_state()))
def test_bit_rot_in_what_counts_is_noticed(store: SqliteStore, what: str) -> None:
    """One bit of the value, the noise or a register, flipped in the file itself: refused at the next start."""
    store.close()
    content = store.path.read_bytes()
    vector = vectors_of(some_state())[what]
    packed = b"".join(pack(vector, bytes_of(vector)))
    place = content.index(packed)
    for bit in (0, 4 * len(packed), 8 * len(packed) - 1):
        rotten = bytearray(content)
        rotten[place + bit // 8] ^= 1 << bit % 8
        store.path.write_bytes(rotten)
        assert refused_or_the_same(store.path.parent)


def test_no_single_bit_in_the_file_changes_the_state(store: SqliteStore) -> None:
    """Wherever a bit flips, in a name, a counter, a flag, the account or the structure: refused, or nothing changed."""
    store.close()
    content, rng = store.path.read_bytes(), random.Random(1)
    used = [index for index, byte in enumerate(content) if byte]
    refused = 0
    for _ in range(150):
        rotten = bytearray(content)
        rotten[rng.choice(used)] ^= 1 << rng.randrange(8)
        store.path.write_bytes(rotten)
        refused += refused_or_the_same(store.path.parent)
    assert refused > 100


def test_topics_have_states_of_their_own(store: SqliteStore) -> None:
    """Rows are kept by topic: another one begins empty, and saving it leaves the first as it was (R50)."""
    folder = store.path.parent
    store.close()
    both = SqliteStore(folder, WHO)
    other = both.topic(b"t" * 16, WHO.dimension)
    assert other.load() is None
    other.save(replace(some_state(), requests=99))
    both.close()
    again = SqliteStore(folder, WHO)
    assert_same(again.load(), some_state())
    again.close()


def test_an_older_schema_is_migrated_once(store: SqliteStore) -> None:
    """A store of this version meets a program with one more migration: it is applied, once, and the data stays."""
    assert store._db is not None
    more = [*MIGRATIONS, "ALTER TABLE state ADD COLUMN note TEXT;"]
    for _ in range(2):
        migrate(store._db, store.path, more)
    assert store._db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION + 1
    assert store._db.execute("SELECT note, data IS NULL FROM state WHERE what = 'peer'").fetchone() == (None, 1)


def test_a_failed_migration_changes_nothing(store: SqliteStore) -> None:
    """A migration is a transaction."""
    assert store._db is not None
    with pytest.raises(sqlite3.Error):
        migrate(store._db, store.path, [*MIGRATIONS, "ALTER TABLE state ADD COLUMN note TEXT; SELECT nonsense;"])
    store._db.execute("ROLLBACK")
    assert store._db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
    assert "note" not in [row[1] for row in store._db.execute("PRAGMA table_info(state)")]


def test_a_state_without_changes_costs_no_transaction(store: SqliteStore) -> None:
    """What is only volatile, or the same again, does not touch the disk: a flood of messages cannot wear it out."""
    assert store._db is not None
    statements: list[str] = []
    state = store._standing._saved
    assert state is not None
    store._db.set_trace_callback(statements.append)
    ada = replace(state.edges["ada"], heard=3, owed=True)
    store.save(replace(state, edges={**state.edges, "ada": ada}))
    assert statements == []
    store.save(replace(state, requests=13))
    assert "COMMIT" in statements


def test_only_the_owner_can_read_it(store: SqliteStore) -> None:
    """Folder, database and log are closed to others: the private value lies in them."""
    for path in (store.path, store.path.parent, Path(f"{store.path}-wal")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_read_only_folder_is_a_clear_refusal(tmp_path: Path) -> None:
    """A data folder that cannot be made is named."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot use the data folder"):
        SqliteStore(tmp_path / "file" / "data", WHO)


def test_errors_and_representations_show_no_value() -> None:
    """Neither a state nor its records print what they hold."""
    state = some_state()
    text = repr(state) + repr(state.edges["ada"])
    for vector in (state.value, state.noise, state.edges["ada"].f):
        assert vector is not None
        assert not any(str(abs(number))[:6] in text for number in vector)
