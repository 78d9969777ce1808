"""Ensembles over problems: what is drawn, and what the spread is in cases that can be worked out by hand."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.cli.main import main
from sottovoce.experiments.problems import address

STANDARD = sv.StandardGossip()


@pytest.fixture(scope="module")
def found():
    return sv.ensemble("rgg:20", "uniform", STANDARD, num_steps=200, seed=3, graphs=30, values=2, schedules=3)


def test_every_problem_can_be_made_again(found):
    """The errors at one place are those of ``simulate`` on the graph, values and schedules of its address."""
    graph = sv.graphs.random_geometric(20, seed=address(3, "graph", 7))
    values = np.random.default_rng([address(3, "values", 7, 1), 20]).random(20)
    run = sv.simulate(
        graph, values, STANDARD, num_steps=200, seed=address(3, "schedule", 7, 1), replicas=3, record=50
    )  # fmt: skip
    np.testing.assert_array_equal(found.relative_error[7, 1], run.relative_error)
    again = found.run(7, 1)
    assert (again.graph, again.seed) == (graph, run.seed)
    np.testing.assert_array_equal(again.values, run.values)


def test_a_larger_ensemble_begins_with_the_smaller_one(found):
    """Draws have addresses: more graphs, values and schedules leave those that were there as they are."""
    more = sv.ensemble("rgg:20", "uniform", STANDARD, num_steps=200, seed=3, graphs=31, values=3, schedules=4)
    np.testing.assert_array_equal(more.relative_error[:30, :2, :3], found.relative_error)


def test_methods_see_the_same_problems(found):
    """With noise of size zero another method gives the same errors: graphs, values and schedules are the seed's."""
    quiet = sv.ensemble(
        "rgg:20", "uniform", lambda graph: sv.NoiseInsertion(0.0, 0.5), num_steps=200, seed=3, graphs=30, schedules=3
    )
    np.testing.assert_allclose(quiet.relative_error, found.relative_error, rtol=1e-9, atol=1e-30)


def test_draws_differ(found):
    """No two graphs, no two sets of values, no two schedules are the same."""
    ends = found.errors_at().reshape(-1)
    assert len(np.unique(ends)) == len(ends)
    graphs = {found.problems.problem(k, 0)[0].fingerprint for k in range(30)}
    assert len(graphs) == 30


def test_the_spread_of_graphs_alone_is_known():
    """K₄ or C₄ at a toss, values fixed, rounds without chance: all variance is that of a coin with two known sides."""
    values, kinds = [0.0, 1.0, 3.0, 4.0], (sv.graphs.complete(4), sv.graphs.cycle(4))
    methods = [sv.SynchronousAveraging(weights=(np.eye(4) * 2 + _adjacent(g)) / (2 + g.degrees[0])) for g in kinds]
    found = sv.ensemble(
        lambda seed: kinds[seed % 2], values, lambda graph: methods[kinds.index(graph)], num_steps=3, seed=1, graphs=100
    )
    sides = [
        sv.simulate(graph, values, method, num_steps=3, seed=1).relative_error[-1]
        for graph, method in zip(kinds, methods, strict=True)
    ]
    gap = np.log10(sides[0] / sides[1])
    heads = np.mean(found.errors_at()[:, 0, 0] == sides[0])
    spread = found.spread()
    assert abs(gap) > 0.1
    assert abs(heads - 0.5) < 0.2
    assert [part.source for part in spread.parts] == ["graph", "schedule"]
    assert spread["graph"].variance == pytest.approx(heads * (1 - heads) * gap**2 * 100 / 99)
    assert spread["schedule"].variance == pytest.approx(0.0, abs=1e-20)


def _adjacent(graph):
    matrix = np.zeros((4, 4))
    for i, j in graph.edges:
        matrix[i, j] = matrix[j, i] = 1.0
    return matrix


def test_the_spread_of_schedules_alone_is_known():
    """A path of three, values 0, 1, 4, one step: which edge fires decides, and the variance is that of a fair coin."""
    found = sv.ensemble("path:3", [0.0, 1.0, 4.0], STANDARD, num_steps=1, seed=2, schedules=4000)
    # Around the mean 5/3 the squares sum to 26/3; averaging (0, 1) takes 1/2 away, averaging (1, 4) takes 9/2.
    outcomes = np.log10([(26 / 3 - 0.5) / (26 / 3), (26 / 3 - 4.5) / (26 / 3)])
    known = ((outcomes[1] - outcomes[0]) / 2) ** 2
    (part,) = found.spread().parts
    assert part.source == "schedule"
    assert part.variance == pytest.approx(known, rel=0.02)
    assert abs(part.variance - known) < 5 * part.variance_error + 1e-4


