"""The dataset of a sweep: many runs in a file, checked when it is read."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from sottovoce import errors
from sottovoce.experiments import sweep as sweeping
from sottovoce.experiments.store import MANIFEST, SweepStore
from sottovoce.experiments.sweep import sweep
from tests.experiments.test_sweep import SPEC, Here


@pytest.fixture
def folder(tmp_path):
    sweep(SPEC, store=tmp_path, executor=Here())
    return tmp_path


def test_many_runs_share_a_file(folder):
    """Twelve runs that are done at once are one file, named after its content."""
    (file,) = folder.glob("*.parquet")
    assert len(SweepStore(folder).finished()) == 12
    assert len(file.stem) == len("part-") + 32


def test_the_table_does_not_depend_on_how_runs_were_put_into_files(folder, tmp_path_factory, monkeypatch):
    """One file for each run gives the same table as one file for all."""
    monkeypatch.setattr(sweeping, "ROWS_PER_FILE", 1)
    monkeypatch.setattr("sottovoce.experiments.workers.LARGEST_BATCH", 1)
    other = tmp_path_factory.mktemp("other")
    backwards = SPEC | {"axes": {name: axis[::-1] for name, axis in SPEC["axes"].items()}}
    sweep(backwards, store=other, executor=Here())
    assert len(list(other.glob("*.parquet"))) == 12
    assert SweepStore(other).table().equals(SweepStore(folder).table())


def test_a_damaged_file_is_refused_when_read_and_done_again(folder):
    """A single changed bit: reading names the file, the next sweep replaces it."""
    before = SweepStore(folder).table()
    (victim,) = folder.glob("*.parquet")
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    with pytest.raises(errors.InvalidFile, match=rf"{victim.name} is damaged"):
        SweepStore(folder).table()
    result = sweep(SPEC, store=folder, executor=Here())
    assert (result.finished, result.skipped) == (12, 0)
    assert result.table().equals(before)


def test_half_a_file_is_done_again(folder):
    """However it came there."""
    (victim,) = folder.glob("*.parquet")
    victim.write_bytes(victim.read_bytes()[:100])
    assert sweep(SPEC, store=folder, executor=Here()).finished == 12


def test_a_changed_manifest_is_refused(folder):
    """What all runs share is not a column, so it is protected too."""
    path = folder / MANIFEST
    path.write_text(path.read_text().replace('"num_steps": 60', '"num_steps": 61'))
    with pytest.raises(errors.InvalidFile, match="damaged"):
        SweepStore(folder)


def test_a_sweep_of_the_first_format_is_refused_with_a_sentence(folder):
    """It says what it is and who can still read it."""
    old = {"format": "sottovoce-sweep-1", "parameters": {}, "settings": {}}
    (folder / MANIFEST).write_text(json.dumps(old))
    with pytest.raises(errors.InvalidFile, match=r"of an earlier version .* pandas still opens its files"):
        SweepStore(folder)


def test_a_folder_holds_runs_of_one_version(folder, monkeypatch):
    """Another version is refused by the folder, and its runs have other digests. Reading is open to all."""
    from sottovoce.experiments.spec import SweepSpec

    before = {task.digest for task in SweepSpec(**SPEC).tasks()}
    monkeypatch.setattr("sottovoce.experiments.store.__version__", "9.9")
    monkeypatch.setattr("sottovoce.experiments.spec.__version__", "9.9")
    assert before.isdisjoint({task.digest for task in SweepSpec(**SPEC).tasks()})
    with pytest.raises(errors.InvalidFile, match=r"version 0.1.0, not 9.9; choose another folder"):
        sweep(SPEC, store=folder, executor=Here())
    assert SweepStore(folder).table().num_rows == pd.read_parquet(folder).shape[0]


def test_pages_carry_checksums_for_other_readers(folder):
    """Whoever reads the files with checking on notices most of the damage without us."""
    import pyarrow.parquet as pq

    (victim,) = folder.glob("*.parquet")
    content = victim.read_bytes()
    noticed = 0
    for place in np.random.default_rng(1).integers(4, len(content) // 2, size=20):
        changed = bytearray(content)
        changed[place] ^= 4
        victim.write_bytes(changed)
        try:
            pq.read_table(victim, page_checksum_verification=True)
        except OSError:
            noticed += 1
    assert noticed >= 10


@pytest.mark.parametrize("tool", ["pandas", "polars", "duckdb"])
def test_the_printed_hints_work_as_printed(tool, tmp_path, capsys):
    """What the command prints is run as it stands, for each tool that is installed here."""
    from sottovoce.cli.main import main

    pytest.importorskip(tool)
    (tmp_path / "s.toml").write_text("num_steps = 9\n[axes]\ngraph = ['path:3']\nmethod = ['standard']\n")
    with pytest.raises(SystemExit) as stop:
        main(["sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "it's out")])
    assert stop.value.code == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith(tool)]
    rows = eval(line, {tool: __import__(tool)})
    assert len(rows) == 10
