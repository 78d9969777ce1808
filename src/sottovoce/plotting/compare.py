"""Several methods side by side: on axes of one's own, or as a whole figure that stays readable with many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InvalidParameter
from .runs import AXES, draw_curve
from .style import BASELINE, axes_for, legend_below, line_keywords, new_figure, next_style, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.compare import Comparison
    from ..methods import Method
    from ..simulation import Solution

__all__ = ["draw_comparison", "plot_comparison", "plot_frontiers"]

LOWEST = 1e-30
ERROR = "relative error  ‖x − x*‖² / ‖x⁰ − x*‖²"
TOGETHER = 8
"""Up to so many curves share axes; more are spread over small ones."""
EACH = 5
"""Curves on small axes, beside standard gossip."""

Curve = tuple[str, "Solution"]


def plot_comparison(
    comparison: Comparison,
    axes: Axes | None = None,
    *,
    methods: Sequence[str | Method] | None = None,
    against: Literal["steps", "messages"] = "messages",
    **keywords: Any,
) -> Axes:
    """Relative error of the methods of a comparison on one pair of axes; standard gossip in black.

    Parameters
    ----------
    comparison
        What :func:`sottovoce.compare` returned.
    axes
        Where to draw; ``None``: a new figure.
    methods
        Which of them: labels as in the table, names as on the command line, or methods as given; ``None``: all.
    against
        What to put on the horizontal axis.
    **keywords
        How lines look, as for :meth:`matplotlib.axes.Axes.plot`; for all of them.

    Returns
    -------
    Axes
        Where it was drawn.

    Raises
    ------
    InvalidParameter
        If a method is not in the comparison.
    """
    if against not in AXES:
        raise InvalidParameter(f"against must be 'steps' or 'messages', got {against!r}")
    curves = comparison.curves(methods)
    (axes,) = axes_for(axes, width=6.4, height=4.8)
    _draw(axes, curves, against=against, look=line_keywords(keywords))
    tidy(axes, title=comparison.graph.name, x=AXES[against], y="relative error")
    legend_below(axes)
    return axes


def plot_frontiers(comparison: Comparison, axes: Axes | None = None) -> Axes:
    """A line per method through its settings: what is left to observers, with its interval, against what it takes.

    To the left is cheap, up is private. Methods whose noise was not set are single points.

    Parameters
    ----------
    comparison
        What :func:`sottovoce.compare` returned when it was asked for privacy.
    axes
        Where to draw; ``None``: a new figure.

    Returns
    -------
    Axes
        Where it was drawn.
    """
    (axes,) = axes_for(axes, width=6.4, height=4.4)
    needed = comparison.accuracy is not None
    for family in dict.fromkeys(comparison.families):
        rows = [row for row, name in zip(comparison.rows, comparison.families, strict=True) if name == family]
        points = [(row.messages_needed if needed else row.accuracy, row) for row in rows]
        known = [(x, row.prior_left_low, row.prior_left, row.prior_left_high) for x, row in points]
        places = np.array([place for place in known if None not in place], dtype=np.float64)
        if not len(places):
            continue
        x, low, y, high = places.T
        label = rows[0].method if len(rows) == 1 else family
        axes.errorbar(
            x, y, yerr=(y - low, high - y), label=label, capsize=2.5, **(next_style(axes) | {"linestyle": "-"})
        )
    what = f"messages until ± {comparison.accuracy:g}" if needed else "root-mean-square error at equal messages"
    tidy(axes, title=comparison.graph.name, x=what, y="prior left to a curious neighbour")
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.02)
    legend_below(axes)
    return axes


def draw_comparison(curves: Sequence[Curve], *, title: str) -> Figure:
    """Medians with bands from the 10 % to the 90 % quantile; standard gossip in black.

    A few methods: error against steps and against messages. Many: against messages, five on each pair of axes in the
    order of what they reached, standard gossip on all.
    """
    return _two_panels(curves, title) if len(curves) <= TOGETHER else _small_panels(curves, title)


def _two_panels(curves: Sequence[Curve], title: str) -> Figure:
    figure, (by_step, by_message) = new_figure(2, width=6.0, height=4.6)
    _draw(by_step, curves, against="steps")
    _draw(by_message, curves, against="messages")
    tidy(by_step, title=f"{title}: what a step achieves", x="step or round", y=ERROR)
    tidy(by_message, title=f"{title}: what a message achieves", x="messages", y=ERROR)
    by_step.set_xscale("log")
    by_step.set_xlim(left=1)
    by_message.set_xlim(left=0)
    handles, names = by_message.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8, framealpha=0.9)
    return figure


def _small_panels(curves: Sequence[Curve], title: str) -> Figure:
    ordered = sorted(curves, key=lambda curve: _reached(curve[1]))
    baseline = [curve for curve in ordered if _is_baseline(curve[1])]
    others = [curve for curve in ordered if not _is_baseline(curve[1])]
    parts = [others[k : k + EACH] for k in range(0, len(others), EACH)]
    columns = min(3, len(parts))
    figure, panels = new_figure(columns, -(-len(parts) // columns), width=4.6, height=4.8)
    for part, axes in zip(parts, panels, strict=False):
        _draw(axes, [*baseline, *part], against="messages")
        tidy(axes, x="messages", y="relative error")
        axes.set_xlim(left=0)
        axes.locator_params(axis="x", nbins=5)
        legend_below(axes)
    for axes in panels[len(parts) :]:
        axes.set_axis_off()
    figure.suptitle(f"{title}: what a message achieves, in the order of what was reached", fontsize=11)
    return figure


def _draw(axes: Axes, curves: Sequence[Curve], *, against: str, look: dict[str, Any] | None = None) -> None:
    for label, run in curves:
        style = (BASELINE if _is_baseline(run) else next_style(axes)) | (look or {})
        position = run.steps if against == "steps" else run.transmissions
        draw_curve(axes, position.astype(np.float64), run.relative_error, label=label, style=style)
    smallest = min(float(np.nanmin(run.relative_error)) for _, run in curves)
    axes.set_ylim(bottom=max(LOWEST, smallest / 3))


def _is_baseline(run: Solution) -> bool:
    return run.method.name == "standard"


def _reached(run: Solution) -> float:
    """The median error at the end; runs that ended as no number come last."""
    last = float(np.median(np.atleast_2d(run.relative_error)[:, -1]))
    return last if np.isfinite(last) else np.inf
