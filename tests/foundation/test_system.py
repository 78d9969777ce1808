"""Other systems than Linux: what they lack is taken away here, and the answer is a way without it or one sentence."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.errors import InvalidGraph, InvalidInput, Unsupported
from sottovoce.foundation import cores, system
from sottovoce.foundation.files import write_atomically
from sottovoce.peer.membership.keys import load_key, make_identity
from sottovoce.peer.process import control
from sottovoce.peer.store.base import Identity
from sottovoce.peer.store.sqlite import SqliteStore


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as it can be played here: no locks, no memory size, no affinity, no permissions."""
    monkeypatch.setattr(system, "fcntl", None)
    monkeypatch.delattr(os, "sysconf")
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(system, "POSIX", False)
    monkeypatch.setattr(platform, "system", lambda: "Windows")


@pytest.mark.usefixtures("windows")
def test_memory_that_is_not_told_refuses_nothing() -> None:
    """A graph is then as large as it may be; on Linux one beyond all memory is refused."""
    assert system.memory() == float("inf")
    assert sv.graphs.complete(5).num_edges == 10


def test_memory_is_known_here() -> None:
    """Between a hundred megabytes and a petabyte; what is larger is refused before it is made."""
    assert 1e8 < system.memory() < 1e15
    with pytest.raises(InvalidGraph, match="memory"):
        sv.graphs.complete(10**8)


FAULTS = """
import resource
import numpy as np
from sottovoce.foundation.system import keep_freed_memory
def faults():
    before, vector = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, np.ones(100_000)
    for _ in range(20):
        (vector + 1.0) * (vector + 2.0)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
before = faults()
keep_freed_memory()
faults()
print(before, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have their own ways")
def test_freed_memory_is_kept_when_asked_for() -> None:
    """Arithmetic on vectors of 800 kB asks the system for hardly any page again; without it, for all of them."""
    # Dask's nannies leave MALLOC_TRIM_THRESHOLD_ in the environment of a process that has started some.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True, env=clean)
    before, after = map(int, done.stdout.split())
    assert before > 1000 > 10 * after


@pytest.mark.usefixtures("windows")
def test_cores_are_counted_without_affinity() -> None:
    """All that there are, or what a quota pays for."""
    assert 1 <= cores.available_cores() <= (os.cpu_count() or 1)


@pytest.mark.usefixtures("windows")
def test_a_peer_refuses_to_keep_keys_where_they_lie_open(tmp_path: Path) -> None:
    """Neither made nor read, nor a store opened: one sentence names the system and the reason, and nothing is left."""
    with pytest.raises(Unsupported, match=r"only their owner can read, and on Windows .* run peers on Linux"):
        make_identity("ada", "trio", tmp_path / "ada")
    with pytest.raises(Unsupported, match="on Windows"):
        load_key(tmp_path / "peer.key", "the key")
    with pytest.raises(Unsupported, match="on Windows"):
        SqliteStore(tmp_path / "data", Identity("trio", "ada", 1, "1e-6"))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_without_locks_a_writer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sweeps in one folder would mix; so not even one is let in."""
    monkeypatch.setattr(system, "fcntl", None)
    with (tmp_path / "lock").open("w") as lock, pytest.raises(Unsupported, match="a sweep's dataset needs file locks"):
        system.hold(lock.fileno(), "a sweep's dataset")


def test_a_lock_keeps_a_second_holder_out(tmp_path: Path) -> None:
    """Also inside one process, where the file is opened twice; it goes when the first is closed."""
    with (tmp_path / "lock").open("w") as second:
        with (tmp_path / "lock").open("w") as first:
            system.hold(first.fileno(), "this")
            with pytest.raises(BlockingIOError):
                system.hold(second.fileno(), "this")
        system.hold(second.fileno(), "this")


@pytest.mark.usefixtures("windows")
def test_files_are_whole_where_folders_cannot_be_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows refuses to open a folder; the file is written and put in place all the same."""
    real = os.open

    def no_folders(path: str, *arguments: int, **keywords: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(path)
        return real(path, *arguments, **keywords)

    monkeypatch.setattr(os, "open", no_folders)
    write_atomically(tmp_path / "a.txt", lambda draft: draft.write_text("whole", encoding="utf-8"))
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "whole"


def test_the_operators_socket_works_without_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS the socket is called by its own name; a folder too deep for that is said."""

    async def hello(_: dict[str, object]) -> dict[str, object]:
        return {"said": "hello"}

    async def exchange(folder: Path) -> dict[str, object]:
        server = control.ControlServer(folder, {"status": hello})
        await server.start()
        try:
            return await asyncio.to_thread(control.ask, folder, "status")
        finally:
            await server.close()

    monkeypatch.setattr(control, "OPEN_FOLDERS", tmp_path / "no-proc")
    short = Path(os.path.relpath(tmp_path))
    assert asyncio.run(exchange(short))["said"] == "hello"
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    with pytest.raises(InvalidInput, match="data_dir is too long for this system"):
        asyncio.run(exchange(deep))


def test_everything_is_imported_without_what_only_posix_has() -> None:
    """No module of the package needs ``fcntl``, ``resource``, ``pwd`` or ``grp`` to be imported."""
    program = """
import importlib, pkgutil, sys
sys.modules.update(dict.fromkeys(["fcntl", "resource", "pwd", "grp", "termios"]))
import multiprocessing.context, pathlib, tarfile, shutil
import sottovoce
for module in pkgutil.walk_packages(sottovoce.__path__, "sottovoce."):
    if not module.name.endswith("__main__") and ".gpu." not in module.name and "_pb2" not in module.name:
        importlib.import_module(module.name)
"""
    paths = [path for path in sys.path if path]
    code = f"import sys; sys.path[:0] = {paths!r}\n{program}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
