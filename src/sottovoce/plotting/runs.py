"""Curves of relative error against steps: one run, many replicas, a published experiment's panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from .style import BASELINE, COLOURS, axes_for, legend_below, line_keywords, line_styles, next_style, tidy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from ..simulation import Solution

__all__ = ["AXES", "draw_curve", "draw_histogram", "draw_panel", "draw_rate", "plot_run"]

Array = npt.NDArray[np.float64]
AXES = {"steps": "step", "messages": "messages"}
"""What a curve may be drawn against → the words below the axis."""
FLOOR = 1e-33
"""Relative errors of exactly zero are drawn here: a logarithmic axis has no zero."""


def draw_curve(axes: Axes, steps: Array, error: Array, *, label: str, style: Mapping[str, Any]) -> None:
    """One line; with a replica axis in front, the median and a band from the 10 % to the 90 % quantile.

    ``style`` has Matplotlib's long names for what a line may look like; the band takes the colour of the line.
    """
    look = {"markevery": max(1, len(steps) // 9), "label": label} | dict(style)
    if error.ndim == 1:
        axes.semilogy(steps, np.maximum(error, FLOOR), **look)
        return
    low, middle, high = (np.maximum(each, FLOOR) for each in np.nanquantile(error, (0.1, 0.5, 0.9), axis=0))
    (line,) = axes.semilogy(steps, middle, **look)
    axes.fill_between(steps, low, high, color=line.get_color(), alpha=0.18, linewidth=0)


def draw_panel(
    axes: Axes, runs: Sequence[tuple[str, Solution]], *, title: str, baseline: str | None = None, lowest: float = 1e-17
) -> None:
    """Several runs on one logarithmic axis; the run labelled ``baseline`` is drawn in black."""
    styles = line_styles()
    for label, run in runs:
        style = BASELINE if label == baseline else next(styles)
        draw_curve(axes, run.steps.astype(np.float64), run.relative_error, label=label, style=style)
    tidy(axes, title=title, x="step", y="relative error  ‖x − x*‖² / ‖x⁰ − x*‖²")
    smallest = min(float(np.nanmin(run.relative_error)) for _, run in runs)
    axes.set_ylim(bottom=max(lowest, smallest / 3))
    axes.set_xlim(left=0)
    legend_below(axes)


def draw_rate(axes: Axes, factor: float, num_steps: int, *, label: str) -> None:
    """The straight line factor^step, dotted, under the curves it is compared with."""
    steps = np.linspace(0.0, num_steps, 200)
    level = np.exp(steps * np.log(factor))
    axes.semilogy(steps, np.maximum(level, FLOOR), color="#777777", linestyle=":", linewidth=1.6, label=label, zorder=1)
    legend_below(axes)


def draw_histogram(axes: Axes, values: Array, *, title: str, unit: str) -> None:
    """How many nodes have which value."""
    axes.hist(values, bins=min(24, max(4, len(values) // 4)), color=COLOURS[0], edgecolor="white", linewidth=0.6)
    tidy(axes, title=title, x=unit, y="nodes")


def plot_run(
    run: Solution,
    axes: Axes | None = None,
    *,
    against: Literal["steps", "messages"] = "steps",
    label: str | None = None,
    **keywords: Any,
) -> Axes:
    """Relative error of one run on a logarithmic axis; median and a 10–90 % band for several replicas.

    Parameters
    ----------
    run
        What :func:`sottovoce.simulate` returned.
    axes
        Where to draw; ``None``: a new figure. Runs on shared axes get different colours.
    against
        What to put on the horizontal axis.
    label
        For the legend; ``None``: the method with its parameters.
    **keywords
        How the line looks, as for :meth:`matplotlib.axes.Axes.plot`; they come before our own choice.

    Returns
    -------
    Axes
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt, numpy as np, sottovoce as sv
    >>> graph, values = sv.graphs.cycle(6), np.arange(6.0)
    >>> figure, axes = plt.subplots()
    >>> for method in (sv.StandardGossip(), sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)):
    ...     run = sv.simulate(graph, values, method, num_steps=100, seed=1)
    ...     axes = sv.plotting.plot_run(run, axes, lw=2)
    >>> [line.get_linewidth() for line in axes.get_lines()]
    [2.0, 2.0]
    """
    if against not in AXES:
        raise InvalidParameter(f"against must be 'steps' or 'messages', got {against!r}")
    (axes,) = axes_for(axes)
    position = run.steps if against == "steps" else run.transmissions
    style = next_style(axes) | line_keywords(keywords)
    text = run.method.label() if label is None else label
    draw_curve(axes, position.astype(np.float64), run.relative_error, label=text, style=style)
    tidy(axes, title=run.graph.name, x=AXES[against], y="relative error")
    axes.legend(fontsize=8)
    return axes
