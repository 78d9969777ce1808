"""The figure of networks that change shows what the runs have, on an axis that all methods share."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sottovoce.plotting import plot_changing
from sottovoce.plotting.style import new_figure

EXAMPLE = Path(__file__).parents[2] / "examples" / "failing_network.py"


@pytest.fixture(scope="module")
def runs():
    spec = importlib.util.spec_from_file_location("failing_network", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.runs(replicas=12, messages=24_000)


def test_ledgers_keep_the_mass_and_averaging_in_place_does_not(runs):
    """One message in ten lost, five nodes dead: flow updating has its mass together again, the others never."""
    mass = {label: float(np.median(run.mass_error[:, -1])) for label, run in runs}
    error = {label: float(np.median(run.final_relative_error)) for label, run in runs}
    assert mass["flow updating"] * 10 < min(m for label, m in mass.items() if label != "flow updating")
    assert error["flow updating"] < 1e-4 < min(e for label, e in error.items() if label != "flow updating")


def test_every_run_is_drawn_twice(runs):
    """Error above and mass below, against messages, with a line where nodes die."""
    above, below = plot_changing(runs, new_figure(rows=2)[1], marks=[(8_000.0, "five nodes die")])
    for axes, name in ((above, "relative_error"), (below, "mass_error")):
        lines = {line.get_label(): line for line in axes.get_lines() if len(line.get_xdata()) > 2}
        for label, run in runs:
            np.testing.assert_array_equal(lines[label].get_xdata(), run.transmissions)
            scale = 1.0 if name == "relative_error" else run.graph.num_nodes
            middle = np.nanquantile(getattr(run, name), 0.5, axis=0) / scale
            np.testing.assert_allclose(lines[label].get_ydata()[1:], middle[1:], rtol=1e-12)
    assert [text.get_text() for text in above.texts] == ["five nodes die"]
