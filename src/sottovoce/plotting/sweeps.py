"""Figures from a sweep's table: curves by any column, maps over two of them, small panels for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidParameter
from .runs import draw_curve
from .style import COLOURS, axes_for, legend_below, line_keywords, new_figure, next_style, tidy

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BAND", "MOST", "draw_panels", "plot_curves", "plot_map", "pooled", "pooled_words", "settings_of"]

BAND = "median and 10–90 % band"
MOST = 8
"""Curves that can be told apart by colour and dash; more need a scale of colours."""
_RESULTS = {
    "run", "replica", "step", "transmissions", "relative_error", "mean_offset", "posterior_std", "status", "error",
    "version", "machine", "num_nodes", "num_edges",
}  # fmt: skip


def plot_curves(
    frame: pandas.DataFrame, by: str | Sequence[str], axes: Axes | None = None, *, x: str = "step", **keywords: Any
) -> Axes:
    """Median relative error with a 10–90 % band, one curve per combination of ``by``; the title says what is pooled.

    Parameters
    ----------
    frame
        The table of a sweep, such as ``pandas.read_parquet`` gives; failed runs are left out.
    by
        The column that tells curves apart, or several.
    axes
        Where to draw; ``None``: a new figure.
    x
        The column on the horizontal axis: ``"step"`` or ``"transmissions"``.
    **keywords
        How lines look, as for :meth:`matplotlib.axes.Axes.plot`; for all of them.

    Returns
    -------
    Axes
        Where it was drawn. More than seven curves are drawn in a scale of colours, if ``by`` is one column of numbers.

    Raises
    ------
    InvalidParameter
        If a column is not there, or there are more curves than can be told apart.
    """
    keys = [_column(frame, name) for name in ([by] if isinstance(by, str) else by)]
    done = frame[frame.status != "failed"]
    groups = {_key(key): group for key, group in done.groupby(keys, dropna=False, sort=True)}
    if not groups:
        raise InvalidParameter("nothing to draw: the table has no run that succeeded")
    scale = _scale(keys, list(groups))
    if len(groups) > MOST and scale is None:
        raise InvalidParameter(f"at most {MOST} curves on one pair of axes can be told apart, got {len(groups)}")
    (axes,) = axes_for(axes, width=6.4, height=4.8)
    for key, group in groups.items():
        wide = group.pivot_table(index=["run", "replica"], columns=_column(frame, x), values="relative_error")
        label = ", ".join(_part(name, value) for name, value in zip(keys, key, strict=True))
        look = next_style(axes) if scale is None else {"color": scale[key[0]], "linewidth": 1.3}
        style = look | line_keywords(keywords)
        draw_curve(axes, wide.columns.to_numpy(dtype=np.float64), wide.to_numpy(), label=label, style=style)
    tidy(axes, title=BAND + pooled_words([done], keys), x="messages" if x == "transmissions" else x, y="relative error")
    if scale is None:
        legend_below(axes)
    else:
        _colour_bar(axes, scale, label=keys[0])
    return axes


def plot_map(
    table: pandas.DataFrame,
    x: str,
    y: str,
    axes: Axes | None = None,
    *,
    values: str,
    label: str = "",
    thresholds: Iterable[float] = (),
    limits: tuple[float, float] | None = None,
) -> Axes:
    """One number over two columns of a table with a row per run; medians where several runs meet, grey where none.

    Parameters
    ----------
    table
        A row per run.
    x, y
        The columns across and up.
    axes
        Where to draw; ``None``: a new figure.
    values
        The column that decides the colour.
    label
        What it means, beside the scale of colours.
    thresholds
        Marked across, if ``x`` is ``noise_decay``.
    limits
        Of the scale of colours; ``None``: from the smallest to the largest.

    Returns
    -------
    Axes
        Where it was drawn.
    """
    grid = table.pivot_table(
        index=_column(table, y), columns=_column(table, x), values=_column(table, values), aggfunc="median",
        dropna=False,
    )  # fmt: skip
    (axes,) = axes_for(axes, width=6.4, height=4.4)
    low, high = limits or (None, None)
    mesh = axes.pcolormesh(
        np.arange(grid.shape[1] + 1),
        np.arange(grid.shape[0] + 1),
        np.ma.masked_invalid(grid.to_numpy(dtype=np.float64)),
        cmap="cividis",
        vmin=low,
        vmax=high,
    )
    axes.set_facecolor("#EEEEEE")
    axes.set_xticks(np.arange(grid.shape[1]) + 0.5, _ticks(grid.columns), rotation=45)
    axes.set_yticks(np.arange(grid.shape[0]) + 0.5, _ticks(grid.index))
    figure: Any = axes.figure
    grey = "\n(grey: none)" if grid.isna().to_numpy().any() else ""
    figure.colorbar(mesh, ax=axes, label=(label or values) + grey)
    marked = sorted(set(thresholds)) if x == "noise_decay" else []
    for value in marked:
        place = np.interp(value, grid.columns.to_numpy(dtype=np.float64), np.arange(grid.shape[1]) + 0.5)
        axes.axvline(float(place), color="#D55E00", linestyle="--", linewidth=1.6)
    tidy(axes, x=f"{x}  (dashed: threshold φ)" if marked else x, y=y)
    axes.grid(visible=False)
    return axes


def draw_panels(count: int, *, sentence: str) -> tuple[Figure, list[Axes]]:
    """A figure with so many small axes of the same extent, and a sentence above them."""
    columns = min(count, 3 if count > 4 else 2)
    rows = -(-count // columns)
    wide = count == 1
    figure, axes = new_figure(columns, rows, width=6.4 if wide else 4.8, height=4.8 if wide else 4.0)
    for unused in axes[count:]:
        unused.set_axis_off()
    figure.suptitle(sentence, fontsize=11)
    return figure, axes[:count]


def pooled_words(frames: Sequence[pandas.DataFrame], by: Sequence[str]) -> str:
    """What is pooled where several rows meet, in words: ``over seed (3), replica (20)``.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"run": ["a", "b"], "method": "standard", "seed": [1, 2], "replica": 0})
    >>> pooled_words([frame], ["method"]), pooled_words([frame], ["method", "seed"])
    (' over seed (2)', ', one run each')
    """
    counts: dict[str, int] = {}
    for frame in frames:
        for name, count in pooled(frame, by).items():
            counts[name] = max(count, counts.get(name, 0))
    over = ", ".join(f"{name} ({count})" for name, count in counts.items())
    return f" over {over}" if over else ", one run each"


def settings_of(frame: pandas.DataFrame) -> list[str]:
    """The columns that say what was run: graph, method, its parameters, values and seed."""
    return [name for name in frame.columns if name not in _RESULTS]


def pooled(frame: pandas.DataFrame, by: Sequence[str]) -> dict[str, int]:
    """Columns of settings that differ inside a group of ``by``, and replicas → how many there are."""
    names = [name for name in (*settings_of(frame), "replica") if name not in by]
    inside = frame.groupby(list(by), dropna=False)[names].nunique().max()
    return {str(name): int(count) for name, count in inside.items() if count > 1}


def _column(frame: pandas.DataFrame, name: str) -> str:
    if name not in frame.columns:
        raise InvalidParameter(f"column must be one of {', '.join(frame.columns)}, got {name!r}")
    return name


def _key(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _part(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return f"no {name}"
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"


def _scale(keys: Sequence[str], groups: Sequence[tuple[Any, ...]]) -> dict[float, Any] | None:
    """Number → colour, for many curves that differ in one number; ``None`` where looks of their own do."""
    numbers = [key[0] for key in groups if isinstance(key[0], float | int) and not np.isnan(key[0])]
    if len(keys) > 1 or len(groups) <= len(COLOURS) or len(numbers) < len(groups):
        return None
    import matplotlib as mpl

    colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.92, len(numbers)))  # its end is too light for lines
    return dict(zip(sorted(numbers), colours, strict=True))


def _colour_bar(axes: Axes, scale: dict[float, Any], *, label: str) -> None:
    """The colours in order, each with its number; at most a dozen of the numbers are written."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    norm = BoundaryNorm(np.arange(len(scale) + 1) - 0.5, len(scale))
    figure: Any = axes.figure
    bar = figure.colorbar(ScalarMappable(norm, ListedColormap(list(scale.values()))), ax=axes, label=label)
    places = np.arange(0, len(scale), -(-len(scale) // 12))
    bar.set_ticks(places, labels=_ticks(list(scale)[place] for place in places))
    bar.minorticks_off()


def _ticks(labels: Iterable[object]) -> list[str]:
    return [f"{label:g}" if isinstance(label, float) else str(label) for label in labels]
