"""Several methods on two axes: error against steps, and against messages, which all methods share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .runs import draw_curve
from .style import BASELINE, COLOURS, line_styles, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..simulation import Solution

__all__ = ["draw_comparison"]

LOWEST = 1e-30


def _distinct(count: int) -> list[dict[str, Any]]:
    """Styles that stay apart beyond the seven colours: later ones have open markers and other dashes."""
    styles = [style for style, _ in zip(line_styles(), range(count), strict=False)]
    dashes = [style["linestyle"] for style in styles[: len(COLOURS)]]
    for k, style in enumerate(styles[len(COLOURS) :], start=len(COLOURS)):
        style |= {
            "linestyle": dashes[(k + k // len(COLOURS)) % len(dashes)],
            "markerfacecolor": "white",
            "markersize": 4.6,
        }
    return styles


def draw_comparison(runs: Sequence[Solution], labels: Sequence[str], *, title: str) -> Figure:
    """Medians with bands from the 10 % to the 90 % quantile; standard gossip in black."""
    figure, (by_step, by_message) = new_figure(2, width=6.0, height=4.6)
    styles = iter(_distinct(len(runs)))
    for run, label in zip(runs, labels, strict=True):
        style = BASELINE if run.method.name == "standard" else next(styles)
        for axes, position in ((by_step, run.steps), (by_message, run.transmissions)):
            draw_curve(axes, position.astype(np.float64), run.relative_error, label=label, style=style)
    error = "relative error  ‖x − x*‖² / ‖x⁰ − x*‖²"
    tidy(by_step, title=f"{title}: what a step achieves", x="step or round", y=error)
    tidy(by_message, title=f"{title}: what a message achieves", x="messages", y=error)
    by_step.set_xscale("log")
    smallest = min(float(np.nanmin(run.relative_error)) for run in runs)
    for axes in (by_step, by_message):
        axes.set_ylim(bottom=max(LOWEST, smallest / 3))
    by_step.set_xlim(left=1)
    by_message.set_xlim(left=0)
    handles, names = by_message.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8, framealpha=0.9)
    return figure
