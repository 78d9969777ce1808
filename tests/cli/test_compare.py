from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from sottovoce.cli.main import cli, main

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
