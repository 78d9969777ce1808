from __future__ import annotations

import csv

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.experiments.compare import customary_methods, leading_methods
from sottovoce.methods.registry import our_methods

GRAPH = sv.graphs.cycle(10)
VALUES = np.random.default_rng(3).random(10)


# The first of these compiles the kernels of all methods, which takes minutes where they are not in the cache.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def found():
    return sv.compare(GRAPH, VALUES, customary_methods(GRAPH), num_steps=600, seed=2, replicas=10, schedules=2)


def test_leading_methods_are_a_few_of_them():
    """The first answer has six methods: the baseline, the paper's, and one of each other way."""
    leading = leading_methods(GRAPH)
    assert [method.name for method in leading] == [
        "standard", "noise-insertion", "sealed", "accelerated", "mo-murray", "nozari",
    ]  # fmt: skip
    assert all(method in customary_methods(GRAPH) for method in leading)


def test_messages_that_differ_are_told():
    """Whole steps cost different numbers of messages, which shows where they are few; steps differ on purpose."""
    methods = [sv.StandardGossip(), sv.SynchronousAveraging(), sv.PushSum(), sv.BlockGossip(block_size=3)]
    given = {"seed": 1, "replicas": 1, "schedules": 1}
    few = sv.compare(GRAPH, VALUES, methods, num_steps=7, **given)
    assert [row.messages for row in few.rows] == [14, 20, 10, 12]
    assert any(note.startswith("methods send 10 to 20 messages: each makes whole steps") for note in few.notes)
    for other in ({"num_steps": 300}, {"num_steps": 7, "budget": "steps"}):
        told = sv.compare(GRAPH, VALUES, methods, **given, **other).notes
        assert not any("methods send" in note for note in told)


def test_customary_methods_are_all_methods():
    """One command compares everything there is, in the order of registration."""
    names = [method.name for method in customary_methods(GRAPH)]
    assert list(dict.fromkeys(names)) == [cls.name for cls in our_methods().values()]


def test_all_methods_get_the_same_messages(found):
    """Steps differ, messages do not, except for what a whole step costs."""
    for row, run in zip(found.rows, found.runs, strict=True):
        assert 0 <= 1200 - row.messages < run.method.messages_per_step(GRAPH)
        assert row.messages == run.transmissions[-1]


def test_all_methods_may_get_the_same_steps():
    """``budget="steps"`` gives rounds as many steps as exchanges."""
    both = sv.compare(
        GRAPH,
        VALUES,
        [sv.StandardGossip(), sv.SynchronousAveraging()],
        num_steps=50,
        seed=2,
        replicas=2,
        budget="steps",
    )
    assert [(row.steps, row.messages) for row in both.rows] == [(50, 100), (50, 1000)]


def test_rows_are_what_the_runs_say(found):
    """Final error, accuracy and status in the table are those of the runs."""
    for row, run in zip(found.rows, found.runs, strict=True):
        assert row.relative_error == pytest.approx(np.median(run.relative_error[:, -1]))
        assert row.accuracy == pytest.approx(np.sqrt(np.mean((run.values - VALUES.mean()) ** 2)), rel=1e-9)
        assert row.status == str(run.status)


def test_factors_respect_the_guarantees(found):
    """Where a factor is guaranteed, the exact or fitted one is not worse (beyond the noise of a fit)."""
    checked = [row for row in found.rows if row.factor_guaranteed is not None and row.factor is not None]
    assert len(checked) >= 8
    for row, run in zip(found.rows, found.runs, strict=True):
        if row not in checked:
            continue
        slack = 1.0 if row.factor_source == "exact" else 0.9
        assert np.log(row.factor) <= slack * np.log(row.factor_guaranteed) + 1e-12, row.method
        each = run.method.messages_per_step(GRAPH)
        assert row.messages_per_decade == pytest.approx(-each / np.log10(row.factor))


