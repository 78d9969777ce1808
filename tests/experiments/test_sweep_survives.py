"""Sweeps whose workers, coordinator, cluster or disk fail: nothing finished is lost, and the dataset is the same."""

from __future__ import annotations

import gc
import importlib
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import CancelledError
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sottovoce.experiments.spec import SweepSpec
from sottovoce.experiments.store import StoreBusy, SweepStore
from sottovoce.experiments.sweep import SweepInterrupted, sweep

from .sweeping import SPEC, Here


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return sweep(SPEC, store=tmp_path_factory.mktemp("expected"), executor=Here()).table()


def test_a_process_pool_gives_the_same_dataset(expected, tmp_path):
    """The default executor, worker processes on all cores, changes nothing but the order of work."""
    assert sweep(SPEC, store=tmp_path, progress=False).table().equals(expected)


@pytest.fixture(scope="module")
def cluster():
    """A real Dask cluster of two worker processes."""
    from distributed import LocalCluster

    options = {"dashboard_address": None, "worker_dashboard_address": None}
    made = LocalCluster(n_workers=2, threads_per_worker=1, **options)
    yield made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own sockets; it ends in the time of a test that is strict about them
        made.close()
        del made
        gc.collect()


@pytest.fixture
def swept_up():
    """What Dask leaves lying about is collected in the test that made it, not in whichever runs later."""
    yield
    gc.collect()


@pytest.mark.usefixtures("swept_up")
@pytest.mark.filterwarnings("default")  # Dask warns about its own sockets when workers are killed
def test_a_dask_cluster_gives_the_same_dataset_even_when_a_worker_is_killed(cluster, expected, tmp_path):
    """Two worker processes, one killed midway: its runs are done again, and the dataset is identical."""
    from distributed import Client

    killed_at = []
    with Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))

        def kill_after_the_first(done, total):
            if not killed_at:
                killed_at.append(total)
                os.kill(victim, signal.SIGKILL)

        result = sweep(SPEC, store=tmp_path, executor=client.get_executor(retries=3), progress=kill_after_the_first)
    assert killed_at == [12]
    assert result.failures == 0
    assert result.table().equals(expected)


