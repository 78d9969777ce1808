"""What happens, what is expected and what was proved, on one logarithmic axis.

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

__all__ = ["CURVES", "plot_bounds"]

Array = npt.NDArray[np.float64]

CURVES: dict[str, tuple[str, dict[str, Any]]] = {
    "run": ("one run", {"color": "#999999", "linewidth": 0.9}),
    "ensemble": ("mean of {replicas} runs", {"color": COLOURS[0], "linewidth": 3.2, "alpha": 0.45}),
    "exact": ("exact expectation", {"color": "#000000", "linewidth": 1.4}),
    "sharpened": ("sharpened bound", {"color": COLOURS[2], "linewidth": 1.4, "linestyle": (0, (6, 1.5))}),
    "corrected": ("corrected bound", {"color": COLOURS[4], "linewidth": 1.4, "linestyle": (0, (3, 1.2))}),
    "printed": ("printed bound (off by one)", {"color": COLOURS[1], "linewidth": 1.4, "linestyle": (0, (1, 1.2))}),
}
"""Curve → (label, look), in drawing order."""


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
        Where to draw; a new figure by default.
    """
    if axes is None:
        axes = new_figure(width=7.0, height=4.6)[1][0]
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