def test_limits_are_where_runs_end():
    """Nozari, Huang and own noise stay at the predicted level; the gap oracle below its bound; 300 replicas."""
    methods = [
        sv.Nozari(noise_scale=0.5, noise_decay=0.5),
        sv.Huang(noise_scale=0.5, noise_decay=0.7),
        sv.PairwiseCancelling(pair_noise_std=0.1, own_noise_std=0.5),
        sv.GapOracle(gap=0.05),
    ]
    found = sv.compare(GRAPH, VALUES, methods, num_steps=3000, seed=4, replicas=300)
    for row, run in zip(found.rows, found.runs, strict=True):
        mean = run.relative_error[:, -1].mean()
        if isinstance(run.method, sv.GapOracle):
            assert run.relative_error[:, -1].max() <= row.limit_predicted
        else:
            assert mean == pytest.approx(row.limit_predicted, rel=0.4)


def test_a_curious_neighbour_learns_what_the_audit_says(found):
    """Plain methods disclose; noise insertion leaves most of the prior; Laplace methods have an ε; oracles say so."""
    rows = {run.method.name: row for row, run in zip(found.rows, found.runs, strict=True)}
    assert rows["standard"].worst_left < 1e-6
    assert rows["synchronous"].prior_left < 1e-6
    assert rows["synchronous"].known_share == 1.0
    for name in ("noise-insertion", "mo-murray", "manitara-hadjicostis", "pairwise-cancelling"):
        assert 0.3 < rows[name].worst_left <= rows[name].prior_left < 1.0, name
    low, high = rows["noise-insertion"].prior_left_low, rows["noise-insertion"].prior_left_high
    assert low <= rows["noise-insertion"].prior_left <= high
    prior = VALUES.std()
    assert rows["nozari"].epsilon == pytest.approx(prior)
    assert rows["huang"].epsilon == pytest.approx(prior * 0.8 / 0.3)
    assert rows["gap-oracle"].neighbour == "comparisons only"


def test_methods_are_compared_at_equal_privacy():
    """All that can be set keep the same share for the median pair; the rest stay as given, and a note says why."""
    methods = [sv.StandardGossip(), sv.NoiseInsertion(1.0, 0.8), sv.SealedGossip(1.0), sv.Muffliato(1.0)]
    found = sv.compare(
        GRAPH, VALUES, methods, num_steps=300, seed=2, replicas=4, schedules=2, prior_left=[0.5, 0.9], accuracy=0.01
    )
    assert [row.noise_factor is None for row in found.rows] == [True] + [False] * 6
    for row, target in zip(found.rows[1:], (0.5, 0.9) * 3, strict=True):
        assert row.prior_left == pytest.approx(target, abs=0.01)
    assert "noise as given, no noise to set: standard gossip" in found.notes
    assert found.rows[1].messages_needed <= found.rows[2].messages_needed
    assert found.rows[6].messages_needed is None  # noise that stays does not become accurate
    assert found.provenance.settings["prior_left"] == [0.5, 0.9]
    lines = found.plot_frontier().containers
    assert [line.get_label() for line in lines] == [method.label() for method in methods[:3]]
    assert lines[1].lines[0].get_xdata().tolist() == [row.messages_needed for row in found.rows[1:3]]


def test_a_single_point_is_called_by_the_noise_it_has():
    """The legend of privacy against cost names the noise that was found, as the table does."""
    methods = [sv.StandardGossip(), sv.NoiseInsertion(1.0, 0.8)]
    found = sv.compare(GRAPH, VALUES, methods, num_steps=300, seed=2, replicas=4, schedules=2, prior_left=0.5)
    assert found.rows[1].method != methods[1].label()
    assert [line.get_label() for line in found.plot_frontier().containers] == [row.method for row in found.rows]


def test_large_graphs_are_compared_without_audit():
    """Beyond 200 nodes the table says that exposure was not computed."""
    graph = sv.graphs.cycle(201)
    found = sv.compare(graph, np.arange(201.0), [sv.StandardGossip()], num_steps=100, seed=1, replicas=1)
    assert found.rows[0].prior_left is None
    assert found.rows[0].neighbour == "no observers beyond 200 nodes"


