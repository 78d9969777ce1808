"""``sottovoce simulate`` on networks that change, and the average that it prints."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.cli.main import main
from sottovoce.scenario.values import uniform


@pytest.fixture
def sottovoce(capsys):
    """Run ``simulate`` on a ring of six; return exit code, standard output, standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(["simulate", "--graph", "cycle:6", "--method", "standard", "--steps", "300", *map(str, arguments)])
        return stop.value.code, *capsys.readouterr()

    return run


def call(**how):
    return sv.simulate(sv.graphs.cycle(6), uniform(6, 1), sv.StandardGossip(), num_steps=300, seed=1, **how)


def test_loss_is_that_of_the_library(sottovoce):
    """``--loss`` is one stage from the beginning."""
    answer = json.loads(sottovoce("--loss", 0.2, "--json")[1])
    run = call(stages=sv.Stage(loss=0.2))
    assert answer["relative_error"] == run.relative_error.tolist()
    assert answer["largest_mass_error"] == run.mass_error.max() > 1e-3
    assert "network that does not change" in answer["notes"][0]


def test_stages_come_from_a_file(sottovoce, tmp_path):
    """``--stages`` reads what the library takes; the average is that of the nodes that are there."""
    path = tmp_path / "changes.toml"
    path.write_text('[[stage]]\nloss = 0.2\n[[stage]]\nstart = 100\ngone = [2]\nvalues = { "0" = 3.0 }\n')
    answer = json.loads(sottovoce("--stages", path, "--json")[1])
    run = call(stages=[sv.Stage(loss=0.2), sv.Stage(100, gone=[2], values={0: 3.0})])
    assert answer["relative_error"] == run.relative_error.tolist()
    assert answer["true_mean"] == run.true_mean
    assert answer["average"] == pytest.approx(np.delete(run.values, 2).mean())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--loss", "1"], "loss must be finite and in [0, 1)"),
        (["--loss", "0.1", "--stages", "x.toml"], "--loss must not be given together with --stages"),
        (["--stages", "none.toml"], "none.toml is not a file of stages"),
    ],
)
def test_bad_input_is_one_sentence(sottovoce, arguments, words):
    """Exit code 2, and what is wrong."""
    code, _, error = sottovoce(*arguments)
    assert code == 2
    assert words in error
    assert error.count("\n") == 1


def test_the_average_is_printed(sottovoce):
    """The table says what was found and what is true; several replicas are averaged, vectors shortened."""
    run = call()
    _, out, _ = sottovoce()
    assert f"{run.values.mean():.8g}" in out
    assert f"{run.true_mean:.8g}" in out
    assert "(mean over replicas)" in sottovoce("--replicas", 3)[1]