def test_ranks_and_quantiles(found):
    """The median has rank one half; an error below all has rank 0, one above all 1; steps must be recorded."""
    assert found.rank(found.quantile(0.5)) == pytest.approx(0.5, abs=0.01)
    assert (found.rank(0.0), found.rank(2.0)) == (0.0, 1.0)
    assert found.quantile(0.5, step=100) > found.quantile(0.5)
    with pytest.raises(errors.InvalidParameter, match="step must be one of the 51 recorded, got 7"):
        found.rank(0.5, step=7)


def test_frames_files_and_figures_carry_the_numbers(found, tmp_path):
    """A row per run and record; the file says seed, draws and versions above them; two bands and a median."""
    frame = found.to_dataframe()
    assert len(frame) == 30 * 2 * 3 * 51
    last = frame[(frame.graph == 7) & (frame["values"] == 1) & (frame.schedule == 2)].relative_error.iloc[-1]
    assert last == found.relative_error[7, 1, 2, -1]
    assert frame.attrs["seed"] == 3
    bare = found.to_csv(tmp_path / "e.csv")
    text = (tmp_path / "e.csv").read_text(encoding="utf-8")
    assert text.endswith(bare)
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert "# seed: 3" in head
    assert "# graphs: rgg:20" in head
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert float(rows[-1]["relative_error"]) == found.relative_error[-1, -1, -1, -1]
    axes = found.plot()
    assert len(axes.collections) == 2
    np.testing.assert_allclose(
        axes.lines[0].get_ydata(), np.median(found.relative_error.reshape(-1, 51), axis=0), rtol=1e-12
    )
    assert found.plot(axes) is axes


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"graph": 7}, "graph must be a Graph, words such as 'rgg:100', or a function"),
        ({"private_values": 3.0}, "private_values must be one number per node, words such as 'uniform'"),
        ({"method": 3}, "method must be a method"),
        ({"graph": "cycle:5", "graphs": 3}, "graphs must be 1 where they do not vary, got 3"),
        ({"schedules": 0}, "schedules must be a whole number"),
        ({"num_steps": 0}, "num_steps must be"),
    ],
)
def test_bad_input_is_named(change, says):
    """What is wrong is said with what is allowed."""
    asked = {"graph": "rgg:8", "private_values": "uniform", "method": STANDARD, "num_steps": 5, "graphs": 2} | change
    with pytest.raises(errors.InvalidInput, match=says):
        sv.ensemble(**asked)


def test_what_cannot_be_split_is_said():
    """One draw of something that varies, or runs that diverge."""
    single = sv.ensemble("rgg:8", "uniform", STANDARD, num_steps=5, seed=1, graphs=3, values=1)
    with pytest.raises(errors.InvalidParameter, match="values must be drawn twice or more"):
        single.spread()


@pytest.fixture
def sottovoce(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
        return stop.value.code, *capsys.readouterr()

    return run


ASKED = ["ensemble", "--graph", "rgg:12", "--steps", 60, "--graphs", 6]


def test_the_command_says_what_the_call_finds(sottovoce, tmp_path):
    """``--json`` has the numbers of ``sv.ensemble``; file and figure say which command made them."""
    found = sv.ensemble("rgg:12", "uniform", STANDARD, num_steps=60, seed=1, graphs=6)
    arguments = [*ASKED, "--csv", tmp_path / "e.csv", "--plot", tmp_path / "e"]
    code, out, _ = sottovoce(*arguments, "--json")
    told = json.loads(out)
    assert code == 0
    assert told["rows"][0]["median"] == found.quantile(0.5)
    assert [part["share"] for part in told["rows"][0]["parts"]] == [part.share for part in found.spread().parts]
    typed = "sottovoce ensemble --graph rgg:12 --steps 60 --graphs 6"
    assert told["command"].startswith(typed)
    for name in ("e.csv", "e.svg", "e.png"):
        assert typed.encode() in (tmp_path / name).read_bytes(), name


def test_the_table_has_a_row_per_method(sottovoce, monkeypatch):
    """Two methods on the same problems, at 80 columns without a cut name."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = sottovoce(*ASKED, "-m", "standard", "-m", "push-sum")
    assert code == 0
    assert "standard gossip" in out
    assert "push-sum" in out
    assert max(map(len, out.splitlines())) <= 80


def test_private_numbers_stay_out_of_files(sottovoce, tmp_path):
    """Numbers typed after ``--values`` are in no file: the command says … in their place."""
    numbers = "0.123456,7,8.25"
    for words in (["--values", numbers], [f"--values={numbers}"]):
        code, _, _ = sottovoce(
            "ensemble", "--graph", "path:3", *words, "--steps", 5, "--csv", tmp_path / "e.csv", "--plot", tmp_path / "e"
        )
        assert code == 0
        for path in tmp_path.iterdir():
            assert b"0.123456" not in path.read_bytes(), path
        assert "…" in (tmp_path / "e.csv").read_text(encoding="utf-8")
