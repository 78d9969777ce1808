"""Sweeps: the same dataset whoever computes it, and nothing finished is ever lost."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import sottovoce as sv
from sottovoce import errors
from sottovoce.experiments.runs import run_task
from sottovoce.experiments.spec import Audit, SweepSpec, Task, read_spec
from sottovoce.experiments.store import MANIFEST, StoreBusy, SweepStore
from sottovoce.experiments.sweep import SweepInterrupted, sweep
from sottovoce.scenario.values import uniform

SPEC = {
    "axes": {
        "graph": ["cycle:6", "path:5"],
        "method": ["standard", "noise-insertion"],
        "noise_std": [1.0],
        "noise_decay": [0.5, 0.9],
        "seed": [1, 2],
    },
    "num_steps": 60,
    "replicas": 2,
    "record": 6,
}


class Here(Executor):
    """Runs batches at once in this process; optionally breaks down after some."""

    def __init__(self, limit=None):
        self.limit, self.calls = limit, 0

    def submit(self, fn, /, *arguments):
        future = Future()
        if self.calls == self.limit:
            future.set_exception(ConnectionError("the cluster went away"))
        else:
            self.calls += 1
            future.set_result(fn(*arguments))
        return future


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return sweep(SPEC, store=tmp_path_factory.mktemp("expected"), executor=Here()).table()


def test_the_grid_has_every_run_once():
    """A method ignores parameters it does not have, so standard gossip is run once per graph and seed."""
    tasks = SweepSpec(**SPEC).tasks()
    assert len(tasks) == 2 * 2 * (1 + 2)
    assert len({task.digest for task in tasks}) == len(tasks)


def test_rows_are_the_librarys_numbers(expected):
    """A row of the dataset is what ``simulate`` gives for these settings."""
    frame = expected.to_pandas()
    rows = frame[(frame.graph == "cycle:6") & (frame.noise_decay == 0.9) & (frame.seed == 2) & (frame.replica == 1)]
    run = sv.simulate(
        sv.graphs.cycle(6),
        uniform(6, 2),
        sv.NoiseInsertion(1.0, 0.9),
        num_steps=60,
        seed=2,
        replicas=2,
        record=6,
    )
    assert rows.step.tolist() == run.steps.tolist()
    assert rows.relative_error.tolist() == run.relative_error[1].tolist()
    assert set(frame.version) == {sv.__version__}
    assert frame.noise_decay[frame.method == "standard"].isna().all()


def test_a_process_pool_gives_the_same_dataset(expected, tmp_path):
    """The default executor, worker processes on all cores, changes nothing but the order of work."""
    assert sweep(SPEC, store=tmp_path, progress=False).table().equals(expected)


@pytest.fixture(scope="module")
def cluster():
    """A real Dask cluster of two worker processes."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, worker_dashboard_address=None) as it:
        yield it


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
from test_sweep import SPEC
def slow(batch, real=workers.run_batch):
    time.sleep(0.2)
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
    deadline = time.monotonic() + 60
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


def test_a_failed_run_is_a_row(tmp_path):
    """An impossible combination does not end the sweep: its error is recorded, the others are done."""
    spec = {"axes": {"graph": ["cycle:2", "cycle:5"], "noise_std": [1.0], "noise_decay": [0.5]}, "num_steps": 10}
    result = sweep(spec, store=tmp_path, executor=Here())
    assert (result.finished, result.failures) == (2, 1)
    frame = result.table().to_pandas()
    (row,) = frame[frame.status == "failed"].to_dict("records")
    assert row["graph"] == "cycle:2"
    assert "n must be a whole number ≥ 3, got 2" in row["error"]
    assert result.reasons == {row["error"]: 1}