def test_it_prints_itself(found):
    """The table has a line per method, and its caption names graph, replicas, seed and who listens."""
    text = str(found)
    assert text.count("\n") == len(found.rows) + 3 + len(found.notes)
    assert "accelerated gossip †" in text
    caption = (
        "cycle(10): 10 nodes, 10 edges; medians of 10 replicas, seed 2; "
        "every node alone listens for 40 messages each way on an edge, in 2 schedules"
    )
    assert text.endswith("\n".join([caption, *found.notes]))


def test_it_says_who_needs_what(found):
    """Methods with the same need share a line and a mark; those that need nothing have neither."""
    lines = dict(note.removeprefix("† needs ").split(": ", 1) for note in found.notes if "needs" in note)
    assert lines["the number of steps made in the network"] == "binary oracle, λ = 1/sqrt(t); heavy ball, β = 0.4"
    assert "push-sum; synchronous averaging, Metropolis; Mo–Murray" in lines["a common clock for the rounds"]
    assert not any("standard" in line or "noise insertion" in line for line in lines.values())
    assert [row.needs for row in found.rows[:2]] == ["", ""]


def test_exports_are_written_and_returned(found, tmp_path):
    """CSV keeps every digit, Markdown has a row per method, and what is returned is what is written."""
    text = found.to_csv(tmp_path / "deep" / "t.csv")
    rows = list(csv.DictReader(text.splitlines()))
    assert float(rows[0]["relative_error"]) == found.rows[0].relative_error
    assert (tmp_path / "deep" / "t.csv").read_text(encoding="utf-8").endswith("\n" + text)
    assert found.to_markdown().count("\n|") == len(found.rows) + 1
    assert len(found.curves_csv().splitlines()) == 1 + sum(10 * len(run.steps) for run in found.runs)
    frame = found.to_dataframe()
    assert frame.relative_error.tolist() == [row.relative_error for row in found.rows]


def test_every_file_says_where_it_comes_from(found, tmp_path):
    """Version, seed, graph with digest and who listened: in CSV, curves, Markdown, LaTeX and data frames."""
    for write in (found.to_csv, found.curves_csv, found.to_markdown, found.to_latex):
        bare = write(tmp_path / "file")
        text = (tmp_path / "file").read_text(encoding="utf-8")
        assert bare in text
        assert GRAPH.fingerprint not in bare
        assert sv.__version__ in text
        assert "seed: 2" in text
        assert GRAPH.fingerprint in text
        assert "every node alone listens" in text
    attributes = found.to_dataframe().attrs
    assert (attributes["seed"], attributes["sottovoce"]) == (2, sv.__version__)
    assert not any(f"{value:.10g}" in found.to_csv() for value in VALUES)


def test_a_chosen_subset_on_axes_of_ones_own(found):
    """Names, labels and methods choose; the axes are returned; what is not there is refused."""
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    chosen = ["standard", "push-sum", sv.AcceleratedGossip(), "synchronous averaging, Metropolis"]
    assert found.plot(methods=chosen, axes=axes) is axes
    names = ["standard gossip", "push-sum", "accelerated gossip", "synchronous averaging, Metropolis"]
    assert [line.get_label() for line in axes.lines] == names
    assert len(found.plot(methods=["standard"]).axes[0].lines) == 1
    with pytest.raises(errors.InvalidParameter, match=r"methods must be among standard, .*; got 'magic'"):
        found.plot(methods=["magic"])


def test_labels_tell_weights_apart():
    """Metropolis, max-degree and given weights are three labels, for every method that has weights."""
    for cls, given in (
        (sv.SynchronousAveraging, {}),
        (sv.MoMurray, {"noise_std": 1.0, "noise_decay": 0.5}),
        (sv.ManitaraHadjicostis, {"noise_std": 1.0, "num_rounds": 3}),
        (sv.Huang, {"noise_scale": 1.0, "noise_decay": 0.8}),
        (sv.PairwiseCancelling, {"pair_noise_std": 1.0}),
        (sv.IncrementalAveraging, {"noise_std": 1.0, "num_parts": 3}),
        (sv.StateDecomposition, {"noise_std": 1.0}),
        (sv.Muffliato, {"noise_std": 1.0}),
        (sv.ZipNoise, {"noise_std": 1.0, "noise_decay": 0.5}),
    ):
        weights = ("metropolis", "max-degree", np.full((3, 3), 1 / 3))
        assert len({cls(**given, weights=each).label() for each in weights}) == 3, cls.__name__


