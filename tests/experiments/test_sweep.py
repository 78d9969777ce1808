"""Sweeps: every run once, rows that are the library's numbers, and bad files refused before anything is written."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.experiments.runs import run_task
from sottovoce.experiments.spec import Audit, SweepSpec, Task, read_spec
from sottovoce.experiments.store import MANIFEST, SweepStore
from sottovoce.experiments.sweep import sweep
from sottovoce.scenario.values import uniform

from .sweeping import SPEC, Here


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


def test_the_observer_may_be_named(tmp_path):
    """On each graph for itself: a run on one without such a node fails, and says which graph it was."""
    (tmp_path / "friends.csv").write_text("ada,bob\nbob,carol\ncarol,dora\n")
    (tmp_path / "others.csv").write_text("eve,fred\nfred,gina\n")
    graphs = [str(tmp_path / name) for name in ("friends.csv", "others.csv")]
    spec = {"axes": {"graph": graphs[:1], "noise_std": [1.0], "noise_decay": [0.9]}, "num_steps": 40}
    hidden = [
        sweep(spec | {"audit": {"observer": who}}, store=tmp_path / str(who), executor=Here()).table()["posterior_std"][
            0
        ]
        for who in ("bob", 1)
    ]
    assert hidden[0].as_py() == hidden[1].as_py() < 1.0
    both = spec | {"axes": spec["axes"] | {"graph": graphs}, "audit": {"observer": "bob"}}
    result = sweep(both, store=tmp_path / "both", executor=Here())
    assert result.failures == 1
    assert next(error for error in result.table()["error"].to_pylist() if error).endswith(
        f"audit.observer on {graphs[1]} must be one of eve, fred, gina, got 'bob'"
    )


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
    ("[axes]\nseed = [1]\n[audit]\nobserver = ''", "audit.observer must be a whole number"),
    ("[axes]\nseed = [1]\n[audit]\nobserver = -1", "audit.observer must be a whole number"),
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
