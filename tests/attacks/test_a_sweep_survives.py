"""A sweep can be stopped, killed and damaged: no worker stays behind, nothing half done is kept, and no changed bit is
taken for a result.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sottovoce import errors
from sottovoce.experiments.store import MANIFEST, SweepStore
from sottovoce.experiments.sweep import sweep
from tests.experiments.sweeping import SPEC, Here

PATIENCE = 120.0
LONG = """
num_steps = 1_000_000
record = 20
[axes]
graph = ["cycle:10"]
method = ["noise-insertion"]
noise_std = [1.0]
noise_decay = [0.9]
seed = [{seeds}]
"""


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def descendants(process: int) -> set[int]:
    found: set[int] = set()
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            found |= {child} | descendants(child)
    return found


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def start(folder: Path, *options: str, runs: int = 20_000) -> subprocess.Popen[str]:
    """A sweep that would take minutes, in a process of its own; it is in the middle of its work on return."""
    (folder / "s.toml").write_text(LONG.format(seeds=", ".join(map(str, range(runs)))))
    command = [sys.executable, "-m", "sottovoce", "sweep", str(folder / "s.toml"), "--out", str(folder / "o"), *options]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    wait_for(lambda: process.poll() is not None or any((folder / "o").glob("part-*")))
    assert process.poll() is None, process.stderr.read()  # type: ignore[union-attr]
    return process


@pytest.mark.timeout(400)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
@pytest.mark.parametrize(
    "options", [(), pytest.param(("--dask", "local"), marks=pytest.mark.slow)], ids=["pool", "dask"]
)
def test_sigterm_stops_the_workers_and_keeps_what_is_finished(options: tuple[str, ...], tmp_path: Path) -> None:
    """SLURM and Kubernetes stop a job so: exit code 143, one sentence, no process left, a whole dataset."""
    process = start(tmp_path, *options)
    workers = descendants(process.pid)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert "the same command does the rest" in said
    assert "Traceback" not in said
    assert workers
    wait_for(lambda: not any(map(alive, workers)))
    table = SweepStore(tmp_path / "o").table()
    done = len(set(table["run"].to_pylist()))
    assert table.num_rows == 21 * done
    assert f"stopped after {done} of" in said


@pytest.mark.timeout(400)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_a_killed_coordinator_leaves_no_worker_behind(tmp_path: Path) -> None:
    """SIGKILL gives nobody a chance to clean up: workers notice by themselves, and the dataset is whole."""
    process = start(tmp_path)
    workers = descendants(process.pid)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert workers
    wait_for(lambda: not any(map(alive, workers)))
    table = SweepStore(tmp_path / "o").table()
    assert table.num_rows == 21 * len(set(table["run"].to_pylist()))


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    """300 single bits, anywhere in any file of the dataset: reading refuses each time."""
    spec = SPEC | {"axes": SPEC["axes"] | {"graph": ["cycle:6", "cycle:2"], "seed": list(range(20))}}
    sweep(spec, store=tmp_path, executor=Here())
    files = [*tmp_path.glob("*.parquet"), tmp_path / MANIFEST]
    assert len(files) == 3  # runs that succeeded, runs that failed, what they share
    sizes = np.array([file.stat().st_size for file in files])
    rng = np.random.default_rng(15)
    for turn in range(300):
        file = files[turn % 3]
        where, bit = int(rng.integers(sizes[turn % 3])), int(rng.integers(8))
        content = file.read_bytes()
        changed = bytearray(content)
        changed[where] ^= 1 << bit
        file.write_bytes(changed)
        with pytest.raises(errors.InvalidFile):
            SweepStore(tmp_path).table()
        file.write_bytes(content)
    assert SweepStore(tmp_path).table().num_rows > 0


SCRIPT = """
import pathlib, sottovoce as sv
with pathlib.Path("ran").open("a") as file:
    file.write("once\\n")
{guard}sv.sweep({{"axes": {{"graph": ["path:3"], "method": ["standard"]}}, "num_steps": 9}}, store="o", progress=False)
"""


def run_script(folder: Path, guard: str) -> subprocess.CompletedProcess[str]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "script.py").write_text(SCRIPT.format(guard=guard))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        [sys.executable, "script.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_script_without_a_guard_runs_once_and_is_told(tmp_path: Path) -> None:
    """Its workers would run it again: one error with the line and the remedy, and nothing is started."""
    ended = run_script(tmp_path / "bare", guard="")
    assert ended.returncode == 1
    assert ended.stderr.count("Traceback") == 1
    assert "line 5 of" in ended.stderr
    assert "if __name__ ==" in ended.stderr
    assert (tmp_path / "bare" / "ran").read_text() == "once\n"
    assert not (tmp_path / "bare" / "o").exists()


def test_a_script_with_a_guard_runs(tmp_path: Path) -> None:
    """The remedy that the error names works."""
    ended = run_script(tmp_path / "guarded", guard='if __name__ == "__main__": ')
    assert ended.returncode == 0, ended.stderr
    assert SweepStore(tmp_path / "guarded" / "o").table().num_rows == 10
