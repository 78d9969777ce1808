"""``sv.plotting``: axes in, axes out, and the user's words come before ours."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import sottovoce as sv
from sottovoce.errors import InvalidParameter

GRAPH = sv.graphs.cycle(6)
VALUES = np.random.default_rng(1).random(6)
METHODS = [sv.StandardGossip(), *(sv.NoiseInsertion(noise_std=1.0, noise_decay=each) for each in (0.3, 0.6, 0.9))]
RUNS = [sv.simulate(GRAPH, VALUES, method, num_steps=60, seed=1, replicas=3) for method in METHODS]


@pytest.fixture
def axes():
    return Figure().subplots()


def test_every_public_function_is_there():
    """What the package lists can be reached and says what it returns."""
    for name in sv.plotting.__all__:
        assert "Returns" in getattr(sv.plotting, name).__doc__


def test_runs_on_shared_axes_differ_in_colour_and_have_labels(axes):
    """Seven runs have seven colours; beyond them, dashes differ; bands have the colour of their line."""
    for number in range(7):
        assert sv.plotting.plot_run(RUNS[number % len(RUNS)], axes, label=f"run {number}") is axes
    assert len({to_hex(line.get_color()) for line in axes.get_lines()}) == 7
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [f"run {k}" for k in range(7)]
    for line, band in zip(axes.get_lines(), axes.collections, strict=True):
        assert to_hex(band.get_facecolor()[0]) == to_hex(line.get_color())
    RUNS[0].plot(axes)
    looks = {(to_hex(line.get_color()), line.get_linestyle(), line.get_marker()) for line in axes.get_lines()}
    assert len(looks) == 8


def test_a_colour_that_is_there_is_left_out(axes):
    """A line of the user's in our first colour does not get a twin."""
    axes.plot([0, 1], [1, 1], color="#0072B2")
    sv.plotting.plot_run(RUNS[0], axes)
    assert to_hex(axes.get_lines()[1].get_color()) != "#0072b2"


@pytest.mark.parametrize(
    "keywords",
    [
        {"linewidth": 5, "color": "red", "linestyle": ":", "marker": "x", "markersize": 9, "markevery": 2},
        {"lw": 5, "c": "red", "ls": ":", "marker": "x", "ms": 9, "markevery": 2},
    ],
)
def test_every_spelling_of_a_keyword_is_respected(axes, keywords):
    """``lw`` is ``linewidth``, ``c`` is ``color``: what the user says comes before our own look."""
    (line,) = sv.plotting.plot_run(RUNS[1], axes, **keywords).get_lines()
    found = (line.get_linewidth(), to_hex(line.get_color()), line.get_linestyle(), line.get_marker())
    assert found == (5, "#ff0000", ":", "x")
    assert (line.get_markersize(), line.get_markevery()) == (9, 2)
    assert to_hex(axes.collections[0].get_facecolor()[0]) == "#ff0000"


def test_a_misspelled_keyword_is_not_swallowed(axes):
    """Matplotlib says that it does not know it."""
    with pytest.raises(AttributeError, match="linewidht"):
        sv.plotting.plot_run(RUNS[0], axes, linewidht=2)


def test_words_on_the_users_axes_stay(axes):
    """A title and labels that are there are kept; empty ones are filled in."""
    axes.set(title="mine", xlabel="time")
    sv.plotting.plot_run(RUNS[0], axes)
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("mine", "time", "relative error")


def test_two_graphs_on_shared_axes_are_both_named(axes):
    """Our own title grows instead of naming only the first graph, once each; the user's later title stays."""
    other = sv.simulate(sv.graphs.path(6), VALUES, METHODS[0], num_steps=20, seed=1)
    for run in (RUNS[0], other, RUNS[1]):
        sv.plotting.plot_run(run, axes)
    assert axes.get_title() == "cycle(6), path(6)"
    axes.set_title("mine")
    sv.plotting.plot_run(other, axes)
    assert axes.get_title() == "mine"


def test_messages_may_be_on_the_axis(axes):
    """A step of gossip is two messages; anything else is refused by name."""
    (line,) = sv.plotting.plot_run(RUNS[0], axes, against="messages").get_lines()
    np.testing.assert_array_equal(line.get_xdata(), 2 * RUNS[0].steps)
    assert axes.get_xlabel() == "messages"
    with pytest.raises(InvalidParameter, match="against must be 'steps' or 'messages', got 'time'"):
        sv.plotting.plot_run(RUNS[0], axes, against="time")


def test_new_axes_belong_to_one_figure_of_pyplot():
    """That is what a notebook shows at the end of a cell: the figure once; axes as the value draw nothing more."""
    plt.close("all")
    axes = RUNS[0].plot()
    assert [plt.figure(number) for number in plt.get_fignums()] == [axes.figure]
    RUNS[1].plot(axes)
    assert len(plt.get_fignums()) == 1


def test_a_comparison_on_axes_of_ones_own(axes):
    """A chosen subset, standard gossip in black, by label or by name; an unknown one is refused with the list."""
    found = sv.compare(GRAPH, VALUES, METHODS, num_steps=60, seed=1, replicas=2)
    label = found.rows[2].method
    assert sv.plotting.plot_comparison(found, axes, methods=["standard", label], lw=4) is axes
    assert [line.get_label() for line in axes.get_lines()] == ["standard gossip", label]
    assert to_hex(axes.get_lines()[0].get_color()) == "#000000"
    assert {line.get_linewidth() for line in axes.get_lines()} == {4}
    with pytest.raises(InvalidParameter, match=r"methods must be among standard, noise-insertion, .* got 'magic'"):
        sv.plotting.plot_comparison(found, axes, methods=["magic"])


