"""Figures: drawing only, every number comes from elsewhere. Axes in, axes out.

Every function draws on the axes that it is given, or on new ones, and returns them. New axes belong to a figure of
``matplotlib.pyplot``: a notebook shows it at the end of the cell, and a script after ``plt.show()``. Titles and labels
that are there already are kept. Keywords go to Matplotlib in any of its spellings (``lw`` or ``linewidth``).

Matplotlib is imported when something is drawn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..foundation.extras import require

if TYPE_CHECKING:
    from .changing import plot_changing
    from .compare import plot_comparison, plot_frontiers
    from .ensembles import plot_ensemble
    from .privacy import plot_exposure, plot_frontier, plot_knowledge, plot_matrix
    from .runs import plot_run
    from .saving import save_figure
    from .sweeps import plot_curves, plot_map
    from .theory import plot_bounds, plot_ratios
    from .trajectories import plot_trajectories

_HOME = {
    "plot_bounds": "theory",
    "plot_changing": "changing",
    "plot_comparison": "compare",
    "plot_curves": "sweeps",
    "plot_ensemble": "ensembles",
    "plot_exposure": "privacy",
    "plot_frontier": "privacy",
    "plot_frontiers": "compare",
    "plot_knowledge": "privacy",
    "plot_map": "sweeps",
    "plot_matrix": "privacy",
    "plot_ratios": "theory",
    "plot_run": "runs",
    "plot_trajectories": "trajectories",
    "save_figure": "saving",
}

require("matplotlib", by="plotting")

__all__ = [
    "plot_bounds",
    "plot_changing",
    "plot_comparison",
    "plot_curves",
    "plot_ensemble",
    "plot_exposure",
    "plot_frontier",
    "plot_frontiers",
    "plot_knowledge",
    "plot_map",
    "plot_matrix",
    "plot_ratios",
    "plot_run",
    "plot_trajectories",
    "save_figure",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
