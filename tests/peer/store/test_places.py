"""Long vectors in a file beside the database: whatever is interrupted, each row refers to what it says."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import StoreError, UnusableStore
from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.units import LONG
from sottovoce.peer.store import Identity, places
from sottovoce.peer.store.base import TopicRecord
from sottovoce.peer.store.places import Places
from sottovoce.peer.store.sqlite import MIGRATIONS, SqliteStore, read_state
from sottovoce.testing.stores import assert_same, some_state

WHO = Identity("net", "ada", 3, "0.01")
TOPIC = bytes([7]) * 16


def opened(folder: Path) -> SqliteStore:
    store = SqliteStore(folder, WHO)
    if TOPIC not in store.topics():
        store.note_topic(TOPIC, TopicRecord("t", LONG, "wait", "s"))
    return store


REAL_WRITE = SqliteStore.write


def applied_and_failed(store: SqliteStore, change: Any) -> None:
    """A transaction that is on disk, and yet whoever asked for it hears of a failure."""
    REAL_WRITE(store, change)
    raise KeyboardInterrupt


def file_of(folder: Path) -> Path:
    (found,) = folder.glob("*.vectors")
    return found


def states(number: int) -> Iterator[PeerState]:
    """States in which one register, the noise, both or neither have changed."""
    rng, state = np.random.default_rng(3), some_state(LONG)
    for k in range(number):
        ada, most = state.edges["ada"], 2 ** int(rng.integers(1, 60))
        if k % 3:
            ada = replace(ada, s=k + 4, f=rng.integers(-most, most, size=LONG))
        noise = rng.integers(-most, most, size=LONG) if k % 2 else state.noise
        state = replace(state, requests=k, noise=noise, edges={**state.edges, "ada": ada})
        yield state


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with one state of a long topic, closed."""
    store = opened(tmp_path / "data")
    store.topic(TOPIC, LONG).save(some_state(LONG))
    store.close()
    return tmp_path / "data"


def test_long_vectors_are_in_the_file_and_not_in_the_rows(folder: Path) -> None:
    """And only the owner can read it."""
    with closing(sqlite3.connect(folder / "peer.sqlite")) as db:
        rows = dict(db.execute("SELECT what, data FROM state WHERE topic = ?", (TOPIC,)))
    assert {what for what, data in rows.items() if data is not None} == {"certificate"}
    value = some_state(LONG).value
    assert value.tobytes() in file_of(folder).read_bytes()
    assert stat.S_IMODE(file_of(folder).stat().st_mode) == 0o600


