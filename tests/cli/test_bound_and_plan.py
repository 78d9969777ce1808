"""``sottovoce bound`` and ``sottovoce plan`` as a person or a script uses them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import sottovoce as sv
from sottovoce.cli.main import cli, main


def json_of(*arguments: str) -> dict[str, object]:
    done = CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    result: dict[str, object] = json.loads(done.stdout)
    return result


def test_bound_gives_the_numbers_of_the_library(tmp_path: Path) -> None:
    """Every curve in the JSON is what the functions return, at the same steps."""
    file = tmp_path / "values.txt"
    file.write_text("0\n1\n5\n", encoding="utf-8")
    got = json_of(
        "bound", "--graph", "path:3", "--method", "noise-insertion:noise_std=1,noise_decay=0.7", "--steps", "30",
        "--values", str(file), "--replicas", "0",
    )  # fmt: skip
    graph, method, values = sv.graphs.path(3), sv.NoiseInsertion(1.0, 0.7), [0.0, 1.0, 5.0]
    assert got["steps"] == list(range(31))
    np.testing.assert_allclose(got["exact"], sv.theory.expected_error(graph, values, method, 30))
    for form in ("printed", "corrected", "sharpened", "resolvent"):
        np.testing.assert_allclose(got[form], sv.theory.error_bound(graph, values, method, 30, form=form))  # type: ignore[arg-type,call-overload]
    assert got["contraction_factor"] == pytest.approx(0.75)
    assert got["regime"] == "noise"
    assert "run" not in got


def test_bound_draws_all_seven_curves(tmp_path: Path) -> None:
    """The figure has run, mean, expectation and four bounds, ratios below, and the table is printed."""
    done = CliRunner().invoke(
        cli,
        ["bound", "--graph", "cycle:5", "--steps", "40", "--replicas", "8", "--plot", str(tmp_path / "b")],
        catch_exceptions=False,
    )
    assert done.exit_code == 0
    assert "corrected" in done.stdout
    assert (tmp_path / "b.png").stat().st_size > 5000
    picture = (tmp_path / "b.svg").read_text(encoding="utf-8")
    for label in (
        "one run",
        "mean of 8 runs",
        "exact expectation",
        "÷ exact expectation",
        "÷ corrected bound",
        "resolvent bound",
        "sharpened bound",
        "corrected bound",
        "printed bound",
    ):
        assert label in picture


def test_bound_of_standard_gossip() -> None:
    """Without noise the three forms are one."""
    got = json_of("bound", "--method", "standard", "--steps", "20", "--replicas", "1")
    assert got["printed"] == got["corrected"] == got["sharpened"]
    assert got["slowest_nodes"] == []
    assert "ensemble" not in got


def test_plan_gives_the_numbers_of_the_library() -> None:
    """The JSON is the plan; the printed form has its reasons."""
    arguments = ["plan", "--graph", "cycle:10", "--relative-error", "1e-6", "--noise-std", "1"]
    got = json_of(*arguments)
    found = sv.theory.plan(sv.graphs.cycle(10), relative_error=1e-6, noise_std=1.0)
    assert got["num_steps"] == found.num_steps
    assert got["reasons"] == list(found.reasons)
    assert [cost["slower"] for cost in got["costs"]] == [1, 2, 4, 10]  # type: ignore[attr-defined]
    shown = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert f"{found.num_steps:,}" in shown.stdout
    assert "exact expectation" in shown.stdout


def test_plan_says_no() -> None:
    """Wishes that contradict each other are an answer, not an error."""
    got = json_of("plan", "--graph", "cycle:10", "--relative-error", "1e-9", "--hidden-std", "1")
    assert got["feasible"] is False


def test_plan_knows_that_runs_are_rounded() -> None:
    """An error that doubles cannot have is not promised, and what they leave is said."""
    wish = ["plan", "--graph", "cycle:10", "--relative-error", "1e-300", "--noise-std", "1"]
    got = json_of(*wish)
    assert got["feasible"] is False
    assert 1e-32 < got["rounding_error"] < 1e-27  # type: ignore[operator]
    shown = CliRunner().invoke(cli, wish, catch_exceptions=False).stdout
    assert "rounding leaves up to" in shown
    assert "Rounding is in the way" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "--graph", "cycle:10", "--relative-error", "0.1"], "to find the noise"),
        (["plan", "--graph", "cycle:2x", "--noise-std", "1", "--steps", "5"], "graph"),
        (["bound", "--method", "noise-insertion:noise_std=1,noise_decay=2"], "noise_decay"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence on standard error and exit code 2."""
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