def test_failed_runs_are_tried_again(tmp_path):
    """A rerun does what is missing and what failed, and says how many still fail."""
    spec = {"axes": {"graph": ["cycle:2", "cycle:5"], "noise_std": [1.0], "noise_decay": [0.5]}, "num_steps": 10}
    sweep(spec, store=tmp_path, executor=Here())
    again = sweep(spec, store=tmp_path, executor=Here())
    assert (again.finished, again.skipped, again.failures) == (1, 1, 1)
    assert again.table().num_rows == 12
    other = spec | {"axes": spec["axes"] | {"graph": ["cycle:5", "cycle:6"]}}
    assert sweep(other, store=tmp_path, executor=Here()).table()["status"].to_pylist().count("failed") == 1


def test_a_random_graph_without_a_seed_takes_the_runs():
    """The specification that is kept names the graph completely, so a task gives the same rows every time."""
    task, other = SweepSpec(axes={"graph": ["rgg:20"], "method": ["standard"], "seed": [3, 4]}, num_steps=20).tasks()
    assert (task.graph, other.graph) == ("rgg:20:seed=3", "rgg:20:seed=4")
    one, two = run_task(task), run_task(task)
    assert one.shared == two.shared
    assert all(np.array_equal(one.columns[name], two.columns[name]) for name in one.columns)


def test_a_method_may_bring_its_parameters_along(tmp_path):
    """Written as on the command line it is the same run as with an axis for each, ``free`` included."""
    along = {"method": ["noise-insertion:noise_std=1,noise_decay=free", "standard"], "graph": ["star:5"]}
    axes = {"method": ["noise-insertion", "standard"], "noise_std": [1], "noise_decay": ["free"], "graph": ["star:5"]}
    one, two = (SweepSpec(axes=each, num_steps=20) for each in (along, axes))
    assert one.tasks() == two.tasks()
    assert one.parameters == two.parameters == {"noise_decay": "text", "noise_std": "number"}
    frame = sweep(one, store=tmp_path, executor=Here()).table().to_pandas()
    run = sv.simulate(
        sv.graphs.star(5), uniform(5, 1), sv.NoiseInsertion.largest_free(sv.graphs.star(5), 1.0), num_steps=20, seed=1,
        record=20,
    )  # fmt: skip
    assert frame[frame.noise_decay == "free"].relative_error.tolist() == run.relative_error.tolist()


def test_values_are_those_of_the_command_line(tmp_path):
    """A name or a file; a list of numbers would be written into the dataset and is refused."""
    (tmp_path / "v.txt").write_text("1\n2\n3\n")
    spec = {"axes": {"graph": ["path:3"], "method": ["standard"], "values": ["spike", str(tmp_path / "v.txt")]}}
    frame = sweep(spec | {"num_steps": 9}, store=tmp_path / "o", executor=Here()).table().to_pandas()
    by_values = frame.groupby("values").relative_error.apply(list)
    for name, values in (("spike", [3.0, 0, 0]), (str(tmp_path / "v.txt"), [1.0, 2, 3])):
        run = sv.simulate(sv.graphs.path(3), values, sv.StandardGossip(), num_steps=9, seed=1, record=9)
        assert by_values[name] == run.relative_error.tolist()
    for numbers in ("1,2,7.75", 7.75):
        with pytest.raises(errors.InvalidParameter, match="values of a sweep must be a name or a file") as refused:
            SweepSpec(axes={"values": [numbers], "method": ["standard"]}).tasks()
        assert "7.75" not in str(refused.value)


def test_a_changed_file_is_another_run(tmp_path):
    """The content of files with a graph or values belongs to what determines a run, and is checked by the worker."""
    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    (tmp_path / "v.txt").write_text("1\n2\n3\n")
    axes = {"graph": [str(tmp_path / "g.txt")], "values": [str(tmp_path / "v.txt")], "method": ["standard"]}
    (before,) = SweepSpec(axes=axes).tasks()
    (tmp_path / "v.txt").write_text("1\n2\n4.5\n")
    (after,) = SweepSpec(axes=axes).tasks()
    assert before.digest != after.digest
    assert run_task(after).error is None
    assert "differs from the file where the work was given out" in run_task(before).error
    (tmp_path / "g.txt").unlink()
    assert "g.txt is not here" in run_task(after).error