@pytest.mark.parametrize("where", ["a vector is written", "the disk is waited for", "the transaction ends"])
def test_a_crash_at_any_moment_leaves_the_state_before_or_the_new_one(
    folder: Path, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is copied at each of these moments of twelve saves, as a kill would leave it, and opened."""
    store = opened(folder)
    kept, copies = store.topic(TOPIC, LONG), []
    before = kept.load()
    assert before is not None

    def copy() -> None:
        copies.append(tmp_path / f"copy{len(copies)}")
        shutil.copytree(folder, copies[-1])

    real_write, real_sync, real_transaction = Places.write, Places.sync, SqliteStore.write

    def write(self: Places, *arguments: Any) -> Any:
        found = real_write(self, *arguments)
        copy()
        return found

    def sync(self: Places) -> None:
        real_sync(self)
        copy()

    def transaction(self: SqliteStore, change: Any) -> None:
        real_transaction(self, change)
        copy()

    if where == "a vector is written":
        monkeypatch.setattr(Places, "write", write)
    elif where == "the disk is waited for":
        monkeypatch.setattr(Places, "sync", sync)
    else:
        monkeypatch.setattr(SqliteStore, "write", transaction)
    for state in states(12):
        copies.clear()
        kept.save(state)
        for one in copies:
            again = SqliteStore(one, WHO)
            assert_same(again.topic(TOPIC, LONG).load(), state if where == "the transaction ends" else before)
            again.close()
            shutil.rmtree(one)
        before = state
    store.close()


def test_the_disk_is_waited_for_before_a_row_refers_to_a_vector(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is what a power cut depends on: write, wait, and only then the transaction."""
    order: list[str] = []
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    assert kept.load() is not None
    real_wait, real_write = places._wait_for_the_disk, os.pwrite

    def wait(file: int) -> None:
        order.append("waited")
        real_wait(file)

    def write(*arguments: Any) -> int:
        order.append("written")
        return real_write(*arguments)

    monkeypatch.setattr(places, "_wait_for_the_disk", wait)
    monkeypatch.setattr(os, "pwrite", write)
    store.connection().set_trace_callback(lambda text: order.append(text.split()[0]))
    kept.save(list(states(6))[-1])
    assert order.index("waited") > max(k for k, what in enumerate(order) if what == "written")
    assert order.index("COMMIT") > order.index("waited")
    order.clear()
    store.connection().set_trace_callback(lambda text: order.append(text.split()[0]))
    last = kept.load()
    assert last is not None
    kept.save(replace(last, requests=99))
    assert "waited" not in order  # no vector has changed
    assert "COMMIT" in order
    store.close()


def test_a_save_that_fails_changes_nothing_and_the_next_one_works(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No room for a vector, or for the row: the state before is there, and its places were not written to."""
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    kept.load()
    before, *_, later = states(6)
    kept.save(before)
    real = os.pwrite

    def no_transaction(_places: Places) -> None:
        raise sqlite3.OperationalError("no transaction now")

    for fault in ("none is written", "half is written", "no transaction"):
        with monkeypatch.context() as patch:
            if fault == "no transaction":
                patch.setattr(Places, "sync", no_transaction)
            else:
                half = 0.5 * (fault == "half is written")
                patch.setattr(os, "pwrite", lambda *to, half=half: real(to[0], to[1][: int(half * len(to[1]))], to[2]))
            with pytest.raises(StoreError, match="no transaction" if fault == "no transaction" else "disk is full"):
                kept.save(later)
        again = shutil.copytree(folder, folder.parent / fault)
        other = SqliteStore(again, WHO)
        assert_same(other.topic(TOPIC, LONG).load(), before)
        other.close()
    kept.save(later)
    store.close()
    store = opened(folder)
    assert_same(store.topic(TOPIC, LONG).load(), later)
    store.close()


def test_the_file_does_not_grow(folder: Path) -> None:
    """A vector that is written again and again has two places, and those of a neighbour that is gone are used again."""
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    kept.load()
    for state in states(8):
        kept.save(state)
    size = file_of(folder).stat().st_size
    for state in states(60):
        kept.save(state)
        kept.save(replace(state, edges={name: edge for name, edge in state.edges.items() if name != "ada"}))
    assert file_of(folder).stat().st_size == size
    store.close()


def test_a_topic_that_has_ended_leaves_no_file(folder: Path) -> None:
    """Neither at its end nor, if a crash came between, after the next start."""
    left = file_of(folder).read_bytes()
    store = opened(folder)
    store.note_topic(TOPIC, TopicRecord("t", LONG, "wait", "s", ended=1))
    assert list(folder.glob("*.vectors")) == []
    store.close()
    (folder / f"{TOPIC.hex()}.vectors").write_bytes(left)
    (folder / "my.vectors").write_text("not ours")
    (folder / "a folder.vectors").mkdir()
    opened(folder).close()
    assert {path.name for path in folder.glob("*.vectors")} == {"my.vectors", "a folder.vectors"}


def test_a_damaged_database_costs_no_vectors(folder: Path) -> None:
    """What is open is decided by rows whose checksums fit: one bit in a name, and the file is still there."""
    with closing(sqlite3.connect(folder / "peer.sqlite")) as db:
        db.execute("UPDATE state SET what = 'qeer' WHERE what = 'peer'")
        db.commit()
    with pytest.raises(UnusableStore):
        opened(folder)
    assert file_of(folder).exists()


@pytest.mark.parametrize(("first", "then"), [(LONG, 2 * LONG), (2 * LONG, LONG)])
def test_a_topic_of_which_nothing_was_stored_may_begin_with_another_length(
    tmp_path: Path, first: int, then: int
) -> None:
    """Its record was noted, and the process ended before its first state was saved."""
    store = SqliteStore(tmp_path / "data", WHO)
    store.note_topic(TOPIC, TopicRecord("t", first, "wait", "s"))
    store.close()
    store = SqliteStore(tmp_path / "data", WHO)
    assert store.topic(TOPIC, first).load() is None
    store.note_topic(TOPIC, TopicRecord("t", then, "wait", "s"))
    kept = store.topic(TOPIC, then)
    for requests in range(3):
        state = replace(some_state(then), requests=requests, noise=np.arange(then) + requests)
        kept.save(state)
        assert_same(store.topic(TOPIC, then).load(), state)
    store.close()
    store = SqliteStore(tmp_path / "data", WHO)
    assert_same(store.topic(TOPIC, then).load(), state)
    store.close()


def test_a_transaction_of_which_nobody_knows_whether_it_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was on disk when it failed, or was not: no place that it has written to is used before that is known."""
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    before = kept.load()
    assert before is not None
    doubtful, later = replace(before, noise=before.value * 3, requests=50), replace(before, noise=before.value * 5)
    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "write", applied_and_failed)
        with pytest.raises(KeyboardInterrupt):
            kept.save(doubtful)
    assert_same(store.topic(TOPIC, LONG).load(), doubtful)
    copies: list[Path] = []
    real_write = Places.write

    def write(self: Places, *arguments: Any) -> Any:
        found = real_write(self, *arguments)
        copies.append(shutil.copytree(folder, folder.parent / f"then{len(copies)}"))
        return found

    monkeypatch.setattr(Places, "write", write)
    kept.save(later)
    assert copies
    for copy in copies:
        other = SqliteStore(copy, WHO)
        assert_same(other.topic(TOPIC, LONG).load(), doubtful)
        other.close()
    assert_same(store.topic(TOPIC, LONG).load(), later)
    store.close()


@pytest.mark.parametrize("length", [3, LONG])
def test_after_a_failure_a_store_believes_only_what_it_reads(
    tmp_path: Path, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state that was on disk when saving it failed does not mix with the next one, which has less that is new."""
    store = SqliteStore(tmp_path / "data", WHO)
    kept, before = store.topic(TOPIC, length), some_state(length)
    kept.save(before)
    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "write", applied_and_failed)
        with pytest.raises(KeyboardInterrupt):
            kept.save(replace(before, noise=before.value // 3, edges={}))
    later = replace(before, requests=77)
    kept.save(later)
    store.close()
    again = SqliteStore(tmp_path / "data", WHO)
    assert_same(again.topic(TOPIC, length).load(), later)
    again.close()


def test_places_of_a_failed_transaction_are_not_used_by_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log whose synchronisation failed may be on disk all the same, and be read after the next crash."""
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    before = kept.load()
    assert before is not None
    written: list[int] = []
    real = os.pwrite

    def write(file: int, content: Any, at: int) -> int:
        written.append(at)
        return real(file, content, at)

    def fails(_db: Any) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(os, "pwrite", write)
    with monkeypatch.context() as patch:
        patch.setattr(Places, "sync", fails)
        with pytest.raises(StoreError):
            kept.save(replace(before, noise=before.value * 3))
    failed, written[:] = set(written), []
    kept.save(replace(before, noise=before.value * 5))
    assert failed
    assert not failed & set(written)
    store.close()


def test_saving_before_loading_does_not_touch_what_is_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that cannot be saved leaves the one on disk whole, also if nobody has read it."""
    store = opened(folder)
    with monkeypatch.context() as patch:
        patch.setattr(places, "_wait_for_the_disk", lambda _file: os.fsync(-1))
        with pytest.raises(StoreError):
            store.topic(TOPIC, LONG).save(replace(some_state(LONG), noise=np.arange(LONG)))
    store.close()
    store = opened(folder)
    assert_same(store.topic(TOPIC, LONG).load(), some_state(LONG))
    store.close()


def test_a_folder_that_was_not_synchronised_is_synchronised_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new file must be in its folder after a power cut, too."""
    store = opened(tmp_path / "data")
    kept, synced = store.topic(TOPIC, LONG), []

    def sync(folder: Path) -> None:
        synced.append(folder)
        if len(synced) == 1:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(places, "sync_folder", sync)
    with pytest.raises(StoreError, match="Input/output"):
        kept.save(some_state(LONG))
    for requests in range(3):
        kept.save(replace(some_state(LONG), requests=requests, noise=np.arange(LONG) + requests))
    assert len(synced) == 2
    store.close()


def test_no_file_stays_open(tmp_path: Path) -> None:
    """However many long topics are open: a process may often open 1024 files."""
    store = SqliteStore(tmp_path / "data", WHO)
    for number in range(30):
        topic = bytes([number]) * 16
        store.note_topic(topic, TopicRecord(str(number), LONG, "wait", "s"))
        store.topic(topic, LONG).save(some_state(LONG))
    linked = (path.readlink().name for path in Path("/proc/self/fd").iterdir() if path.is_symlink())
    assert [name for name in linked if name.endswith(".vectors")] == []
    store.close()


def test_files_of_open_topics_stay(folder: Path) -> None:
    """Opening a store removes nothing that a row refers to."""
    for _ in range(2):
        store = opened(folder)
        store.close()
    store = opened(folder)
    assert_same(store.topic(TOPIC, LONG).load(), some_state(LONG))
    store.close()


@pytest.mark.parametrize("damage", ["a bit", "cut short", "gone"])
def test_damage_is_noticed(folder: Path, damage: str) -> None:
    """A bit of the private value, a file that is too short, none at all: refused, and the sentence shows no number."""
    path, value = file_of(folder), some_state(LONG).value
    content = bytearray(path.read_bytes())
    content[content.index(value.tobytes()) + 5000] ^= 4
    if damage == "a bit":
        path.write_bytes(content)
    elif damage == "cut short":
        path.write_bytes(content[: len(content) // 2])
    else:
        path.unlink()
    store = opened(folder)
    with pytest.raises(UnusableStore, match="move the data folder away") as refused:
        store.topic(TOPIC, LONG).load()
    assert "checksum" in str(refused.value)
    store.close()


def test_a_store_from_before_is_read_and_goes_on(tmp_path: Path) -> None:
    """In schema 2 long vectors lay in their rows; they move as they change, and an older program refuses the store."""
    folder = tmp_path / "data"
    state, *later = states(4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sottovoce.peer.store.sqlite.MIGRATIONS", MIGRATIONS[:1])
        patch.setattr("sottovoce.peer.store.sqlite.LONG", 10**9)
        store = opened(folder)
        store.topic(TOPIC, LONG).save(state)
        store.close()
        assert list(folder.glob("*.vectors")) == []
        shutil.copytree(folder, tmp_path / "old")
    for number in range(3):
        store = opened(folder)
        kept = store.topic(TOPIC, LONG)
        assert_same(kept.load(), state)
        kept.save(later[number])
        state = later[number]
        store.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sottovoce.peer.store.sqlite.MIGRATIONS", MIGRATIONS[:1])
        with pytest.raises(StoreError, match="later version"):
            SqliteStore(folder, WHO)


def test_the_standing_average_may_be_long_too(tmp_path: Path) -> None:
    """A network of long vectors: its state is read back, also without opening the store."""
    long = Identity("net", "ada", LONG, "0.01")
    store = SqliteStore(tmp_path / "data", long)
    for state in states(3):
        store.save(state)
    assert_same(read_state(shutil.copytree(tmp_path / "data", tmp_path / "copy")), state)
    store.close()
    again = SqliteStore(tmp_path / "data", long)
    assert_same(again.load(), state)
    again.close()


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.peer.store.test_places import LONG, TOPIC, opened, states
store = opened(Path({folder!r}))
kept = store.topic(TOPIC, LONG)
kept.load()
while True:
    for state in states(40):
        kept.save(state)
        print(state.requests, flush=True)
"""


def test_a_process_that_is_killed_has_kept_what_it_said(tmp_path: Path) -> None:
    """A real process saves without end and is killed ten times, each time after more: the last state, or the next."""
    folder, root = tmp_path / "data", str(Path(__file__).parents[3])
    expected = {state.requests: state for state in states(40)}
    opened(folder).close()
    for number in range(10):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED.format(root=root, folder=str(folder))], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            said = [process.stdout.readline() for _ in range(1 + 3 * number)]
            process.kill()
            last = int((said + process.stdout.read().splitlines())[-1])
        store = opened(folder)
        found = store.topic(TOPIC, LONG).load()
        assert found is not None
        assert_same(found, expected[found.requests])
        assert found.requests in (last, (last + 1) % 40)
        store.close()
