"""``sottovoce audit``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import sottovoce as sv
from sottovoce.cli.audit import command
from sottovoce.cli.main import main
from sottovoce.scenario.methods import parse_method

SHORT = ["--graph", "cycle:6", "--steps", "40", "--seed", "3"]


def test_table_sentence_and_assumptions() -> None:
    """People get a table, one plain sentence and, every time, what the observer is taken to know."""
    result = CliRunner().invoke(command, [*SHORT, "--observer", "0"], catch_exceptions=False)
    text = " ".join(result.output.split())
    assert result.exit_code == 0
    assert "can estimate the private value of node" in text
    assert "without the noise the same exchanges would have revealed" in text
    assert "The observer is taken to know and believe" in text
    assert "which edge fired at every step" in text
    assert "An exact average is never private against somebody who knows all other values" in text


def test_json_is_the_audit() -> None:
    """Machines get the numbers of ``sv.privacy.audit`` on the edges that ``simulate`` fires."""
    result = CliRunner().invoke(command, [*SHORT, "--observer", "0", "--sensitivity", "0.5", "--json"])
    payload = json.loads(result.output)
    graph = sv.graphs.cycle(6)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)
    edges = sv.simulate(graph, range(6), method, num_steps=40, seed=3).fired_edges()
    report = sv.privacy.audit(graph, method, edges, sv.privacy.CuriousNodes([0]))
    assert [row["posterior_std"] for row in payload["nodes"]] == report.posterior_std.tolist()
    assert payload["mu"][1:] == report.mu(0.5)[1:].tolist()
    assert payload["assumptions"] == list(report.assumptions)
    assert len(payload["history"]) == len(payload["steps"]) == 41


@pytest.mark.parametrize(
    ("arguments", "view"),
    [
        ([], "curious node 0"),
        (["--observer", "1", "--observer", "2"], "curious nodes 1, 2, pooled"),
        (["--tap", "0-1", "--tap", "2-3"], "wire-tap on 2 edges"),
        (["--everyone-but", "4"], "everyone but node 4, colluding"),
        (["--observer", "0", "--tap", "2-3"], "curious node 0 with wire-tap on 1 edge"),
    ],
)
def test_every_view_has_an_option(arguments: list[str], view: str) -> None:
    """Curious nodes, taps, the worst coalition and mixtures can be asked for."""
    result = CliRunner().invoke(command, [*SHORT, *arguments, "--json"])
    assert json.loads(result.output)["view"] == view


def test_flat_prior() -> None:
    """With --flat nothing is believed beforehand and unreached values are infinite, null in JSON."""
    result = CliRunner().invoke(command, ["--graph", "path:4", "--steps", "1", "--seed", "2", "--flat", "--json"])
    payload = json.loads(result.output)
    assert payload["prior_std"] is None
    assert payload["nodes"][3]["posterior_std"] is None
    assert any("flat prior" in line for line in payload["assumptions"])
    table = CliRunner().invoke(command, ["--graph", "path:4", "--steps", "9", "--flat", "--sensitivity", "1"])
    assert "δ = 1e-05" in table.output


@pytest.mark.parametrize(
    "spec",
    [
        "mo-murray:noise_std=1,noise_decay=0.9",
        "manitara-hadjicostis:noise_std=1,num_rounds=5",
        "pairwise-cancelling:pair_noise_std=1",
        "nozari:noise_scale=1,noise_decay=0.5",
        "synchronous",
    ],
)
def test_round_methods_are_audited_round_by_round(spec: str, tmp_path: Path) -> None:
    """A synchronous method gets the same table, sentence, assumptions and figures, in rounds."""
    asked = ["--graph", "cycle:6", "--steps", "12", "--method", spec]
    result = CliRunner().invoke(command, [*asked, "--figures", str(tmp_path)], catch_exceptions=False)
    text = " ".join(result.output.split())
    assert result.exit_code == 0
    assert "12 rounds" in text
    assert "without the noise the same rounds would have revealed it exactly" in text
    assert "messages are broadcast" in text
    assert "which edge fired" not in text
    assert len(list(tmp_path.iterdir())) == 4
    payload = json.loads(CliRunner().invoke(command, [*asked, "--json"]).output)
    method = parse_method(spec)
    report = sv.privacy.audit_rounds(sv.graphs.cycle(6), method, sv.privacy.CuriousNodes([0]), num_rounds=12)
    assert [row["posterior_std"] for row in payload["nodes"]] == report.posterior_std.tolist()
    assert len(payload["history"]) == len(payload["steps"]) == 13
    assert payload["unit"] == "round"


def test_two_figures(tmp_path: Path) -> None:
    """--figures writes exposure over time and the coloured network, as PNG and SVG."""
    CliRunner().invoke(command, [*SHORT, "--figures", str(tmp_path)], catch_exceptions=False)
    names = sorted(path.name for path in tmp_path.iterdir())
    stems = ["exposure-over-time", "what-the-observer-knows"]
    assert names == [f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--observer", "12"], "node must be in 0..9, got 12"),
        (["--tap", "3"], "two nodes such as 0-1"),
        (["--everyone-but", "1", "--observer", "0"], "--everyone-but already hears everything"),
        (["--prior-std", "-1"], "prior_std must be finite and in [1e-50, 1e+50]"),
        (["--method", "mo-murray:noise_std=1,noise_decay=0.9", "--tap", "0-1"], "audited for CuriousNodes and"),
        (["--method", "synchronous", "--sensitivity", "1"], "--sensitivity goes with pairwise exchanges"),
        (["--method", "push-sum"], "push-sum is not analysed: values in the clear"),
        (["--method", "gap-oracle:gap=0.1"], "gap-oracle is not analysed: comparisons only"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Bad input ends with exit code 2 and one sentence that names it."""
    with pytest.raises(SystemExit) as stop:
        main(["audit", *arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


def test_candidates_lead_the_report() -> None:
    """For a bit the first thing said is how often it is guessed right; a whole range may be given too."""
    result = CliRunner().invoke(command, [*SHORT, "--candidates", "0,1", "--prior-std", "0.5"], catch_exceptions=False)
    text = " ".join(result.output.split())
    assert "Curious node 0 names the right one of 2 candidates" in text
    assert "right guess" in text
    payload = json.loads(CliRunner().invoke(command, [*SHORT, "--candidates", "1..5", "--json"]).output)
    assert payload["candidates"] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert all(0.2 <= row["guess_probability"] <= 1.0 for row in payload["nodes"])
    with pytest.raises(sv.errors.InvalidParameter, match="--candidates must be numbers"):
        CliRunner().invoke(command, [*SHORT, "--candidates", "yes"], catch_exceptions=False)


def test_what_stays_and_what_it_costs_is_said() -> None:
    """Every audit of exchanges says what stays hidden for ever, and the price of hiding from all others."""
    text = " ".join(CliRunner().invoke(command, SHORT, catch_exceptions=False).output.split())
    assert "from this observer for ever" in text
    assert "at least h²/2" in text


def test_cannot_decide_is_an_answer() -> None:
    """Without time for more digits the command says so, and never *disclosed*."""
    run = ["--graph", "rgg:30:seed=3", "--method", "noise-insertion:noise_std=1,noise_decay=0.1", "--observer", "2"]
    text = CliRunner().invoke(command, [*run, "--steps", "1000", "--seed", "1", "--patience", "0"]).output
    assert "cannot decide" in text
    assert " yes" not in text