def test_plot_of_many_methods_is_spread_over_small_axes(found):
    """Every method is drawn once beside standard gossip, five on each pair of axes, no two of them alike."""
    drawn = [axes for axes in found.plot().axes if axes.get_lines()]
    labels = [line.get_label() for axes in drawn for line in axes.get_lines()]
    assert labels.count("standard gossip") == len(drawn)
    others = [label for label in labels if label != "standard gossip"]
    assert sorted(others) == sorted(row.method for row in found.rows if row.method != "standard gossip")
    for axes in drawn:
        assert axes.get_yscale() == "log"
        assert len({line.get_color() for line in axes.get_lines()}) == len(axes.get_lines()) <= 6


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"methods": []}, "at least one"),
        ({"budget": "money"}, "budget"),
        ({"observers": [10]}, "observers must be in 0..9, got 10"),
        ({"prior_left": 1.0}, "prior_left must be"),
        ({"prior_left": []}, "prior_left must be one share or several"),
        ({"prior_left_of": "mean"}, "prior_left_of must be 'median' or 'worst'"),
        ({"accuracy": 0.0}, "accuracy must be"),
        ({"schedules": 0}, "schedules must be"),
        ({"private_values": np.ones(10)}, "prior_std must be given here, a number > 0 such as 1.0"),
        ({"private_values": np.full(10, 0.1)}, "prior_std must be given here, a number > 0 such as 1.0"),
        ({"prior_std": 0.0}, "prior_std"),
        ({"prior_std": "wide"}, "prior_std"),
        ({"num_steps": 0}, "num_steps"),
    ],
)
def test_bad_input_is_named(change, says):
    """What is wrong is said with what is allowed."""
    arguments = {"graph": GRAPH, "private_values": VALUES, "methods": [sv.StandardGossip()], "num_steps": 10} | change
    with pytest.raises(errors.InvalidParameter, match=says):
        sv.compare(**arguments)


def test_equal_values_can_be_compared_with_a_prior():
    """What the message advises works: with a prior, values that are all equal are compared, Laplace noise and all."""
    methods = [sv.StandardGossip(), sv.Nozari(noise_scale=1.0, noise_decay=0.5), sv.GapOracle(gap=0.1)]
    found = sv.compare(GRAPH, np.ones(10), methods, num_steps=50, seed=1, replicas=2, prior_std=1.0)
    assert found.prior_std == 1.0
    assert found.rows[0].accuracy == 0.0
    assert found.rows[1].accuracy == pytest.approx(np.sqrt(np.mean((found.runs[1].values - 1.0) ** 2)))
    assert found.rows[1].limit_predicted == pytest.approx(10 * sv.theory.nozari_variance(1.0, 0.5, 1.0, 10))


def test_vector_data_are_compared():
    """Errors of all coordinates count together."""
    data = np.random.default_rng(1).random((10, 3))
    found = sv.compare(GRAPH, data, [sv.StandardGossip(), sv.PushSum()], num_steps=500, seed=1, replicas=3)
    run = found.runs[0]
    assert found.rows[0].accuracy == pytest.approx(np.sqrt(np.mean((run.values - data.mean(axis=0)) ** 2)))


def test_every_coordinate_keeps_noise_of_its_own():
    """The predicted limit of vector data is where an ensemble ends: d times what remains of one coordinate."""
    data = np.random.default_rng(1).random((10, 3))
    methods = [sv.PairwiseCancelling(pair_noise_std=0.1, own_noise_std=0.5)]
    found = sv.compare(GRAPH, data, methods, num_steps=3000, seed=4, replicas=300)
    assert found.runs[0].relative_error[:, -1].mean() == pytest.approx(found.rows[0].limit_predicted, rel=0.1)
