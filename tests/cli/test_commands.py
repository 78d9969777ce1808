"""The command line: what it prints, what it writes, and how it refuses."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from click.shell_completion import ShellComplete

import sottovoce as sv
from sottovoce.cli.demo import next_commands, program
from sottovoce.cli.main import COMMANDS, cli, main
from sottovoce.cli.output import print_table
from sottovoce.methods.registry import our_methods
from sottovoce.scenario.graphs import FAMILIES


@pytest.fixture
def sottovoce(capsys):
    """Run a command; return exit code, standard output, standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
        return stop.value.code, *capsys.readouterr()

    return run


def test_help_lists_every_command(sottovoce):
    """``--help`` names each command with its line."""
    code, out, _ = sottovoce("--help")
    assert code == 0
    for name, (_, line) in COMMANDS.items():
        assert name in out
        assert line.split()[0] in out


def test_simulate_json_is_the_library_call(sottovoce):
    """The numbers of ``simulate --json`` are those of ``sv.simulate`` with the same seed."""
    from sottovoce.scenario.values import uniform

    code, out, _ = sottovoce("simulate", "--graph", "cycle:6", "--steps", 400, "--seed", 3, "--json")
    assert code == 0
    answer = json.loads(out)
    run = sv.simulate(sv.graphs.cycle(6), uniform(6, 3), sv.NoiseInsertion(1.0, 0.9), num_steps=400, seed=3)
    assert answer["relative_error"] == run.relative_error.tolist()
    assert answer["status"] == "completed"
    assert answer["largest_mass_error"] < 1e-12


def test_a_figure_is_written_as_asked(sottovoce, tmp_path):
    """``--plot a.pdf`` leaves a PDF and nothing else."""
    code, out, _ = sottovoce("simulate", "--steps", 50, "--plot", tmp_path / "a.pdf")
    assert code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.pdf"]
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert "a.pdf" in out


@pytest.mark.parametrize("columns", [30, 60, 80])
def test_no_word_of_a_table_is_cut(columns, capsys, monkeypatch):
    """However narrow the terminal: labels may take two lines, nothing ends in an ellipsis."""
    monkeypatch.setenv("COLUMNS", str(columns))
    rows = [["budgeted noise insertion, φ = 0.98", "slow at 96 of 100", "1.1e-02"], ["baseline", "no noise", "2.1e-17"]]
    print_table("A title", ["curve", "φ is", "relative error"], rows)
    out = capsys.readouterr().out
    assert "…" not in out
    for word in " ".join(map(" ".join, rows)).split():
        assert word in out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_greek_letters_gets_words(encoding, tmp_path):
    """Tables stay straight, every sign is spelled out, and JSON keeps names exactly."""
    options = ["--graph", "cycle:6", "--steps", "60"]
    known = os.environ | {"PYTHONIOENCODING": encoding, "COLUMNS": "80"}

    def said(*arguments):
        command = [sys.executable, "-m", "sottovoce", *arguments, *options]
        return subprocess.run(command, env=known, cwd=tmp_path, capture_output=True, check=True).stdout.decode(encoding)

    text = said("bound")
    for word in ("sigma = 1", "phi up to", "1/2||x - c"):
        assert word.replace("1/2", "½" if encoding == "latin-1" else "1/2") in text
    assert len({len(line) for line in text.splitlines() if line.startswith(("|", "+"))}) == 1
    assert "||x - c||" in said("bound", "--help")  # not through a table
    assert "σ" in json.loads(said("simulate", "--json"))["method"]


def test_experiments_are_listed_for_machines(sottovoce):
    """``reproduce --list --json`` has a title and a source for each, and runs nothing."""
    code, out, _ = sottovoce("reproduce", "--list", "--json")
    assert code == 0
    assert json.loads(out)["figure-1"]["source"].startswith("Figure 1 of")