def test_a_whole_figure_is_shown_once_in_a_notebook():
    """It is a picture when it is the value of a cell, and pyplot does not show it a second time."""
    plt.close("all")
    found = sv.compare(GRAPH, VALUES, METHODS[:2], num_steps=20, seed=1, replicas=2)
    assert found.plot()._repr_png_().startswith(b"\x89PNG")
    assert plt.get_fignums() == []


def test_pairs_of_axes_are_taken_as_pairs(axes):
    """Figures of two panels draw on two given axes; one is refused."""
    who = sv.privacy.exposure(GRAPH, METHODS[1], RUNS[1].fired_edges())
    pair = Figure().subplots(1, 2)
    assert sv.plotting.plot_matrix(who, pair) == tuple(pair)
    with pytest.raises(InvalidParameter, match="axes must be 2 of Matplotlib's Axes, got 1"):
        sv.plotting.plot_matrix(who, axes)


def test_ratios_need_their_reference(axes):
    """The bound that the others are divided by has to be among the curves."""
    steps = np.arange(4)
    curves = {"exact": np.array([4.0, 2, 1, 0.5]), "corrected": np.array([4.0, 3, 2, 1])}
    assert sv.plotting.plot_bounds(steps, curves, axes) is axes
    with pytest.raises(InvalidParameter, match="reference must be one of 'exact', 'corrected'"):
        sv.plotting.plot_ratios(steps, curves, axes, reference="printed")


@pytest.mark.parametrize(
    ("name", "written", "start"),
    [
        ("a.pdf", ["a.pdf"], b"%PDF"),
        ("a.PDF", ["a.PDF"], b"%PDF"),
        ("a.svg", ["a.svg"], b"<?xml"),
        ("a.png", ["a.png"], b"\x89PNG"),
        ("a-0.9", ["a-0.9.png", "a-0.9.svg"], b""),
    ],
)
def test_a_file_is_written_as_its_name_asks(axes, tmp_path, name, written, start):
    """The ending decides the format; without a known one both are written; the same figure is the same bytes."""
    sv.plotting.plot_run(RUNS[0], axes)
    assert [path.name for path in sv.plotting.save_figure(axes, tmp_path / name)] == written
    assert sorted(path.name for path in tmp_path.iterdir()) == written
    first = (tmp_path / written[0]).read_bytes()
    assert first.startswith(start)
    sv.plotting.save_figure(axes.figure, tmp_path / name)
    assert (tmp_path / written[0]).read_bytes() == first


def test_an_ending_that_is_no_format_is_refused(axes, tmp_path):
    """A name that asks for a format gets it or a sentence, not two files of other names."""
    with pytest.raises(InvalidParameter, match=r"no ending, or that of a format .*\.pdf.*\.svg.*, got '\.xyz'"):
        sv.plotting.save_figure(axes, tmp_path / "a.xyz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_file_can_say_where_it_comes_from(axes, tmp_path, kind):
    """A sentence is kept inside the file, where viewers and scripts find it."""
    (path,) = sv.plotting.save_figure(axes, tmp_path / f"a.{kind}", about="seed 264, cycle")
    assert b"seed 264, cycle" in path.read_bytes()


def table(decays, **columns):
    """The table of a sweep with one run for each decay."""
    rows = [
        {"run": str(k), "replica": replica, "step": step, "noise_decay": decay, "status": "completed"}
        | {"relative_error": 0.5 ** (step * decay), "transmissions": 2 * step, "graph": "cycle:6", "seed": 1}
        for k, decay in enumerate(decays)
        for replica in (0, 1)
        for step in (0, 10, 20)
    ]
    return pandas.DataFrame(rows).assign(**columns)


def test_curves_of_a_sweep_say_what_they_pool(axes):
    """The title names every setting that differs inside a band, and how many values it has."""
    frame = pandas.concat([table([0.1, 0.2]), table([0.1, 0.2]).assign(run=["x"] * 6 + ["y"] * 6, seed=2)])
    sv.plotting.plot_curves(frame, "noise_decay", axes, lw=3)
    assert axes.get_title() == "median and 10–90 % band over seed (2), replica (2)"
    assert [line.get_label() for line in axes.get_lines()] == ["noise_decay = 0.1", "noise_decay = 0.2"]
    assert {line.get_linewidth() for line in axes.get_lines()} == {3}


def test_many_curves_get_a_scale_of_colours_or_are_refused():
    """Twenty numbers have a colour bar instead of a legend; twenty words cannot be told apart."""
    frame = table(np.linspace(0.1, 0.9, 20))
    axes = sv.plotting.plot_curves(frame, "noise_decay")
    assert axes.get_legend() is None
    assert [each.get_ylabel() for each in axes.figure.axes if each is not axes] == ["noise_decay"]
    with pytest.raises(InvalidParameter, match=r"at most 8 curves .* got 20"):
        sv.plotting.plot_curves(frame.assign(kind="kind " + frame.run), "kind")


def test_a_map_shows_medians_where_runs_meet(axes):
    """Rows and columns are in order, cells without a run are grey and said to be."""
    frame = pandas.DataFrame({"x": [1.0, 2.0, 1.0, 1.0], "y": [1.0, 2.0, 2.0, 2.0], "step": [10, 20, 30, 50]})
    sv.plotting.plot_map(frame, "x", "y", axes, values="step")
    cells = np.ma.filled(axes.collections[0].get_array().astype(float), np.nan).reshape(2, 2)
    np.testing.assert_array_equal(cells, [[10, np.nan], [40, 20]])
    assert [each.get_ylabel() for each in axes.figure.axes if each is not axes] == ["step\n(grey: none)"]
