"""Values of nodes against steps: how each of them finds its way to the average."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidParameter
from .style import BASELINE, COLOURS, axes_for, line_keywords, tidy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from ..simulation import Solution

__all__ = ["plot_trajectories"]


def plot_trajectories(
    run: Solution,
    axes: Axes | None = None,
    *,
    nodes: Iterable[int | str] | None = None,
    replica: int = 0,
    coordinate: int = 0,
    **keywords: Any,
) -> Axes:
    """The recorded values of one replica, a line per node, and the average that is meant, dashed.

    Parameters
    ----------
    run
        A run that was made with ``record_values``.
    axes
        Where to draw; ``None``: a new figure.
    nodes
        Which, by number or name; ``None``: all.
    replica, coordinate
        Which of them.
    **keywords
        How the lines look, as for :meth:`matplotlib.axes.Axes.plot`; they come before our own choice.

    Returns
    -------
    Axes
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt, numpy as np, sottovoce as sv
    >>> graph, method = sv.graphs.cycle(6), sv.StandardGossip()
    >>> run = sv.simulate(graph, np.arange(6.0), method, num_steps=60, seed=1, record_values=60)
    >>> axes = sv.plotting.plot_trajectories(run, plt.figure().subplots())
    >>> len(axes.get_lines())  # six nodes and their average
    7
    """
    kept = run.kept_values
    if kept is None:
        raise InvalidParameter("run has no recorded values: record_values must be given to simulate")
    for name, given, count in (("replica", replica, run.replicas), ("coordinate", coordinate, run.num_coordinates)):
        if not 0 <= given < count:
            raise InvalidParameter(f"{name} must be in [0, {count - 1}], got {given}")
    chosen = range(run.graph.num_nodes) if nodes is None else [run.graph.node(node) for node in nodes]
    (axes,) = axes_for(axes)
    look: dict[str, Any] = {"linewidth": 1.0, "alpha": 0.85 if len(chosen) <= 20 else 0.4} | line_keywords(keywords)
    for place, node in enumerate(chosen):
        colour: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)]} | look
        axes.plot(kept.steps, kept.numbers[:, replica, coordinate, node], label=run.graph.label(node), **colour)
    axes.plot(kept.steps, _meant(run, coordinate), label="average", **BASELINE)
    tidy(axes, title=run.graph.name, x="step", y="values")
    return axes


def _meant(run: Solution, coordinate: int) -> np.ndarray:
    """The average that is meant at each of the steps: where the network changes, it may move."""
    steps = run.value_steps.tolist()
    if not run.stages:
        return np.full(len(steps), np.atleast_1d(run.true_mean)[coordinate])
    return np.array([run.timetable.seen_at(step).mean[coordinate] for step in steps])
