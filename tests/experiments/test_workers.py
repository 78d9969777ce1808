"""Handing out runs: batches, a limited number at a time, the same version everywhere."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import pytest

from sottovoce.experiments import workers
from sottovoce.experiments.runs import Batch, OtherVersion, run_batch
from sottovoce.experiments.spec import SweepSpec
from sottovoce.experiments.store import SweepStore
from sottovoce.experiments.sweep import SweepInterrupted, sweep
from sottovoce.foundation.interrupting import StopAsked, stop_requests
from tests.experiments.test_sweep import SPEC, Here


def many(count):
    axes = {"graph": ["path:3"], "method": ["standard"], "seed": list(range(count))}
    return SweepSpec(axes=axes, num_steps=5, record=1)


def test_a_batch_ends_with_its_time():
    """At least one run is done, and what was done are the first ones, in order."""
    tasks = tuple(many(3).tasks())
    assert [outcome.run for outcome in run_batch(Batch(tasks, seconds=0.0))] == [tasks[0].digest]
    assert [outcome.run for outcome in run_batch(Batch(tasks, seconds=60.0))] == [task.digest for task in tasks]


class Counting(Executor):
    """Runs batches one at a time in a thread and remembers how many were with it, and how large they were."""

    def __init__(self):
        self.inside, self.most, self.sizes = 0, 0, []
        self._pool, self._lock = ThreadPoolExecutor(1), threading.Lock()

    def submit(self, fn, /, batch):
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.sizes.append(len(batch.tasks))
        future = self._pool.submit(fn, batch)
        future.add_done_callback(self._leave)
        return future

    def _leave(self, _future: Future) -> None:
        with self._lock:
            self.inside -= 1


def test_submission_is_windowed_and_batches_grow(tmp_path, monkeypatch):
    """Not all runs are with the executor at once, and quick ones travel together."""
    monkeypatch.setattr(workers, "WINDOW", 4)
    monkeypatch.setattr(workers, "Batch", partial(Batch, seconds=600.0))  # also where the machine stands still
    executor = Counting()
    assert sweep(many(600), store=tmp_path, executor=executor).finished == 600
    assert executor.most <= 4
    assert max(executor.sizes) >= 16
    assert len(executor.sizes) < 300


def test_what_a_batch_did_not_reach_is_done_later(tmp_path, monkeypatch):
    """Workers that stop after one run of each batch still do them all, each once."""
    monkeypatch.setattr(workers, "run_batch", lambda batch: run_batch(Batch(batch.tasks, seconds=0.0)))
    result = sweep(many(40), store=tmp_path, executor=Here())
    assert result.finished == 40
    assert result.table().num_rows == 80


class GivesUp(Here):
    """A cluster that gives up on every batch with a certain run."""

    def submit(self, fn, /, batch):
        if any(task.seed == 7 for task in batch.tasks):
            future = Future()
            future.set_exception(RuntimeError("attempted to run on 4 workers, and they all died"))
            return future
        return super().submit(fn, batch)


def test_a_batch_that_a_cluster_gives_up_is_tried_run_by_run(tmp_path, monkeypatch):
    """Only the run that is to blame is recorded as failed."""
    monkeypatch.setattr(workers, "WINDOW", 1)
    result = sweep(many(30), store=tmp_path, executor=GivesUp())
    assert (result.finished, result.failures) == (30, 1)
    assert list(result.reasons) == ["RuntimeError: attempted to run on 4 workers, and they all died"]
    frame = result.table().to_pandas()
    assert frame[frame.status == "failed"].seed.tolist() == [7]


def test_a_worker_of_another_version_ends_the_sweep(tmp_path, monkeypatch):
    """Its numbers might be others: nothing is recorded, and one sentence says which versions met."""
    tasks = tuple(many(1).tasks())
    with pytest.raises(OtherVersion, match=r"a worker has sottovoce 0.1.0 and the sweep was started with 9.9"):
        run_batch(Batch(tasks, version="9.9"))
    monkeypatch.setattr("sottovoce.experiments.runs.__version__", "9.9")
    with pytest.raises(SweepInterrupted, match=r"stopped after 0 of 12 runs \(OtherVersion"):
        sweep(SPEC, store=tmp_path, executor=Here())
    assert not SweepStore(tmp_path).finished()


def test_workers_that_cannot_start_end_the_sweep(tmp_path, monkeypatch):
    """Not every run is recorded as failed, one after another: one sentence says what to look at."""
    monkeypatch.setattr(workers, "_follow", _cannot_start)
    with pytest.raises(SweepInterrupted, match="worker processes end before they can do anything"):
        sweep(many(5), store=tmp_path, progress=False)


def _cannot_start(_heard: object) -> None:
    raise SystemExit(3)


def test_ctrl_c_in_the_middle_of_a_run_keeps_only_whole_ones(tmp_path, monkeypatch):
    """Where the worker is this process: the run that was cut short is not in the dataset, those before it are."""
    import _thread

    from sottovoce.experiments import runs

    real, calls = runs.simulate, []

    def pressed(*arguments, **keywords):
        calls.append(1)
        if len(calls) == 3:
            keywords["num_steps"], keywords["progress"] = 3_000_000, lambda done, total: _thread.interrupt_main()
        return real(*arguments, **keywords)

    monkeypatch.setattr(runs, "simulate", pressed)
    monkeypatch.setattr(workers, "LARGEST_BATCH", 1)
    with pytest.raises(SweepInterrupted) as stopped:
        sweep(many(5), store=tmp_path, executor=Here(), progress=False)
    assert stopped.value.signal == 2
    assert len(SweepStore(tmp_path).finished()) == 2
    assert set(SweepStore(tmp_path).table()["status"].to_pylist()) == {"completed"}


def test_the_first_request_to_stop_waits_for_the_worker_and_the_second_does_not():
    """A signal is remembered until somebody asks; afterwards the usual handlers are back."""
    import signal

    with stop_requests() as stop:
        stop.check()
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(StopAsked, match="SIGTERM"):
            stop.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_lines_where_there_is_no_terminal(monkeypatch, capsys):
    """In the log of a batch job: how many, since when, and about how long it will take."""
    from sottovoce.foundation import progress

    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))  # other threads need the real one
    with progress.Progress(100, "sweeping", lines=True) as bar:
        for done in range(0, 101, 10):
            bar.at(done)
            now[0] += 3.0
    assert capsys.readouterr().err.splitlines() == [
        "sweeping: 40 of 100 after 12 s, about 18 s left",
        "sweeping: 80 of 100 after 24 s, about 6 s left",
    ]


def test_failed_runs_make_the_command_fail(tmp_path, capsys):
    """Exit code 1 and the reasons, most frequent first; as JSON too."""
    import json

    from sottovoce.cli.main import main

    (tmp_path / "s.toml").write_text(
        "num_steps = 9\n[axes]\ngraph = ['cycle:2', 'path:3']\nmethod = ['standard']\nseed = [1, 2]\n"
    )
    with pytest.raises(SystemExit) as stop:
        main(["sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "o")])
    assert stop.value.code == 1
    said = capsys.readouterr()
    assert "4 runs done, 0 were there already, 2 failed." in said.out
    assert "  2 × InvalidParameter: n must be a whole number ≥ 3, got 2" in said.err
    with pytest.raises(SystemExit) as stop:
        main(["sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "o"), "--json"])
    assert stop.value.code == 1
    assert list(json.loads(capsys.readouterr().out)["reasons"].values()) == [2]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_hundred_thousand_runs(tmp_path):
    """On the workers of this machine: few files, under 100 MB, all runs in one table, and nothing left to do after."""
    axes = {"graph": ["cycle:10"], "noise_std": [1.0], "noise_decay": [0.5, 0.9], "seed": list(range(50_000))}
    spec = SweepSpec(axes=axes, num_steps=1000, record=50)
    result = sweep(spec, store=tmp_path, progress=False)
    assert (result.finished, result.failures) == (100_000, 0)
    files = list(tmp_path.iterdir())
    assert len(files) < 500
    assert sum(file.stat().st_size for file in files) < 100e6
    assert result.table().num_rows == 51 * 100_000
    assert sweep(spec, store=tmp_path, progress=False).skipped == 100_000
