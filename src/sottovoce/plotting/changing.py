"""Runs on networks that change: error above, mass that is not accounted for below, on an axis of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .runs import draw_curve
from .style import axes_for, line_styles, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ..simulation import Solution

__all__ = ["plot_changing"]


def plot_changing(
    runs: Sequence[tuple[str, Solution]], axes: Sequence[Axes] | None = None, *, marks: Sequence[tuple[float, str]] = ()
) -> list[Axes]:
    """Draw several runs on two axes, with a label each.

    Parameters
    ----------
    runs
        (label, run), of one replica or many.
    axes
        Two of them: for the error, and for the mass that is not accounted for, per node.
    marks
        (messages, words) at which something happened to all runs.

    Returns
    -------
    list of Axes
        The two.
    """
    above, below = found = axes_for(axes, rows=2, width=7.2, height=3.4)
    styles = line_styles()
    for label, run in runs:
        look = next(styles)
        messages = run.transmissions.astype(np.float64)
        draw_curve(above, messages, run.relative_error, label=label, style=look)
        draw_curve(below, messages, run.mass_error / run.graph.num_nodes, label=label, style=look)
    tidy(above, y="relative error")
    tidy(below, x="messages", y="mass not accounted for, per node")
    for each in found:
        for where, _ in marks:
            each.axvline(where, color="#555555", linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    for where, words in marks:
        above.annotate(words, (where, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -3), va="top",
                       textcoords="offset points", fontsize=8, color="#333333")  # fmt: skip
    shown = [np.quantile(np.atleast_2d(run.mass_error[..., 1:]), 0.5, axis=0) / run.graph.num_nodes for _, run in runs]
    below.set_ylim(bottom=float(np.concatenate(shown).min()) / 10.0)  # not down to the rounding of the first record
    above.legend(fontsize=8, framealpha=0.9, loc="lower left")
    return found
