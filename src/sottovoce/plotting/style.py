"""One look for all figures: colours that colour-blind readers can tell apart, and lines that differ in grey too."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..foundation.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BASELINE", "COLOURS", "line_styles", "new_figure", "save_figure", "tidy"]

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
    """A figure with its axes in reading order, laid out without overlaps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    return figure, list(grid.reshape(-1))


def tidy(axes: Axes, *, title: str = "", x: str = "", y: str = "") -> None:
    """Title, labels, light grid, open frame."""
    axes.set_title(title, fontsize=11)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, which="major", color="#DDDDDD", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def save_figure(figure: Figure, stem: Path, *, about: str = "") -> list[Path]:
    """Write ``stem.png`` and ``stem.svg``; text stays text in the SVG, and both are the same bytes every time.

    ``about`` says in the files' metadata where the figure comes from.
    """
    import matplotlib as mpl

    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg")]
    told = {"Description": about} if about else {}
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sottovoce"}):
        write_atomically(paths[0], lambda path: figure.savefig(path, dpi=160, metadata={"Software": None, **told}))
        write_atomically(paths[1], lambda path: figure.savefig(path, metadata={"Date": None, **told}))
    return paths
