"""An ensemble over problems: the median run, and bands that hold the middle half and the middle 80 % of all runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .runs import FLOOR
from .style import COLOURS, new_figure, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ..experiments.ensemble import Ensemble

__all__ = ["draw_beside", "draw_ensemble"]

BANDS = ((0.1, 0.9, 0.16), (0.25, 0.75, 0.3))


def draw_ensemble(found: Ensemble, axes: Axes | None = None, *, label: str | None = None, **style: Any) -> Axes:
    """Draw on ``axes``, or on a figure of its own; ``style`` goes to the line of the median."""
    if axes is None:
        axes = new_figure()[1][0]
        tidy(axes, title=str(found.problems.described["graphs"]), x="step", y="relative error")
    runs = np.maximum(found.relative_error.reshape(-1, len(found.steps)), FLOOR)
    look: dict[str, Any] = {"color": COLOURS[len(axes.lines) % len(COLOURS)], "linewidth": 1.5} | style
    for low, high, alpha in BANDS:
        edges = np.quantile(runs, (low, high), axis=0)
        axes.fill_between(found.steps, *edges, color=look["color"], alpha=alpha, linewidth=0)
    axes.semilogy(found.steps, np.median(runs, axis=0), label=label or found.method, **look)
    axes.set_xlim(left=0)
    axes.legend(fontsize=8)
    return axes


def draw_beside(axes: Axes, found: Sequence[tuple[str, Ensemble]]) -> None:
    """To the right of the curves that are on ``axes``, where fresh problems end: a bar for the middle 80 %, a dot for
    the median, in the colour of the curve of that name.
    """
    colours = {str(line.get_label()): line.get_color() for line in axes.lines}
    below, wide = axes.get_ylim()[0], axes.get_xlim()[1]
    for place, (label, runs) in enumerate(found, start=1):
        low, middle, high = np.maximum(runs.quantile([0.1, 0.5, 0.9]), FLOOR)
        at = float(runs.steps[-1]) * (1.01 + 0.014 * place)
        axes.vlines(at, low, high, color=colours[label], linewidth=2.2, alpha=0.75)
        axes.plot(at, middle, ".", color=colours[label], markersize=5, markeredgecolor="white", markeredgewidth=0.5)
        wide = max(wide, at * 1.012)
    axes.set(xlim=(0, wide), ylim=(below, axes.get_ylim()[1]))