def test_an_audit_that_does_not_apply_leaves_a_null(tmp_path):
    """Methods without such an audit still give their runs; round methods have one of their own."""
    spec = {
        "axes": {
            "graph": ["cycle:5"],
            "method": ["binary-oracle", "mo-murray"],
            "step_size": [0.1],
            "noise_std": [1.0],
            "noise_decay": [0.5],
        },
        "num_steps": 30,
        "audit": {"observer": 0, "num_steps": 20},
    }
    result = sweep(spec, store=tmp_path, executor=Here())
    frame = result.table().to_pandas().groupby("method").posterior_std.first()
    assert result.failures == 0
    assert pd.isna(frame["binary-oracle"])
    assert 0 <= frame["mo-murray"] <= 1


def test_a_folder_holds_one_length_of_runs(tmp_path):
    """Runs that no column would tell apart do not share a folder."""
    sweep(SPEC, store=tmp_path, executor=Here())
    with pytest.raises(errors.InvalidFile, match="choose another folder"):
        sweep(SPEC | {"num_steps": 61}, store=tmp_path, executor=Here())


def test_a_sweep_grows_by_more_settings_of_the_same_axes(tmp_path):
    """More values of an axis add runs; other axes are refused before anything is written."""
    small = SPEC | {"axes": SPEC["axes"] | {"seed": [1]}}
    sweep(small, store=tmp_path, executor=Here())
    assert sweep(SPEC, store=tmp_path, executor=Here()).skipped == 6
    other = SPEC | {"axes": {"graph": ["cycle:5"], "method": ["standard"]}}
    with pytest.raises(errors.InvalidFile, match="choose another folder"):
        sweep(other, store=tmp_path, executor=Here())


def test_random_samples_are_reproducible(tmp_path):
    """A sample draws from lists and ranges, the same for the same seed."""
    axes = {
        "noise_std": {"low": 0.1, "high": 10, "log": True},
        "noise_decay": {"low": 0, "high": 0.99},
        "graph": ["cycle:5", "path:4"],
    }
    one, two = (SweepSpec(axes=axes, sample=20).tasks() for _ in range(2))
    assert one == two
    assert len(set(one)) == 20
    assert all(0.1 <= dict(t.parameters)["noise_std"] <= 10 for t in one)
    assert SweepSpec(axes=axes, sample=20, sample_seed=1).tasks() != one


def test_explicit_runs(tmp_path):
    """A list of settings runs as listed."""
    spec = SweepSpec(
        runs=[{"graph": "cycle:5", "method": "standard"}, {"graph": "path:3", "noise_std": 1.0, "noise_decay": 0.2}]
    )
    assert [(t.graph, t.method) for t in spec.tasks()] == [("cycle:5", "standard"), ("path:3", "noise-insertion")]


def test_pandas_opens_the_folder_directly(expected, tmp_path):
    """No code of ours is needed to read the dataset."""
    sweep(SPEC, store=tmp_path, executor=Here())
    frame = pd.read_parquet(tmp_path)
    assert len(frame) == expected.num_rows


def test_exposure_is_recorded_when_asked_for(tmp_path):
    """With an audit each run carries what the observer can infer; less decay of the noise hides more."""
    spec = {
        "axes": {"graph": ["cycle:5"], "noise_std": [1.0], "noise_decay": [0.0, 0.9]},
        "num_steps": 40,
        "audit": Audit(observer=0, num_steps=40),
    }
    frame = sweep(spec, store=tmp_path, executor=Here()).table().to_pandas()
    hidden = frame.groupby("noise_decay").posterior_std.first()
    assert hidden[0.9] > hidden[0.0]


