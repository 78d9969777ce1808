"""An ensemble over problems: the median run, and bands that hold the middle half and the middle 80 % of all runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .runs import FLOOR
from .style import COLOURS, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..experiments.ensemble import Ensemble

__all__ = ["draw_ensemble"]

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
