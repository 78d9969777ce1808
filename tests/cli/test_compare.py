from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from sottovoce import errors
from sottovoce.cli.main import cli, main
from sottovoce.methods import METHODS

pytestmark = pytest.mark.usefixtures("compiled")

ARGUMENTS = ["compare", "--graph", "cycle:6", "--steps", "60", "--replicas", "2", "-m", "standard"]


def test_two_tables_and_files(tmp_path):
    """Names, notes outside the guarantee, and every file that was asked for."""
    files = {kind: str(tmp_path / f"t.{kind}") for kind in ("csv", "latex", "markdown", "curves")}
    options = [word for kind, path in files.items() for word in (f"--{kind}", path)]
    arguments = [*ARGUMENTS, "-m", "heavy-ball:momentum=0.5", "--plot", str(tmp_path / "figure"), *options]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "standard gossip" in result.output
    assert "momentum 0.5 is outside" in result.output
    assert {path.name for path in tmp_path.iterdir()} == {
        "figure.png", "figure.svg", "t.csv", "t.latex", "t.markdown", "t.curves",
    }  # fmt: skip


def test_every_file_names_the_command(tmp_path):
    """CSV, LaTeX, Markdown, curves and both figures say which command made them."""
    files = {kind: tmp_path / f"t.{kind}" for kind in ("csv", "latex", "markdown", "curves")}
    options = [word for kind, path in files.items() for word in (f"--{kind}", str(path))]
    asked = ["-m", "noise-insertion:noise_std=1,noise_decay=0.5", "--prior-left", "0.5", "--schedules", "1"]
    result = CliRunner().invoke(cli, [*ARGUMENTS, *asked, "--plot", str(tmp_path / "f"), *options])
    assert result.exit_code == 0, result.output
    assert "noise ×" in result.output
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {*(path.name for path in files.values()), "f.png", "f.svg", "f-frontier.png", "f-frontier.svg"}
    for path in tmp_path.iterdir():
        assert b"sottovoce compare --graph cycle:6 --steps 60" in path.read_bytes(), path


def test_the_default_is_a_few_methods_and_all_is_all(monkeypatch):
    """Without a method a handful is compared; --all takes every method; both together with -m are refused."""
    chosen = {}

    def remember(graph, values, methods, **_):
        chosen["names"] = [method.name for method in methods]
        raise errors.InvalidParameter("enough")

    monkeypatch.setattr("sottovoce.experiments.compare.compare", remember)
    ours = [method for method in METHODS.values() if method.__module__.startswith("sottovoce.")]  # not those of tests
    for words, count in ((["compare"], 6), (["compare", "--all"], len(ours))):
        with pytest.raises(errors.InvalidParameter, match="enough"):
            CliRunner().invoke(cli, words, catch_exceptions=False)
        assert len(set(chosen["names"]) & {method.name for method in ours}) == count
    with pytest.raises(errors.InvalidParameter, match="exclude each other"):
        CliRunner().invoke(cli, ["compare", "--all", "-m", "standard"], catch_exceptions=False)


def test_no_label_is_cut_at_80_columns(monkeypatch):
    """All tables of a comparison at equal privacy and accuracy fit."""
    monkeypatch.setenv("COLUMNS", "80")
    asked = ["-m", "noise-insertion:noise_std=1,noise_decay=0.5", "--prior-left", "0.5", "--accuracy", "0.1"]
    result = CliRunner().invoke(cli, [*ARGUMENTS, *asked, "--schedules", "2"], catch_exceptions=False)
    assert "…" not in result.output
    assert "standard gossip" in result.output


def test_json_has_unrounded_rows():
    """One object with a row per method."""
    result = CliRunner().invoke(cli, [*ARGUMENTS, "-m", "push-sum", "--json"], catch_exceptions=False)
    payload = json.loads(result.stdout[result.stdout.index("{") :])
    assert [row["method"] for row in payload["rows"]] == ["standard gossip", "push-sum"]
    assert payload["rows"][0]["factor_guaranteed"] == pytest.approx(1 - 1.0 / 12)


@pytest.mark.parametrize("bad", [["-m", "nonsense"], ["-m", "block:block_size=7"], ["--observer", "6"]])
def test_bad_input_exits_with_2(bad, capsys):
    """One clear sentence on standard error."""
    with pytest.raises(SystemExit) as stopped:
        main([*ARGUMENTS, *bad])
    assert stopped.value.code == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
