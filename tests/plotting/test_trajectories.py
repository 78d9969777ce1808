"""Trajectories: a line per node with its recorded values, and the average that is meant."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import sottovoce as sv
from sottovoce.errors import InvalidParameter

GRAPH = sv.Graph.from_edges([("ada", "bob"), ("bob", "carol"), ("carol", "ada")])
STAGES = [sv.Stage(), sv.Stage(30, values={"ada": 7.0})]
RUN = sv.simulate(
    GRAPH, [1.0, 2.0, 3.0], sv.StandardGossip(), num_steps=60, seed=1, replicas=2, record_values=60, stages=STAGES
)


@pytest.fixture
def axes():
    return Figure().subplots()


def test_lines_are_the_recorded_values(axes):
    """One line per chosen node, by name; the average moves where a value did."""
    assert RUN.plot(axes, trajectories=True, nodes=["carol", 0], replica=1, lw=3) is axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines) == ["carol", "ada", "average"]
    np.testing.assert_array_equal(lines["carol"].get_ydata(), RUN.recorded_values[1, :, 2])
    np.testing.assert_array_equal(lines["ada"].get_xdata(), RUN.value_steps)
    assert lines["ada"].get_linewidth() == 3
    np.testing.assert_allclose(lines["average"].get_ydata(), np.where(RUN.value_steps <= 30, 2.0, 4.0))


@pytest.mark.parametrize("how", [{"replica": 2}, {"coordinate": 1}, {"nodes": ["dan"]}])
def test_what_is_not_there_is_refused(axes, how):
    """The sentence names the parameter or the node."""
    with pytest.raises(InvalidParameter, match="must be"):
        sv.plotting.plot_trajectories(RUN, axes, **how)


def test_a_run_without_values_is_refused(axes):
    """What to do is said."""
    run = sv.simulate(GRAPH, [1.0, 2.0, 3.0], sv.StandardGossip(), num_steps=6, seed=1)
    with pytest.raises(InvalidParameter, match="record_values must be given to simulate"):
        sv.plotting.plot_trajectories(run, axes)
