"""Drawing a sweep: straight from the dataset, pooling nothing silently."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from sottovoce.experiments.sweep import sweep

from .sweeping import Here


def test_plots_come_straight_from_the_dataset(tmp_path, capsys):
    """Curves by a column, and a map of steps to an accuracy with the threshold drawn in."""
    from sottovoce.cli.main import main

    spec = {"axes": {"graph": ["cycle:6"], "noise_std": [0.1, 1.0], "noise_decay": [0.5, 0.9, 0.99]}, "num_steps": 400}
    sweep(spec, store=tmp_path / "o", executor=Here())
    for extra in (["--by", "noise_decay"], ["--heatmap", "--steps-to", "1e-3"]):
        with pytest.raises(SystemExit) as stop:
            main(["plot", str(tmp_path / "o"), "--out", str(tmp_path / "figure.png"), *extra])
        assert stop.value.code == 0
        assert (tmp_path / "figure.png").stat().st_size > 5000
        (tmp_path / "figure.png").unlink()
    with pytest.raises(SystemExit) as stop:
        main(["plot", str(tmp_path / "o"), "--by", "colour"])
    assert stop.value.code == 2
    assert "column must be one of" in capsys.readouterr().err


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Two graphs, two sizes of noise, three decays, two seeds, and standard gossip, which has no noise."""
    folder = tmp_path_factory.mktemp("grid") / "o"
    axes = {"graph": ["cycle:6", "path:5"], "noise_std": [0.1, 1.0], "noise_decay": [0.5, 0.9, 0.99], "seed": [1, 2]}
    spec = {"axes": axes | {"method": ["standard", "noise-insertion"]}, "num_steps": 60, "record": 5, "replicas": 3}
    sweep(spec, store=folder, executor=Here())
    return folder


def drawn(folder, monkeypatch, *arguments):
    """What ``sottovoce plot`` would write, and what it says."""
    from sottovoce.cli import plot

    kept = []
    monkeypatch.setattr(plot, "write_figure", lambda figure, path: kept.append(figure) or [path])
    said = CliRunner().invoke(plot.command, [str(folder), *arguments], catch_exceptions=False).output
    return kept[0], said


def test_a_plot_pools_nothing_but_seeds_and_replicas(grid, monkeypatch):
    """Other columns that vary get panels; standard gossip, which has none of them, is on all."""
    figure, said = drawn(grid, monkeypatch, "--by", "noise_decay")
    titles = [axes.get_title() for axes in figure.axes]
    assert said.startswith("6 panels; median and 10–90 % band over seed (2), replica (3)")
    assert len(titles) == len(set(titles)) == 6
    assert "graph = cycle:6, method = noise-insertion, noise_std = 0.1" in titles
    figure, said = drawn(grid, monkeypatch, "--by", "method", "--where", "graph=path:5")
    assert len(figure.axes) == 6
    assert all(len(axes.get_lines()) == 2 for axes in figure.axes)


def test_pooling_is_said_on_the_figure(grid, monkeypatch):
    """Whoever asks for it gets one band, and reads above it what it is made of."""
    options = ("--by", "noise_decay", "--where", "graph=cycle:6", "--where", "method=noise-insertion")
    figure, said = drawn(grid, monkeypatch, *options, "--pool", "noise_std")
    assert "over noise_std (2), seed (2), replica (3)" in said
    assert figure.get_suptitle() == said.splitlines()[0]
    assert len(figure.axes) == 1


def test_curves_that_cannot_be_told_apart_become_panels(grid, monkeypatch):
    """Of several columns the first make panels, until at most eight curves share axes."""
    options = ("--by", "graph", "--by", "noise_std", "--by", "noise_decay", "--where", "method=noise-insertion")
    figure, _ = drawn(grid, monkeypatch, *options)
    assert [axes.get_title() for axes in figure.axes] == ["graph = cycle:6", "graph = path:5"]
    assert all(len(axes.get_lines()) == 6 for axes in figure.axes)


def test_maps_of_several_graphs_stand_side_by_side(grid, monkeypatch):
    """One map for each, on one scale of colours, each with the threshold of its graph."""
    options = ("--heatmap", "--steps-to", "0.5", "--where", "method=noise-insertion")
    figure, said = drawn(grid, monkeypatch, *options)
    maps = [axes for axes in figure.axes if axes.get_title().startswith("graph")]
    assert [axes.get_title() for axes in maps] == ["graph = cycle:6", "graph = path:5"]
    assert len({axes.collections[0].get_clim() for axes in maps}) == 1
    assert all(axes.get_lines() for axes in maps)
    assert said.startswith("2 panels; steps to relative error 0.5: median over seed (2), replica (3)")


def test_choosing_what_is_not_there_is_refused(grid, capsys):
    """The sentence lists what there is."""
    from sottovoce.cli.main import main

    for option, words in (
        ("noise_decay=0.6", "noise_decay must be one of 0.5, 0.9, 0.99, got '0.6'"),
        ("colour=red", "column must be one of"),
        ("noise_decay", "must be COLUMN=VALUE"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["plot", str(grid), "--where", option])
        assert stop.value.code == 2
        assert words in capsys.readouterr().err
