"""An ensemble over problems: the median run, and bands that hold the middle half and the middle 80 % of all runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .runs import FLOOR
from .style import axes_for, line_keywords, next_style, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ..experiments.ensemble import Ensemble

__all__ = ["draw_beside", "plot_ensemble"]

BANDS = ((0.1, 0.9, 0.16), (0.25, 0.75, 0.3))


def plot_ensemble(found: Ensemble, axes: Axes | None = None, *, label: str | None = None, **keywords: Any) -> Axes:
    """The median run, and bands that hold the middle half and the middle 80 % of all runs.

    Parameters
    ----------
    found
        What :func:`sottovoce.ensemble` returned.
    axes
        Where to draw; ``None``: a new figure.
    label
        For the legend; ``None``: the method.
    **keywords
        How the line of the median looks, as for :meth:`matplotlib.axes.Axes.plot`; the bands take its colour.

    Returns
    -------
    Axes
        Where it was drawn.
    """
    (axes,) = axes_for(axes)
    runs = np.maximum(found.relative_error.reshape(-1, len(found.steps)), FLOOR)
    text = found.method if label is None else label
    look = (
        next_style(axes) | {"linestyle": "-", "marker": "", "linewidth": 1.5, "label": text} | line_keywords(keywords)
    )
    (line,) = axes.semilogy(found.steps, np.median(runs, axis=0), **look)
    for low, high, alpha in BANDS:
        edges = np.quantile(runs, (low, high), axis=0)
        axes.fill_between(found.steps, *edges, color=line.get_color(), alpha=alpha, linewidth=0)
    tidy(axes, title=str(found.problems.described["graphs"]), x="step", y="relative error")
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
