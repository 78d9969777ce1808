"""What happens, what is expected and what was proved: on one logarithmic axis, and as multiples of the expectation.

The numbers come as arrays; :mod:`sottovoce.theory` and :mod:`sottovoce.simulation` make them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from .style import COLOURS, axes_for, tidy

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

_COMPARED: dict[str, tuple[str, ...]] = {
    "exact": ("ensemble", "resolvent", "sharpened", "corrected", "printed"),
    "corrected": ("sharpened", "printed"),
}
_REFERENCES: tuple[Literal["exact", "corrected"], ...] = ("exact", "corrected")
_NOTHING = 1e-250
"""Below this share of its start an expectation has underflowed, and ratios to it say nothing."""


def plot_bounds(
    steps: npt.NDArray[np.int64],
    curves: Mapping[str, Array],
    axes: Axes | None = None,
    *,
    title: str = "",
    replicas: int = 1,
    floor: float = 1e-16,
) -> Axes:
    """Draw the curves whose names are in :data:`CURVES`.

    Parameters
    ----------
    steps
        ``(K,)`` common to all curves.
    curves
        ``(K,)`` each: ½‖x − c̄‖² of a run, its mean, its expectation, its bounds.
    axes
        Where to draw; ``None``: a new figure, with ratios to the expectation and to the corrected bound below
        (:func:`plot_ratios`), because on the first axes some curves coincide.
    title
        Above the axes.
    replicas
        For the legend.
    floor
        The axis goes no lower than this share of its highest point: a run ends in rounding errors.

    Returns
    -------
    Axes
        Those with the curves.
    """
    if axes is None:
        references = [name for name in _REFERENCES if name in curves]
        axes, *below = axes_for(None, rows=1 + len(references), width=7.0, height=4.6 - 0.7 * len(references))
        for reference, panel in zip(references, below, strict=True):
            plot_ratios(steps, curves, panel, reference=reference)
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


def plot_ratios(
    steps: npt.NDArray[np.int64],
    curves: Mapping[str, Array],
    axes: Axes | None = None,
    *,
    reference: Literal["exact", "corrected"],
) -> Axes:
    """Draw curves divided by one of them.

    Against the exact expectation 1 is the truth, on a logarithmic axis: a bound below it is false. Against the
    corrected bound the other two forms of Theorem 1 differ by some percent, so the axis is linear.

    Parameters
    ----------
    steps, curves
        As for :func:`plot_bounds`.
    axes
        Where to draw; ``None``: a new figure.
    reference
        The curve that the others are divided by.

    Returns
    -------
    Axes
        Where it was drawn.
    """
    if reference not in _COMPARED or reference not in curves:
        known = ", ".join(repr(name) for name in _COMPARED if name in curves)
        raise InvalidParameter(f"reference must be one of {known or 'exact, corrected, which curves lack'}")
    (axes,) = axes_for(axes)
    divisor = np.where(curves[reference] > _NOTHING * np.max(curves[reference]), curves[reference], np.nan)
    axes.axhline(1.0, **CURVES[reference][1])
    for name in _COMPARED[reference]:
        if name in curves:
            axes.plot(steps, np.where(curves[name] > 0, curves[name] / divisor, np.nan), **CURVES[name][1])
    if reference == "exact":
        axes.set_yscale("log")
    tidy(axes, x="step k", y=f"÷ {CURVES[reference][0]}")
    axes.set_xlim(0, int(steps[-1]))
    return axes
