"""Curves of relative error against steps: one run, many replicas, a published experiment's panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .style import BASELINE, COLOURS, line_styles, new_figure, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ..simulation import Solution

__all__ = ["draw_curve", "draw_histogram", "draw_panel", "draw_rate", "plot_run"]

Array = npt.NDArray[np.float64]
FLOOR = 1e-33
"""Relative errors of exactly zero are drawn here: a logarithmic axis has no zero."""


def draw_curve(axes: Axes, steps: Array, error: Array, *, label: str, style: dict[str, Any]) -> None:
    """One line; with a replica axis in front, the median and a band from the 10 % to the 90 % quantile."""
    if error.ndim == 1:
        middle = error
    else:
        low, middle, high = np.nanquantile(error, (0.1, 0.5, 0.9), axis=0)
        axes.fill_between(
            steps, np.maximum(low, FLOOR), np.maximum(high, FLOOR), color=style["color"], alpha=0.18, linewidth=0
        )
    axes.semilogy(steps, np.maximum(middle, FLOOR), label=label, markevery=max(1, len(steps) // 9), **style)


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
    axes.legend(fontsize=8, framealpha=0.9)


def draw_rate(axes: Axes, factor: float, num_steps: int, *, label: str) -> None:
    """The straight line factor^step, dotted, under the curves it is compared with."""
    steps = np.linspace(0.0, num_steps, 200)
    level = np.exp(steps * np.log(factor))
    axes.semilogy(steps, np.maximum(level, FLOOR), color="#777777", linestyle=":", linewidth=1.6, label=label, zorder=1)
    axes.legend(fontsize=8, framealpha=0.9)


def draw_histogram(axes: Axes, values: Array, *, title: str, unit: str) -> None:
    """How many nodes have which value."""
    axes.hist(values, bins=min(24, max(4, len(values) // 4)), color=COLOURS[0], edgecolor="white", linewidth=0.6)
    tidy(axes, title=title, x=unit, y="nodes")


def plot_run(run: Solution, axes: Axes | None = None, *, label: str | None = None, **style: Any) -> Axes:
    """Draw one run; see :meth:`sottovoce.Solution.plot`."""
    if axes is None:
        axes = new_figure()[1][0]
    look = next(line_styles()) | style
    draw_curve(axes, run.steps.astype(np.float64), run.relative_error, label=label or run.method.label(), style=look)
    tidy(axes, title=run.graph.name, x="step", y="relative error")
    axes.legend(fontsize=8)
    return axes