def test_simulate_shows_no_digits_of_rounding(sottovoce):
    """They differ between machines; what is really missing is shown, and JSON has every digit."""
    _, kept, _ = sottovoce("simulate", "--steps", 400)
    assert "below 1e-12" in kept
    _, lost, _ = sottovoce("simulate", "--method", "push-sum", "--loss", 0.5, "--steps", 40)
    assert "below 1e-12" not in lost


def test_simulate_writes_figure_and_run(sottovoce, tmp_path):
    """``--plot`` and ``--save`` leave a PNG, an SVG and a run that loads."""
    code, out, _ = sottovoce(
        "simulate", "--steps", 50, "--replicas", 3, "--plot", tmp_path / "a", "--save", tmp_path / "b"
    )
    assert code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert sv.Solution.load(tmp_path / "b.npz").replicas == 3
    assert "completed" in out


def test_a_point_in_a_name_is_no_ending(sottovoce, tmp_path):
    """``run-0.9`` and ``run-0.95`` are two files, whatever stands behind the point."""
    for name in ("run-0.9", "run-0.95"):
        assert sottovoce("simulate", "--steps", 5, "--save", tmp_path / name, "--plot", tmp_path / name)[0] == 0
    assert {p.name for p in tmp_path.iterdir()} == {
        f"run-0.{k}.{e}" for k in ("9", "95") for e in ("npz", "png", "svg")
    }


def test_early_stop_reports_every_replica(sottovoce):
    """The final error of a replica is the one at which it stopped, not a blank."""
    arguments = ["--graph", "cycle:6", "--stop-at", "1e-3", "--replicas", 5, "--steps", 5000, "--json"]
    answer = json.loads(sottovoce("simulate", *arguments)[1])
    assert len(answer["final_relative_error"]) == 5
    assert all(0 < error <= 1e-3 for error in answer["final_relative_error"])


def test_values_come_from_files(sottovoce, tmp_path):
    """Text and NumPy files give the same run."""
    values = np.arange(10.0)
    np.save(tmp_path / "v.npy", values)
    (tmp_path / "v.txt").write_text("# a comment\n" + "\n".join(map(str, values)))
    answers = [
        json.loads(sottovoce("simulate", "--values", tmp_path / n, "--steps", 9, "--json")[1])
        for n in ("v.npy", "v.txt")
    ]
    assert answers[0]["relative_error"] == answers[1]["relative_error"]