BAD = [
    ("axes = 3", "axes"),
    ("nonsense = 1\n[axes]\nseed = [1]", "unknown key 'nonsense'"),
    ("[axes]\ncolour = [1]", "colour"),
    ("[axes]\nseed = []", "seed must be a list"),
    ("num_steps = 0\n[axes]\nseed = [1]", "num_steps"),
    ("[axes]\nnoise_std = {low = 1, high = 2}", "needs sample"),
    ("[axes]\nmethod = ['magic']", "method must be one of"),
    ("[axes]\nmethod = ['noise-insertion']", "missing a required argument: 'noise_std'"),
    ("[axes]\ngraph = ['ring:5']\nmethod = ['standard']", "graph must be a file or one of"),
    ("[axes]\nvalues = ['gauss']\nmethod = ['standard']", "gauss does not exist"),
    ("load = 'mine.py'\n[axes]\nseed = [1]", "load must be a list"),
    ("load = ['no/such.py']\n[axes]\nseed = [1]", "no/such.py does not exist"),
    ("", "needs axes or runs"),
    ("[axes]\nseed = ['a']", "seed must be a whole number"),
    ("sample = 'x'\n[axes]\nseed = [1]", "sample must be a whole number"),
    ("sample = -1\n[axes]\nseed = [1]", "sample must be a whole number"),
    ("sample = 3\n[axes]\nnoise_std = {low = 1}", "low < high"),
    ("sample = 3\n[axes]\nnoise_std = {low = 0, high = 1, log = true}", "low must be > 0"),
    ("[axes]\nseed = [1]\n[audit]\nprior_std = 'a'", "prior_std must be a number"),
    ("[axes]\nseed = [1]\n[audit]\nwho = 1", "audit has observer"),
    ("this is not toml", "not a TOML file"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_files_are_refused_before_anything_is_written(text, message, tmp_path, capsys):
    """One sentence, exit code 2, no folder."""
    from sottovoce.cli.main import main

    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(SystemExit) as stop:
        main(["sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "o")])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def test_a_folder_that_is_no_sweep_is_refused(tmp_path):
    """Plotting something else names what is missing."""
    with pytest.raises(errors.InvalidFile, match=MANIFEST):
        SweepStore(tmp_path)


def test_plots_come_straight_from_the_dataset(tmp_path, capsys):
    """Curves by a column, and a map of steps to an accuracy with the threshold drawn in."""
    from sottovoce.cli.main import main

    spec = {"axes": {"graph": ["cycle:6"], "noise_std": [0.1, 1.0], "noise_decay": [0.5, 0.9, 0.99]}, "num_steps": 400}
    sweep(spec, store=tmp_path / "o", executor=Here())
    for extra in (["--by", "noise_decay"], ["--heatmap", "--steps-to", "1e-3"]):
        with pytest.raises(SystemExit) as stop:
            main(["plot", str(tmp_path / "o"), "--out", str(tmp_path / "figure.png"), *extra])
        assert stop.value.code == 0
        assert (tmp_path / "figure.png").stat().st_size > 5000
        (tmp_path / "figure.png").unlink()
    with pytest.raises(SystemExit) as stop:
        main(["plot", str(tmp_path / "o"), "--by", "colour"])
    assert stop.value.code == 2
    assert "column must be one of" in capsys.readouterr().err


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Two graphs, two sizes of noise, three decays, two seeds, and standard gossip, which has no noise."""
    folder = tmp_path_factory.mktemp("grid") / "o"
    axes = {"graph": ["cycle:6", "path:5"], "noise_std": [0.1, 1.0], "noise_decay": [0.5, 0.9, 0.99], "seed": [1, 2]}
    spec = {"axes": axes | {"method": ["standard", "noise-insertion"]}, "num_steps": 60, "record": 5, "replicas": 3}
    sweep(spec, store=folder, executor=Here())
    return folder


def drawn(folder, monkeypatch, *arguments):
    """What ``sottovoce plot`` would write, and what it says."""
    from sottovoce.cli import plot

    kept = []
    monkeypatch.setattr(plot, "write_figure", lambda figure, path: kept.append(figure) or [path])
    said = CliRunner().invoke(plot.command, [str(folder), *arguments], catch_exceptions=False).output
    return kept[0], said


def test_a_plot_pools_nothing_but_seeds_and_replicas(grid, monkeypatch):
    """Other columns that vary get panels; standard gossip, which has none of them, is on all."""
    figure, said = drawn(grid, monkeypatch, "--by", "noise_decay")
    titles = [axes.get_title() for axes in figure.axes]
    assert said.startswith("6 panels; median and 10–90 % band over seed (2), replica (3)")
    assert len(titles) == len(set(titles)) == 6
    assert "graph = cycle:6, method = noise-insertion, noise_std = 0.1" in titles
    figure, said = drawn(grid, monkeypatch, "--by", "method", "--where", "graph=path:5")
    assert len(figure.axes) == 6
    assert all(len(axes.get_lines()) == 2 for axes in figure.axes)


def test_pooling_is_said_on_the_figure(grid, monkeypatch):
    """Whoever asks for it gets one band, and reads above it what it is made of."""
    options = ("--by", "noise_decay", "--where", "graph=cycle:6", "--where", "method=noise-insertion")
    figure, said = drawn(grid, monkeypatch, *options, "--pool", "noise_std")
    assert "over noise_std (2), seed (2), replica (3)" in said
    assert figure.get_suptitle() == said.splitlines()[0]
    assert len(figure.axes) == 1


def test_curves_that_cannot_be_told_apart_become_panels(grid, monkeypatch):
    """Of several columns the first make panels, until at most eight curves share axes."""
    options = ("--by", "graph", "--by", "noise_std", "--by", "noise_decay", "--where", "method=noise-insertion")
    figure, _ = drawn(grid, monkeypatch, *options)
    assert [axes.get_title() for axes in figure.axes] == ["graph = cycle:6", "graph = path:5"]
    assert all(len(axes.get_lines()) == 6 for axes in figure.axes)


def test_maps_of_several_graphs_stand_side_by_side(grid, monkeypatch):
    """One map for each, on one scale of colours, each with the threshold of its graph."""
    options = ("--heatmap", "--steps-to", "0.5", "--where", "method=noise-insertion")
    figure, said = drawn(grid, monkeypatch, *options)
    maps = [axes for axes in figure.axes if axes.get_title().startswith("graph")]
    assert [axes.get_title() for axes in maps] == ["graph = cycle:6", "graph = path:5"]
    assert len({axes.collections[0].get_clim() for axes in maps}) == 1
    assert all(axes.get_lines() for axes in maps)
    assert said.startswith("2 panels; steps to relative error 0.5: median over seed (2), replica (3)")


def test_choosing_what_is_not_there_is_refused(grid, capsys):
    """The sentence lists what there is."""
    from sottovoce.cli.main import main

    for option, words in (
        ("noise_decay=0.6", "noise_decay must be one of 0.5, 0.9, 0.99, got '0.6'"),
        ("colour=red", "column must be one of"),
        ("noise_decay", "must be COLUMN=VALUE"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["plot", str(grid), "--where", option])
        assert stop.value.code == 2
        assert words in capsys.readouterr().err


def test_tasks_are_plain_values():
    """Equal settings are one run, and the digest does not depend on the process."""
    task = Task("cycle:5", "standard", (), "uniform", 1, 10, 1, 5)
    assert task == Task("cycle:5", "standard", (), "uniform", 1, 10, 1, 5)
    with ProcessPoolExecutor(1, mp_context=__import__("multiprocessing").get_context("spawn")) as pool:
        assert pool.submit(getattr, task, "digest").result() == task.digest


def test_reading_a_missing_file_is_clear(tmp_path):
    """The path is named."""
    with pytest.raises(errors.InvalidFile, match="does not exist"):
        read_spec(tmp_path / "none.toml")
