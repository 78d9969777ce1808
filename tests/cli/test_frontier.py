"""``sottovoce frontier``: the table, the files and the JSON say what :func:`sottovoce.privacy.frontier` found."""

from __future__ import annotations

import csv
import json

import pytest

import sottovoce as sv
from sottovoce.cli.main import main

GRID = ["--noise-std", "1", "--noise-decay", "0.8", "--runs", "1", "--max-steps", "2000"]
ASKED = ["frontier", "--graph", "cycle:5", "--accuracy", "0.1", *GRID]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*ASKED, *arguments])
    return ended.value.code, capsys.readouterr()


def test_json_and_csv_are_the_points(capsys, tmp_path):
    """The same numbers as from Python, with the efficient ones marked; the file says what was asked."""
    code, printed = run(capsys, "--json", "--csv", str(tmp_path / "a.csv"))
    points = json.loads(printed.out)["points"]
    how = {"noise_stds": [1.0], "noise_decays": [0.8], "accuracy": 0.1, "runs": 1, "seed": 1, "max_steps": 2000}
    wanted = sv.privacy.frontier(sv.graphs.cycle(5), **how)
    assert code == 0
    assert [row.pop("efficient") for row in points] == [point in wanted.efficient() for point in wanted.points]
    assert points == wanted.rows()
    head, *lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    said = [line for line in lines if line.startswith("#")]
    assert f"# graph: cycle(5), 5 nodes, 5 edges, digest {sv.graphs.cycle(5).fingerprint}" in said
    assert any(line.startswith("# command: sottovoce frontier --graph cycle:5") for line in said)
    lines = lines[len(said) :]
    assert head.startswith("# cycle(5), accuracy 0.1, prior_std 1, sottovoce ")
    assert [float(row["neighbour_std"]) for row in csv.DictReader(lines)] == [row["neighbour_std"] for row in points]


def test_the_table_fits_a_terminal_and_the_figure_is_written(capsys, tmp_path, monkeypatch):
    """No name of a method is cut at 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    code, printed = run(capsys, "--plot", str(tmp_path / "figure"))
    assert code == 0
    assert max(len(line) for line in printed.out.splitlines() if not line.startswith("wrote")) <= 80
    assert "noise-insertion" in printed.out
    assert "…" not in printed.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.png", "figure.svg"]


def test_bad_input_is_a_sentence(capsys):
    """Exit code 2, the parameter and what it got."""
    code, printed = run(capsys, "--prior-std", "-1")
    assert code == 2
    assert printed.err.startswith("error: prior_std must be")
    assert "got -1" in printed.err
