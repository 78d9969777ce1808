"""What happens, what is expected and what was proved: on one logarithmic axis, and as multiples of the expectation.

The numbers come as arrays; :mod:`sottovoce.theory` and :mod:`sottovoce.simulation` make them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .style import COLOURS, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CURVES", "plot_bounds", "plot_ratios"]

Array = npt.NDArray[np.float64]

CURVES: dict[str, tuple[str, dict[str, Any]]] = {
    "run": ("one run", {"color": "#999999", "linewidth": 0.9}),
    "ensemble": ("mean of {replicas} runs", {"color": COLOURS[0], "linewidth": 3.2, "alpha": 0.45}),
    "exact": ("exact expectation", {"color": "#000000", "linewidth": 1.4}),
    "resolvent": ("resolvent bound", {"color": COLOURS[3], "linewidth": 1.6, "linestyle": "-"}),
    "sharpened": ("sharpened bound", {"color": COLOURS[2], "linewidth": 1.4, "linestyle": (0, (6, 1.5))}),
    "corrected": ("corrected bound", {"color": COLOURS[4], "linewidth": 1.4, "linestyle": (0, (3, 1.2))}),
    "printed": ("printed bound (off by one)", {"color": COLOURS[1], "linewidth": 1.4, "linestyle": (0, (1, 1.2))}),
}
"""Curve → (label, look), in drawing order."""

_NOTHING = 1e-250
"""Below this share of its start an expectation has underflowed, and ratios to it say nothing."""


def plot_bounds(
    steps: npt.NDArray[np.int64],
    curves: Mapping[str, Array],
    *,
    title: str = "",
    replicas: int = 1,
    floor: float = 1e-16,
    axes: Axes | None = None,
) -> Axes:
    """Draw the curves whose names are in :data:`CURVES`.

    Parameters
    ----------
    steps
        ``(K,)`` common to all curves.
    curves
        ``(K,)`` each: ½‖x − c̄‖² of a run, its mean, its expectation, its bounds.
    title
        Above the axes.
    replicas
        For the legend.
    floor
        The axis goes no lower than this share of its highest point: a run ends in rounding errors.
    axes
        Where to draw; by default a new figure, with the ratios (:func:`plot_ratios`) below if the expectation is known.
    """
    if axes is None:
        panels = new_figure(rows=2, width=7.0, height=3.7)[1] if "exact" in curves else new_figure(width=7.0)[1]
        axes = panels[0]
        if len(panels) > 1:
            plot_ratios(steps, curves, axes=panels[1])
    for name, (label, look) in CURVES.items():
        if name in curves:
            shown = np.where(curves[name] > 0, curves[name], np.nan)
            axes.semilogy(steps, shown, label=label.format(replicas=f"{replicas:,}"), **look)
    tidy(axes, title=title, x="step k", y="½‖x − c̄‖²")
    axes.set_xlim(0, int(steps[-1]))
    highest = max(float(np.nanmax(curve)) for curve in curves.values())
    lowest = min((float(np.min(curve[curve > 0], initial=highest)) for curve in curves.values()), default=highest)
    if highest > 0:
        axes.set_ylim(max(floor * highest, lowest / 2), 2 * highest)
    axes.legend(fontsize=8, framealpha=0.9)
    return axes


def plot_ratios(steps: npt.NDArray[np.int64], curves: Mapping[str, Array], *, axes: Axes) -> None:
    """Draw mean and bounds divided by the exact expectation: 1 is the truth, and a bound below it is false."""
    exact = np.where(curves["exact"] > _NOTHING * np.max(curves["exact"]), curves["exact"], np.nan)
    axes.axhline(1.0, **CURVES["exact"][1])
    for name, (_, look) in CURVES.items():
        if name in curves and name not in ("run", "exact"):
            axes.semilogy(steps, np.where(curves[name] > 0, curves[name] / exact, np.nan), **look)
    tidy(axes, x="step k", y="÷ exact expectation")
    axes.set_xlim(0, int(steps[-1]))