BAD = [
    (["simulate", "--graph", "cycle:2"], "n must be a whole number ≥ 3, got 2"),
    (["simulate", "--graph", "no-such:4"], "graph must be a file or one of"),
    (["simulate", "--graph", "cycle:x"], "not a number"),
    (["simulate", "--method", "magic"], "method must be one of"),
    (["simulate", "--method", "noise-insertion:noise_std=1"], "noise_decay"),
    (
        ["simulate", "--method", "noise-insertion:noise_std=1,noise_decay=1"],
        "noise_decay must be finite and in [0, 1), got 1",
    ),
    (["simulate", "--steps", "0"], "--steps"),
    (["simulate", "--values", "/does/not/exist"], "does not exist"),
    (["simulate", "--steps", "5", "--save", "/proc/nowhere/run"], "/proc/nowhere"),
    (["reproduce", "figure-9"], "NAME must be one of"),
    (["reproduce"], "NAME must be one of"),
    (["nonsense"], "nonsense"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input_is_one_clear_sentence_and_exit_code_2(sottovoce, arguments, message):
    """No traceback, no output, code 2, and the sentence names what was wrong."""
    code, out, err = sottovoce(*arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_bad_values_file_is_refused_without_being_quoted(sottovoce, tmp_path):
    """The line is named; what stands in it is not shown."""
    (tmp_path / "v.txt").write_text("1.25\nsecret-7.75\n")
    code, _, err = sottovoce("simulate", "--values", tmp_path / "v.txt")
    assert code == 2
    assert "line 2" in err
    assert "7.75" not in err


def test_a_file_that_is_no_graph_is_refused(sottovoce, tmp_path):
    """The line is named."""
    (tmp_path / "g.txt").write_text("0 1\n1 two\n")
    code, _, err = sottovoce("simulate", "--graph", tmp_path / "g.txt")
    assert code == 2
    assert "line 2: expected two whole numbers" in err


def completions(*words):
    """What a shell offers after these words."""
    *before, begun = words
    return [item.value for item in ShellComplete(cli, {}, "sottovoce", "_X").get_completions(list(before), begun)]


def test_shells_complete_graphs_methods_and_their_parameters():
    """Names first; after a colon the parameters that are not there yet; a graph may also be a file."""
    assert completions("simulate", "--graph", "cy") == ["cycle:", "cy"]
    assert completions("compare", "-m", "st") == ["standard", "state-decomposition:"]
    assert completions("audit", "--method", "noise-insertion:") == [
        "noise-insertion:noise_std=",
        "noise-insertion:noise_decay=",
    ]
    assert completions("audit", "--method", "noise-insertion:noise_std=1,") == [
        "noise-insertion:noise_std=1,noise_decay="
    ]
    assert completions("re") == ["reproduce"]


@pytest.mark.parametrize("name", ["simulate", "compare", "audit", "bound", "ensemble"])
def test_help_lists_families_and_methods(sottovoce, name):
    """Whoever asks for help reads every name that --graph and --method take."""
    code, out, _ = sottovoce(name, "--help")
    assert code == 0
    words = re.split(r"[\s,.]+", re.sub(r"-\s+", "-", out))  # lines are broken at hyphens
    assert set(FAMILIES) <= set(words)
    assert {cls.name for cls in our_methods().values()} <= set(words)


def test_the_demo_ends_with_commands_that_work(sottovoce, tmp_path):
    """Each of the three, as it is printed, ends well, and the file that one announces is there."""
    for line, _ in next_commands("sottovoce", tmp_path):
        code, _, err = sottovoce(*shlex.split(line)[1:])
        assert code == 0, err
    assert (tmp_path / "grid.pdf").exists()


def test_the_demo_names_itself_as_it_was_called(tmp_path, monkeypatch):
    """By its path where it is not on PATH, as after ``make demo``."""
    command = tmp_path / "bin" / "sottovoce"
    command.parent.mkdir()
    command.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(command)])
    monkeypatch.setenv("PATH", "/nowhere")
    assert program() == "bin/sottovoce"
    monkeypatch.setenv("PATH", str(command.parent))
    assert program() == "sottovoce"


def test_demo_makes_the_figure_and_says_what_it_shows(sottovoce, tmp_path, monkeypatch):
    """Figure, data and a table: each φ, whether it is free, and by how much the mean is off; at most 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = sottovoce("demo", "--out", tmp_path, "--fresh", 5)
    assert code == 0
    prose = out.partition("Three things")[0].replace(str(tmp_path), "out")
    assert [line for line in prose.splitlines() if len(line) > 80] == []
    assert {p.name for p in tmp_path.iterdir()} == {
        "figure-1.png", "figure-1.svg", "figure-1-cycle.csv", "figure-1-geometric.csv", "figure-1-cycle-fresh.csv",
        "figure-1-geometric-fresh.csv",
    }  # fmt: skip
    for word in (
        "φ = 0.98",
        "free",
        "too slow",
        "threshold φ = 0.951",
        "recovered the true mean",
        "5 fresh problems",
        "to try next",
    ):
        assert word in out
    for path in tmp_path.iterdir():
        assert b"sottovoce demo --out" in path.read_bytes(), path
    lines = (tmp_path / "figure-1-cycle.csv").read_text(encoding="utf-8").splitlines()
    assert "# graph: cycle(10), 10 nodes, 10 edges, digest " + sv.graphs.cycle(10).fingerprint in lines
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert {row["curve"] for row in rows} == {
        "baseline",
        *(f"φ = {p}" for p in ("0.001", "0.01", "0.1", "0.5", "0.9", "0.98")),
    }
    assert float(rows[0]["relative_error"]) == pytest.approx(1.0)
