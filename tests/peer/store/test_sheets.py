"""States with long vectors in files of their own: what stands where, and what damage does."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import UnusableStore
from sottovoce.peer.protocol.units import LONG
from sottovoce.peer.store import Identity, sheets
from sottovoce.peer.store.base import TopicRecord
from sottovoce.peer.store.sqlite import SqliteStore, read_state
from sottovoce.testing.stores import assert_same, some_state

from .long_topics import TOPIC, WHO, file_of, loaded, opened, states


def test_a_state_with_long_vectors_is_in_the_file_and_not_in_the_database(folder: Path) -> None:
    """And only the owner can read it."""
    with closing(sqlite3.connect(folder / "peer.sqlite")) as db:
        found = dict(db.execute("SELECT what, data FROM state WHERE topic = ?", (TOPIC,)))
    assert found == {"topic": None, "sheet": None}
    assert some_state(LONG).value.tobytes() in file_of(folder).read_bytes()
    assert stat.S_IMODE(file_of(folder).stat().st_mode) == 0o600


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
