"""Several methods on two axes: error against steps, and against messages, which all methods share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .runs import draw_curve
from .style import BASELINE, COLOURS, line_styles, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.compare import Comparison
    from ..simulation import Solution

__all__ = ["draw_comparison", "draw_curves", "draw_frontiers"]

LOWEST = 1e-30
ERROR = "relative error  ‖x − x*‖² / ‖x⁰ − x*‖²"


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
    _draw(by_step, runs, labels, [run.steps for run in runs])
    _draw(by_message, runs, labels, [run.transmissions for run in runs])
    tidy(by_step, title=f"{title}: what a step achieves", x="step or round", y=ERROR)
    tidy(by_message, title=f"{title}: what a message achieves", x="messages", y=ERROR)
    by_step.set_xscale("log")
    by_step.set_xlim(left=1)
    by_message.set_xlim(left=0)
    handles, names = by_message.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8, framealpha=0.9)
    return figure


def draw_curves(axes: Axes, runs: Sequence[Solution], labels: Sequence[str]) -> Axes:
    """The same against messages, on axes that somebody else made: their title and limits stay theirs."""
    _draw(axes, runs, labels, [run.transmissions for run in runs])
    axes.set_xlabel("messages")
    axes.set_ylabel(ERROR)
    axes.legend(fontsize=8)
    return axes


def _draw(axes: Axes, runs: Sequence[Solution], labels: Sequence[str], positions: Sequence[Any]) -> None:
    styles = iter(_distinct(len(runs)))
    for run, label, position in zip(runs, labels, positions, strict=True):
        style = BASELINE if run.method.name == "standard" else next(styles)
        draw_curve(axes, position.astype(np.float64), run.relative_error, label=label, style=style)
    smallest = min(float(np.nanmin(run.relative_error)) for run in runs)
    axes.set_ylim(bottom=max(LOWEST, smallest / 3))


def draw_frontiers(found: Comparison, axes: Axes | None = None) -> Axes:
    """A line per method through its settings: what is left to observers, with its interval, against what it takes.

    To the left is cheap, up is private. Methods whose noise was not set are single points.
    """
    if axes is None:
        axes = new_figure(width=6.4, height=4.4)[1][0]
    needed = found.accuracy is not None
    styles = iter(_distinct(len(set(found.families))))
    for family in dict.fromkeys(found.families):
        rows = [row for row, name in zip(found.rows, found.families, strict=True) if name == family]
        points = [(row.messages_needed if needed else row.accuracy, row) for row in rows]
        known = [(x, row.prior_left_low, row.prior_left, row.prior_left_high) for x, row in points]
        places = np.array([place for place in known if None not in place], dtype=np.float64)
        if not len(places):
            continue
        x, low, y, high = places.T
        axes.errorbar(x, y, yerr=(y - low, high - y), label=family, capsize=2.5, **(next(styles) | {"linestyle": "-"}))
    what = f"messages until ± {found.accuracy:g}" if needed else "root-mean-square error at equal messages"
    tidy(axes, title=found.graph.name, x=what, y="prior left to a curious neighbour")
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.02)
    axes.legend(fontsize=8)
    return axes
