"""Saves of long vectors: whatever is interrupted or fails, it is the state before or the new one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import StoreError
from sottovoce.peer.protocol.units import LONG
from sottovoce.peer.store import sheets
from sottovoce.peer.store.rows import Rows
from sottovoce.peer.store.sheets import Sheet
from sottovoce.peer.store.sqlite import SqliteStore
from sottovoce.testing.stores import assert_same, some_state

from .long_topics import TOPIC, WHO, fails, file_of, is_one_of, loaded, opened, states


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


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.peer.store.long_topics import LONG, TOPIC, opened, states
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
