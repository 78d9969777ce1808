"""States with long vectors in files of their own: whatever is interrupted, it is the state before or the new one."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import StoreError, UnusableStore
from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.units import LONG
from sottovoce.peer.store import Identity, rows, sheets
from sottovoce.peer.store.base import TopicRecord
from sottovoce.peer.store.rows import Rows
from sottovoce.peer.store.sheets import Sheet
from sottovoce.peer.store.sqlite import MIGRATIONS, SqliteStore, read_state
from sottovoce.testing.stores import assert_same, some_state

WHO = Identity("net", "ada", 3, "0.01")
TOPIC = bytes([7]) * 16


def opened(folder: Path) -> SqliteStore:
    store = SqliteStore(folder, WHO)
    if TOPIC not in store.topics():
        store.note_topic(TOPIC, TopicRecord("t", LONG, "wait", "s"))
    return store


def is_on_disk_and_fails(patch: pytest.MonkeyPatch) -> None:
    """From now on what is saved is on disk, and yet whoever asked for it hears of a failure."""
    real_write, real_wait = SqliteStore.write, sheets._wait_for_the_disk

    def write(store: SqliteStore, change: Any) -> None:
        real_write(store, change)
        raise KeyboardInterrupt

    def wait(file: int) -> None:
        real_wait(file)
        raise KeyboardInterrupt

    patch.setattr(SqliteStore, "write", write)
    patch.setattr(sheets, "_wait_for_the_disk", wait)


def fails(*_: object) -> None:
    """As a disk that says nothing but no."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def loaded(folder: Path) -> PeerState | None:
    """What a program that opens this folder now finds."""
    store = SqliteStore(folder, WHO)
    try:
        return store.topic(TOPIC, LONG).load()
    finally:
        store.close()


def is_one_of(found: PeerState | None, *expected: PeerState) -> None:
    """They differ in ``requests``."""
    assert found is not None
    (same,) = (state for state in expected if state.requests == found.requests)
    assert_same(found, same)


def file_of(folder: Path) -> Path:
    (found,) = folder.glob("*.sheet")
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


def test_a_state_with_long_vectors_is_in_the_file_and_not_in_the_database(folder: Path) -> None:
    """And only the owner can read it."""
    with closing(sqlite3.connect(folder / "peer.sqlite")) as db:
        found = dict(db.execute("SELECT what, data FROM state WHERE topic = ?", (TOPIC,)))
    assert found == {"topic": None, "sheet": None}
    assert some_state(LONG).value.tobytes() in file_of(folder).read_bytes()
    assert stat.S_IMODE(file_of(folder).stat().st_mode) == 0o600


