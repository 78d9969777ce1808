"""Figures straight from a sweep's dataset: curves by any column, heat maps over two of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidParameter
from .runs import draw_curve
from .style import line_styles, new_figure, tidy

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

__all__ = ["plot_curves", "plot_heatmap", "steps_to"]


def _column(frame: pandas.DataFrame, name: str) -> str:
    if name not in frame.columns:
        raise InvalidParameter(f"column must be one of {', '.join(frame.columns)}, got {name!r}")
    return name


def _ticks(labels: Iterable[object]) -> list[str]:
    return [f"{label:g}" if isinstance(label, float) else str(label) for label in labels]


def plot_curves(frame: pandas.DataFrame, by: Sequence[str], *, x: str = "step") -> Figure:
    """Median relative error with a 10–90 % band over runs and replicas, one curve per combination of ``by``."""
    done = frame[frame.status != "failed"]
    keys = [_column(frame, name) for name in by]
    figure, (axes,) = new_figure(width=6.4, height=4.4)
    styles = line_styles()
    for key, group in done.groupby(keys, dropna=False, sort=True):
        wide = group.pivot_table(index=["run", "replica"], columns=_column(frame, x), values="relative_error")
        label = ", ".join(
            f"{name} = {value}" for name, value in zip(keys, np.atleast_1d(np.array(key, dtype=object)), strict=True)
        )
        draw_curve(axes, wide.columns.to_numpy(dtype=np.float64), wide.to_numpy(), label=label, style=next(styles))
    tidy(axes, title="median and 10–90 % band", x=x, y="relative error")
    axes.legend(fontsize=8)
    return figure


def steps_to(frame: pandas.DataFrame, accuracy: float) -> pandas.DataFrame:
    """One row per run: the first recorded step at which the median relative error is at most ``accuracy``."""
    done = frame[frame.status != "failed"]
    median = done.groupby(["run", "step"], as_index=False).relative_error.median()
    first = median[median.relative_error <= accuracy].groupby("run", as_index=False).step.min()
    runs = done.drop_duplicates("run").drop(columns=["step"])
    return runs.merge(first, on="run", how="left")


def plot_heatmap(
    frame: pandas.DataFrame, x: str, y: str, *, accuracy: float | None, threshold: tuple[float, float] | None = None
) -> Figure:
    """Steps to ``accuracy``, or the observer's posterior deviation when that is ``None``, over two columns.

    ``threshold`` is the smallest and largest free decay of the graph: drawn when ``x`` is ``noise_decay``.
    """
    x, y = _column(frame, x), _column(frame, y)
    if accuracy is None:
        table, values, label = (
            frame[frame.status != "failed"].drop_duplicates("run"),
            "posterior_std",
            "posterior sd of the most exposed node",
        )
    else:
        table, values, label = steps_to(frame, accuracy), "step", f"steps to relative error {accuracy:g}"
    if table[values].isna().all():
        what = "no run asked for an audit" if accuracy is None else f"no run reached {accuracy:g}"
        raise InvalidParameter(f"nothing to draw: {what}")
    grid = table.pivot_table(index=y, columns=x, values=values, aggfunc="median", dropna=False)
    figure, (axes,) = new_figure(width=6.4, height=4.4)
    mesh = axes.pcolormesh(
        np.arange(grid.shape[1] + 1),
        np.arange(grid.shape[0] + 1),
        np.ma.masked_invalid(grid.to_numpy(dtype=np.float64)),
        cmap="cividis",
    )
    axes.set_facecolor("#EEEEEE")
    axes.set_xticks(
        np.arange(grid.shape[1]) + 0.5,
        _ticks(grid.columns),
        rotation=45,
    )
    axes.set_yticks(np.arange(grid.shape[0]) + 0.5, _ticks(grid.index))
    figure.colorbar(mesh, ax=axes, label=label)
    tidy(axes, title="grey: not reached" if accuracy is not None and grid.isna().to_numpy().any() else "", x=x, y=y)
    axes.grid(visible=False)
    if threshold is not None and x == "noise_decay":
        centres = grid.columns.to_numpy(dtype=np.float64)
        for value in sorted(set(threshold)):
            axes.axvline(
                np.interp(value, centres, np.arange(len(centres)) + 0.5), color="#D55E00", linestyle="--", linewidth=1.6
            )
        axes.text(
            0.99,
            1.01,
            "dashed: threshold φ",
            transform=axes.transAxes,
            ha="right",
            va="bottom",
            fontsize=8,
            color="#D55E00",
        )
    return figure