@pytest.mark.usefixtures("swept_up")
@pytest.mark.filterwarnings("default")
def test_the_command_runs_on_a_cluster_by_address(cluster, expected, tmp_path, capsys):
    """``--dask ADDRESS`` submits to a running scheduler."""
    from sottovoce.cli.main import main

    (tmp_path / "s.toml").write_text(
        'num_steps = 60\nreplicas = 2\nrecord = 6\n[axes]\ngraph = ["cycle:6", "path:5"]\n'
        'method = ["standard", "noise-insertion"]\nnoise_std = [1.0]\nnoise_decay = [0.5, 0.9]\nseed = [1, 2]\n'
    )
    arguments = ["sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "o"), "--dask", cluster.scheduler_address]
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0
    assert "12 runs done" in capsys.readouterr().out
    assert SweepStore(tmp_path / "o").table().equals(expected)


def test_what_dask_says_of_its_own_end_is_not_shown():
    """Closed connections and cancelled batches, with a traceback each; any other error is."""
    from distributed.comm import CommClosedError

    from sottovoce.cli.sweep import _is_news

    def news(error):
        trace = (type(error), error, None)
        return _is_news(logging.LogRecord("distributed.client", logging.ERROR, "", 0, "it failed", (), trace))

    assert [news(error) for error in (CommClosedError("closed"), CancelledError(), ValueError("bad"))] == [
        False, False, True,
    ]  # fmt: skip
    assert _is_news(logging.LogRecord("distributed.client", logging.ERROR, "", 0, "in words", (), None))


def test_a_cluster_that_does_not_close_in_time_hides_nothing():
    """What the sweep has to say is said all the same, be it that it was stopped."""
    from sottovoce.cli.sweep import _closing

    class Slow:
        def close(self):
            raise TimeoutError

    with _closing(Slow()):
        pass
    with pytest.raises(SweepInterrupted), _closing(Slow()):
        raise SweepInterrupted("stopped", signal.SIGTERM)


class Stopped(Here):
    """Workers that end when this process is asked to stop, as those of a group do, and are missed first."""

    def submit(self, fn, /, *arguments):
        if self.calls == self.limit:
            signal.raise_signal(signal.SIGTERM)
        return super().submit(fn, *arguments)


def test_a_signal_that_ends_the_workers_first_is_the_reason_why_a_sweep_stopped(tmp_path):
    """Not that they are gone: a batch system looks at the exit code."""
    with pytest.raises(SweepInterrupted, match="SIGTERM") as stopped:
        sweep(SPEC, store=tmp_path, executor=Stopped(limit=0), progress=False)
    assert stopped.value.signal == signal.SIGTERM


DYING = """
import os, signal
from sottovoce.experiments.runs import run_batch

def die(batch):
    for task in batch.tasks:
        if task.graph == "path:5" and task.seed == 1 and (not {once} or not os.path.exists({mark!r})):
            open({mark!r}, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
    return run_batch(batch)
"""


def test_a_worker_killed_in_the_pool_does_not_end_the_sweep(expected, tmp_path, monkeypatch):
    """The pool is replaced and the runs that were lost with the worker are done again."""
    (tmp_path / "dying_once.py").write_text(DYING.format(mark=str(tmp_path / "mark"), once=True))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sottovoce.experiments.workers.run_batch", importlib.import_module("dying_once").die)
    result = sweep(SPEC, store=tmp_path / "o", progress=False)
    assert (tmp_path / "mark").exists()
    assert result.table().equals(expected)


HALF = """
import os, signal
from multiprocessing.connection import Connection
from sottovoce.experiments.runs import run_batch
whole = Connection._send
def half(connection, data, *rest):
    if len(data) <= 4096:  # what a pipe takes at once or not at all
        return whole(connection, data, *rest)
    whole(connection, data[:4096], *rest)
    os.kill(os.getpid(), signal.SIGKILL)
def die(batch):
    Connection._send = half
    return run_batch(batch)
"""


@pytest.mark.timeout(120)
def test_a_worker_killed_in_the_middle_of_its_answer_keeps_nobody_waiting(tmp_path, monkeypatch):
    """A pool would wait for the rest of a long answer for ever: none goes through its pipe."""
    (tmp_path / "dying_in_half.py").write_text(HALF)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sottovoce.experiments.workers.run_batch", importlib.import_module("dying_in_half").die)
    spec = SPEC | {"num_steps": 4_000, "record": 2_000, "axes": SPEC["axes"] | {"noise_decay": [0.5], "seed": [1]}}
    assert sweep(spec, store=tmp_path / "o", progress=False).failures == 0


@pytest.mark.timeout(300)
def test_a_run_that_kills_its_worker_fails_alone(expected, tmp_path, monkeypatch):
    """It is recorded as failed after three deaths; those that ran beside it are done, whatever batch they were in."""
    (tmp_path / "dying_always.py").write_text(DYING.format(mark=str(tmp_path / "mark"), once=False))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sottovoce.experiments.workers.run_batch", importlib.import_module("dying_always").die)
    spec = SPEC | {"axes": SPEC["axes"] | {"noise_decay": [0.5]}}
    result = sweep(spec, store=tmp_path / "o", progress=False)
    frame = result.table().to_pandas()
    lost = frame[frame.status == "failed"]
    assert (result.finished, result.failures) == (8, 2)
    assert set(zip(lost.graph, lost.seed, strict=True)) == {("path:5", 1)}
    assert set(lost.method) == {"standard", "noise-insertion"}
    assert lost.error.str.contains("BrokenProcessPool").all()


COORDINATOR = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from sottovoce.experiments import sweep as module, workers
from sweeping import SPEC
begun = []
def slow(batch, real=workers.run_batch):
    begun.append(batch)
    if len(begun) > 5:
        time.sleep(600)  # so that it is killed in the middle, however late that is
    return real(batch)
workers.run_batch = slow
workers.LARGEST_BATCH = 1
module.SECONDS_AT_RISK = module.SHARE_AT_RISK = 0.0
with ThreadPoolExecutor(1) as pool:
    module.sweep(SPEC, store=sys.argv[1], executor=pool, progress=False)
"""


def test_a_killed_coordinator_leaves_a_dataset_that_is_finished_by_a_rerun(expected, tmp_path):
    """SIGKILL in the middle: finished runs are whole, the rerun skips them, and the dataset is identical."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    process = subprocess.Popen([sys.executable, "-c", COORDINATOR, str(tmp_path)], env=environment)
    deadline = time.monotonic() + 200
    while len(list(tmp_path.glob("part-*.parquet"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(SweepStore(tmp_path).finished())
    assert 3 <= done < 12
    result = sweep(SPEC, store=tmp_path, executor=Here())
    assert (result.skipped, result.finished) == (done, 12 - done)
    assert result.table().equals(expected)


def test_a_cluster_that_goes_away_loses_nothing(expected, tmp_path, monkeypatch):
    """The error says what was kept and what to do; a rerun does the rest."""
    monkeypatch.setattr("sottovoce.experiments.workers.LARGEST_BATCH", 1)
    with pytest.raises(SweepInterrupted, match=r"stopped after \d+ of 12 runs .* the same command does the rest"):
        sweep(SPEC, store=tmp_path, executor=Here(limit=5))
    assert len(SweepStore(tmp_path).finished()) == 5
    assert sweep(SPEC, store=tmp_path, executor=Here()).table().equals(expected)


def test_a_full_disk_loses_nothing(expected, tmp_path, monkeypatch):
    """When a file cannot be written the earlier ones stay, no half file is left, and a rerun does the rest."""
    monkeypatch.setattr("sottovoce.experiments.sweep.SECONDS_AT_RISK", 0.0)
    monkeypatch.setattr("sottovoce.experiments.sweep.SHARE_AT_RISK", 0.0)
    monkeypatch.setattr("sottovoce.experiments.workers.LARGEST_BATCH", 1)
    real, calls = pq.write_table, []

    def write(table, where, **keywords):
        calls.append(where)
        if len(calls) >= 4:
            raise OSError(28, "No space left on device")
        real(table, where, **keywords)

    monkeypatch.setattr(pq, "write_table", write)
    with pytest.raises(SweepInterrupted, match=r"stopped after 3 of 12 runs .*No space left"):
        sweep(SPEC, store=tmp_path, executor=Here())
    monkeypatch.undo()
    assert len(SweepStore(tmp_path).finished()) == 3
    assert not list(tmp_path.glob(".part*"))
    assert sweep(SPEC, store=tmp_path, executor=Here()).table().equals(expected)


def test_two_sweeps_cannot_write_one_folder(tmp_path):
    """The second is refused at once and changes nothing."""
    store = SweepStore(tmp_path, SweepSpec(**SPEC).parameters, SweepSpec(**SPEC).settings)
    with store.writing(), pytest.raises(StoreBusy, match="another sweep is writing"):
        sweep(SPEC, store=tmp_path, executor=Here())
    assert sweep(SPEC, store=tmp_path, executor=Here()).finished == 12
