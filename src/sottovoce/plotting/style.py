"""One look for all figures: colours that colour-blind readers can tell apart, and lines that differ in grey too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from io import BytesIO
from itertools import count, islice
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..errors import InvalidParameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BASELINE",
    "COLOURS",
    "axes_for",
    "legend_below",
    "line_keywords",
    "line_styles",
    "new_figure",
    "next_style",
    "tidy",
]

# Okabe and Ito's eight colours ("Color universal design", 2008) without yellow, which is too light for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F3C8D")
BASELINE: dict[str, Any] = {"color": "#000000", "linewidth": 1.8, "linestyle": (0, (5, 2))}

_DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.2)),
    (0, (1, 1)),
    (0, (6, 1.2, 1, 1.2)),
    "-",
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (8, 2)),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_TITLES: WeakKeyDictionary[Axes, str] = WeakKeyDictionary()
"""The titles that we wrote; any other is the user's."""


def line_styles() -> Iterator[dict[str, Any]]:
    """Endless keyword sets for ``plot``: colour, dash and marker change together, and 49 pass before one repeats."""
    for turn in count():
        for k, colour in enumerate(COLOURS):
            look = (k + turn) % len(_DASHES)
            yield {
                "color": colour,
                "linestyle": _DASHES[look],
                "marker": _MARKERS[look],
                "markersize": 3.8,
                "linewidth": 1.3,
            }


def new_figure(
    columns: int = 1, rows: int = 1, *, width: float = 5.4, height: float = 4.0
) -> tuple[Figure, list[Axes]]:
    """A figure that no window system knows of; its axes in reading order, laid out without overlaps."""
    figure = _figure_class()(figsize=(width * columns, height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    return figure, list(grid.reshape(-1))


@cache
def _figure_class() -> type[Figure]:
    """A figure that a notebook shows, once, when it is the value of a cell, whether or not pyplot is in use."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            drawn = BytesIO()
            self.savefig(drawn, format="png", dpi=110)
            return drawn.getvalue()

    return ShownFigure


def axes_for(
    axes: Axes | Sequence[Axes] | None, *, columns: int = 1, rows: int = 1, width: float = 5.4, height: float = 4.0
) -> list[Axes]:
    """The axes that were given, or those of a new figure that notebooks and ``plt.show()`` know of.

    Raises
    ------
    InvalidParameter
        If another number of axes is needed.
    """
    if axes is None:
        from matplotlib import pyplot as plt

        figure = plt.figure(figsize=(width * columns, height * rows), layout="constrained")
        return list(figure.subplots(rows, columns, squeeze=False).reshape(-1))
    given: list[Axes] = list(axes) if isinstance(axes, Iterable) else [axes]
    if len(given) != columns * rows:
        raise InvalidParameter(f"axes must be {columns * rows} of Matplotlib's Axes, got {len(given)}")
    return given


def line_keywords(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Matplotlib's keywords for lines under their long names: ``lw`` is ``linewidth``, ``c`` is ``color``."""
    from matplotlib import cbook
    from matplotlib.lines import Line2D

    return cbook.normalize_kwargs(dict(keywords), Line2D)


def next_style(axes: Axes) -> dict[str, Any]:
    """The first look whose colour no line on these axes has; when all are taken, another dash with it."""
    from matplotlib.colors import same_color

    taken = [line.get_color() for line in axes.get_lines()]
    for style in islice(line_styles(), len(COLOURS)):
        if not any(same_color(style["color"], colour) for colour in taken):
            return style
    return next(islice(line_styles(), len(taken), None))


def tidy(axes: Axes, *, title: str = "", x: str = "", y: str = "") -> None:
    """Light grid, open frame; a title and labels where there are none yet.

    A title of ours that says something else is continued: curves of two graphs on one pair of axes name both.
    """
    known = axes.get_title()
    if known and known == _TITLES.get(axes) and title not in known:
        title = f"{known}, {title}"
    if title and known in ("", _TITLES.get(axes)) and title not in known:
        axes.set_title(title, fontsize=11)
        _TITLES[axes] = title
    if not axes.get_xlabel():
        axes.set_xlabel(x)
    if not axes.get_ylabel():
        axes.set_ylabel(y)
    axes.grid(visible=True, which="major", color="#DDDDDD", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def legend_below(axes: Axes) -> None:
    """A legend under the axes, where it hides no curve, with as many columns as there is room for."""
    from matplotlib.transforms import offset_copy

    labels = axes.get_legend_handles_labels()[1]
    figure: Any = axes.figure
    entry = 0.5 + 0.055 * max(map(len, labels), default=0)  # inches: the line, then letters of eight points
    columns = int(min(4, len(labels), axes.bbox.width / figure.dpi // entry))
    below = offset_copy(axes.transAxes, figure, y=-38, units="points")  # under the numbers and words of the axis
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=below, ncols=max(1, columns), fontsize=8,
        framealpha=0.9, borderaxespad=0.0,
    )  # fmt: skip