def test_a_crash_at_any_moment_leaves_the_state_before_or_the_new_one(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is copied after each write of twelve saves, as a kill would leave it, and opened."""
    store = opened(folder)
    kept, copies = store.topic(TOPIC, LONG), []
    before = kept.load()
    assert before is not None
    real_write, real_wait = sheets._write_at, sheets._wait_for_the_disk

    def copy() -> None:
        copies.append(shutil.copytree(folder, tmp_path / f"copy{len(copies)}"))

    def write(*arguments: Any) -> Any:
        found = real_write(*arguments)
        copy()
        return found

    def wait(file: int) -> None:
        real_wait(file)
        copy()

    for state in states(12):
        copies.clear()
        with monkeypatch.context() as patch:
            patch.setattr(sheets, "_write_at", write)
            patch.setattr(sheets, "_wait_for_the_disk", wait)
            kept.save(state)
        *vectors, _, last = copies
        for one in vectors:
            assert_same(loaded(one), before)
        assert_same(loaded(last), state)
        for one in copies:
            shutil.rmtree(one)
        before = state
    store.close()


@pytest.mark.parametrize("sector", [512, 4096])
def test_a_power_cut_leaves_the_state_before_or_the_new_one(folder: Path, tmp_path: Path, sector: int) -> None:
    """Of what a save has written any sectors reached the disk, in any order, and the file had grown or had not."""
    store, rng = opened(folder), np.random.default_rng(sector)
    kept, other = store.topic(TOPIC, LONG), Sheet(tmp_path, TOPIC, LONG)
    before, path = kept.load(), tmp_path / file_of(folder).name
    assert before is not None
    new_ones = 0
    for state in states(8):
        old = file_of(folder).read_bytes()
        kept.save(state)
        new = file_of(folder).read_bytes()
        grown = old.ljust(len(new), b"\0")
        differ = [at for at in range(0, len(new), sector) if new[at : at + sector] != grown[at : at + sector]]
        assert differ
        for share in (0.0, 0.2, 0.5, 0.8, *([0.97] * 8), 1.0):
            content = bytearray(grown)
            for at in differ:
                if rng.random() < share:
                    content[at : at + sector] = new[at : at + sector]
            path.write_bytes(content[: len(old)] if rng.random() < 0.2 and share < 1.0 else content)
            found = Rows(other).load(LONG)
            is_one_of(found, before, state)
            new_ones += found is not None and found.requests == state.requests
            assert share < 1.0 or (found is not None and found.requests == state.requests)
        before = state
    assert 8 <= new_ones < 8 * 13
    store.close()


def test_the_disk_is_waited_for_once_when_all_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where no vector has changed nothing is written but a head."""
    order: list[str] = []
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    assert kept.load() is not None
    real_wait, real_write = sheets._wait_for_the_disk, os.pwritev

    def wait(file: int) -> None:
        order.append("waited")
        real_wait(file)

    def write(*arguments: Any) -> int:
        order.append("head" if arguments[2] < 2 * sheets._HEAD else "vector")
        return real_write(*arguments)

    monkeypatch.setattr(sheets, "_wait_for_the_disk", wait)
    monkeypatch.setattr(os, "pwritev", write)
    store.connection().set_trace_callback(lambda text: order.append(text.split()[0]))
    last = list(states(6))[-1]
    kept.save(last)
    *vectors, head, waited = order
    assert (set(vectors), head, waited) == ({"vector"}, "head", "waited")
    order.clear()
    kept.save(replace(last, requests=99))
    assert order == ["head", "waited"]
    store.close()


def test_what_is_read_is_on_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was killed before it had waited for the disk: its state is read, so it must stay."""
    waited: list[int] = []
    real = sheets._wait_for_the_disk

    def wait(file: int) -> None:
        waited.append(file)
        real(file)

    content = file_of(folder).read_bytes()
    monkeypatch.setattr(sheets, "_wait_for_the_disk", wait)
    assert_same(loaded(folder), some_state(LONG))
    assert len(waited) == 1
    assert file_of(folder).read_bytes() == content


@pytest.mark.parametrize("who", ["the same store", "the next process"])
def test_what_a_failed_wait_left_in_memory_is_written_once_more(
    folder: Path, tmp_path: Path, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failure Linux takes for written what never was: the next wait succeeds, and the disk has nothing of it.

    The copy is the disk: writes reach it when somebody waits, and those are lost for which waiting has failed.
    """
    disk, pending, real = tmp_path / "disk", [(0, b"")], os.pwritev
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    before = kept.load()
    assert before is not None
    shutil.copytree(folder, disk)

    def write(file: int, parts: Any, at: int) -> int:
        pending.append((at, b"".join(parts)))
        return real(file, parts, at)

    def waits(_file: int) -> None:
        with file_of(disk).open("r+b") as copy:
            for at, content in pending:
                copy.seek(at)
                copy.write(content)
        pending.clear()

    def waits_in_vain(_file: int) -> None:
        pending.clear()
        fails()

    monkeypatch.setattr(os, "pwritev", write)
    monkeypatch.setattr(sheets, "_wait_for_the_disk", waits_in_vain)
    with pytest.raises(StoreError, match="Input/output"):
        kept.save(replace(before, noise=before.value * 3, requests=50))
    monkeypatch.setattr(sheets, "_wait_for_the_disk", waits)
    if who == "the next process":
        store.close()
        store = opened(folder)
        kept = store.topic(TOPIC, LONG)
    found = kept.load()
    assert found is not None
    assert found.requests == 50
    assert_same(loaded(disk), found)
    store.close()


@pytest.mark.parametrize("fault", ["none is written", "half is written", "half a head", "no sync"])
def test_a_save_that_fails_changes_nothing_and_the_next_one_works(
    folder: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No room for a vector or for the head: the state before is there, and its places were not written to."""
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    kept.load()
    before, *_, later = states(6)
    kept.save(before)
    real = os.pwritev

    def write(file: int, parts: Any, at: int) -> int:
        content = b"".join(parts)
        if fault == "half a head" and at >= 2 * sheets._HEAD:
            return real(file, [content], at)
        return real(file, [content[: 0 if fault == "none is written" else len(content) // 2]], at)

    with monkeypatch.context() as patch:
        if fault == "no sync":
            patch.setattr(sheets, "_wait_for_the_disk", fails)
        else:
            patch.setattr(os, "pwritev", write)
        with pytest.raises(StoreError, match="Input/output" if fault == "no sync" else "disk is full"):
            kept.save(later)
    is_one_of(loaded(shutil.copytree(folder, folder.parent / "copy")), before, *[later][: fault == "no sync"])
    kept.save(later)
    store.close()
    assert_same(loaded(folder), later)


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
    assert list(folder.glob("*.sheet")) == []
    store.close()
    (folder / f"{TOPIC.hex()}.sheet").write_bytes(left)
    (folder / "my.sheet").write_text("not ours")
    (folder / "a folder.sheet").mkdir()
    opened(folder).close()
    assert {path.name for path in folder.glob("*.sheet")} == {"my.sheet", "a folder.sheet"}


def test_a_damaged_database_costs_no_vectors(folder: Path) -> None:
    """What is open is decided by rows whose checksums fit: one bit in a name, and the file is still there."""
    with closing(sqlite3.connect(folder / "peer.sqlite")) as db:
        db.execute("UPDATE state SET what = 'shees' WHERE what = 'sheet'")
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


def test_a_save_of_which_nobody_knows_whether_it_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was on disk when it failed: nothing that it has written is written over before the next one is there."""
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    before = kept.load()
    assert before is not None
    doubtful, later = replace(before, noise=before.value * 3, requests=50), replace(before, noise=before.value * 5)
    with monkeypatch.context() as patch:
        is_on_disk_and_fails(patch)
        with pytest.raises(KeyboardInterrupt):
            kept.save(doubtful)
    assert_same(store.topic(TOPIC, LONG).load(), doubtful)
    copies: list[Path] = []
    real_write = sheets._write_at

    def write(*arguments: Any) -> Any:
        found = real_write(*arguments)
        copies.append(shutil.copytree(folder, folder.parent / f"then{len(copies)}"))
        return found

    monkeypatch.setattr(sheets, "_write_at", write)
    kept.save(later)
    *vectors, _ = copies
    assert vectors
    for copy in vectors:
        assert_same(loaded(copy), doubtful)
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
        is_on_disk_and_fails(patch)
        with pytest.raises(KeyboardInterrupt):
            kept.save(replace(before, noise=before.value // 3, edges={}))
    later = replace(before, requests=77)
    kept.save(later)
    store.close()
    again = SqliteStore(tmp_path / "data", WHO)
    assert_same(again.topic(TOPIC, length).load(), later)
    again.close()


def test_places_of_a_failed_save_are_not_used_by_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose synchronisation failed may be on disk all the same, and be read after the next crash: what it
    had written is written once more, and nothing else in its place.
    """
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    before = kept.load()
    assert before is not None
    written: dict[int, set[bytes]] = {}
    real, real_wait = os.pwritev, sheets._wait_for_the_disk

    def write(file: int, content: Any, at: int) -> int:
        written.setdefault(at, set()).add(b"".join(content))
        return real(file, content, at)

    monkeypatch.setattr(os, "pwritev", write)
    monkeypatch.setattr(sheets, "_wait_for_the_disk", fails)
    with pytest.raises(StoreError):
        kept.save(replace(before, noise=before.value * 3))
    failed = set(written)
    with pytest.raises(StoreError):  # what is read must be on disk, too
        kept.save(replace(before, noise=before.value * 4))
    monkeypatch.setattr(sheets, "_wait_for_the_disk", real_wait)
    kept.save(replace(before, noise=before.value * 5))
    assert len(failed) == 2
    assert [len(written[at]) for at in failed] == [1, 1]
    assert len(written) > len(failed)
    store.close()


def test_saving_before_loading_does_not_touch_what_is_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that cannot be saved leaves the one on disk whole, also if nobody has read it."""
    store = opened(folder)
    with monkeypatch.context() as patch:
        patch.setattr(sheets, "_wait_for_the_disk", fails)
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

    monkeypatch.setattr(sheets, "sync_folder", sync)
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
    assert [name for name in linked if name.endswith(".sheet")] == []
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


def test_damage_to_what_was_written_before_is_noticed(folder: Path) -> None:
    """Only what came with the last save may be taken for one that was interrupted: then the state is the one before."""
    store = opened(folder)
    kept = store.topic(TOPIC, LONG)
    before = kept.load()
    assert before is not None
    last = replace(before, noise=before.value * 7, requests=50)
    kept.save(last)
    store.close()
    content = file_of(folder).read_bytes()
    for vector, refused in ((before.value, True), (last.noise, False)):
        assert vector is not None
        damaged = bytearray(content)
        damaged[content.index(np.ascontiguousarray(vector).tobytes()) + 5000] ^= 4
        file_of(folder).write_bytes(damaged)
        if refused:
            with pytest.raises(UnusableStore, match=r"vector 'value' in .* is damaged"):
                loaded(folder)
        else:
            assert_same(loaded(folder), before)


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
from tests.peer.store.test_sheets import LONG, TOPIC, opened, states
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
