"""A file is whole or not there, and readable by whom it should be."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sottovoce.foundation.files import is_file, write_atomically, written_together


def writes(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


def open_files(folder: Path) -> list[Path]:
    """Those of the folder only: what an earlier test forgot may be collected at any moment."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since, by a thread or by the listing itself
            found.append(link.readlink())
    return [path for path in found if path.is_relative_to(folder)]


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_file_and_its_folders_are_made_and_an_old_one_is_replaced(tmp_path: Path) -> None:
    """Nothing else is left in the folder, and no file stays open."""
    path = tmp_path / "a" / "b" / "run.txt"
    for text in ("first", "second"):
        write_atomically(path, writes(text))
        assert path.read_text() == text
    assert [each.name for each in path.parent.iterdir()] == ["run.txt"]
    assert not open_files(tmp_path)
    with path.open():
        assert open_files(tmp_path) == [path]  # the check sees what is open


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()], ids=["failure", "Ctrl-C"])
def test_what_fails_half_way_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    """The error is the caller's, the old content is untouched, and the half-written file is gone."""
    path = tmp_path / "run.txt"
    path.write_text("old")

    def half(draft: Path) -> None:
        draft.write_text("ne")
        raise error

    with pytest.raises(type(error)):
        write_atomically(path, half)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["run.txt"]


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("no space left")])
def test_files_that_belong_together_come_together_or_not_at_all(
    tmp_path: Path, error: BaseException, before: bool
) -> None:
    """Stopped after the first of two, the folder is as it was; otherwise both are there, and nothing else."""
    folder = tmp_path / "out"
    if before:
        folder.mkdir()
        (folder / "a").write_text("old")

    def half(folder: Path) -> None:
        with written_together(folder) as drafts:
            (drafts / "a").write_text("new")
            raise error

    with pytest.raises(type(error)):
        half(folder)
    assert [(file.name, file.read_text()) for file in tmp_path.rglob("*") if file.is_file()] == [("a", "old")] * before
    assert folder.exists() == before
    with written_together(folder) as drafts:
        (drafts / "a").write_text("new")
        write_atomically(drafts / "b", lambda path: path.write_text("too"))
    assert sorted((file.name, file.read_text()) for file in folder.iterdir()) == [("a", "new"), ("b", "too")]


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600)])
def test_an_ordinary_file_has_the_permissions_that_the_user_wants(tmp_path: Path, mask: int, expected: int) -> None:
    """Those of the user's umask, which is as before afterwards."""
    previous = os.umask(mask)
    try:
        write_atomically(tmp_path / "run.txt", writes("x"))
        assert os.umask(mask) == mask
    finally:
        os.umask(previous)
    assert mode_of(tmp_path / "run.txt") == expected


def test_a_private_file_is_never_readable_by_others(tmp_path: Path) -> None:
    """Not while it is written either, and whatever the bits for the kind of file say."""
    seen = []

    def write(draft: Path) -> None:
        draft.write_text("secret")
        seen.append(mode_of(draft))

    write_atomically(tmp_path / "key", write, mode=0o100600)
    assert [*seen, mode_of(tmp_path / "key")] == [0o600, 0o600]


def test_content_is_on_disk_before_the_rename_and_the_rename_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut at any time leaves the old file or the new one."""
    path, events = tmp_path / "run.txt", []
    sync, rename = os.fsync, Path.replace

    def synced(handle: int) -> None:
        events.append("folder" if os.path.samestat(os.fstat(handle), tmp_path.stat()) else "content")
        sync(handle)

    def renamed(draft: Path, target: Any) -> Path:
        events.append("rename")
        return rename(draft, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    write_atomically(path, writes("x"))
    assert events == ["content", "rename", "folder"]


def test_any_text_may_be_asked_about(tmp_path: Path) -> None:
    """What cannot be a path is no file, and no error."""
    (tmp_path / "x").write_text("")
    assert is_file(str(tmp_path / "x")) is True
    for text in (str(tmp_path), str(tmp_path / "y"), "a\0b", "x" * 10_000):
        assert is_file(text) is False


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    """What is no ordinary file is written to, not replaced: ``--csv /dev/stdout`` shows the table."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_text)
        write_atomically(pipe, writes("table"))
        assert read.result(120) == "table"
    assert pipe.is_fifo()


def test_a_name_of_the_system_for_an_open_file_is_written_to(tmp_path: Path) -> None:
    """As ``/dev/stdout`` is when a shell has redirected it: the open file gets the bytes."""
    with (tmp_path / "redirected").open("w+b") as target:
        write_atomically(Path(f"/proc/self/fd/{target.fileno()}"), writes("table"))
        assert target.read() == b"table"
