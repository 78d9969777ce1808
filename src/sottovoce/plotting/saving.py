"""Figures as files: the format that the name asks for, and the same bytes every time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..foundation.files import write_atomically

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["format_of", "save_figure"]

BOTH = ("png", "svg")
"""What is written under a name without an ending: one for looking at, one for printing."""

USUAL = ("pdf", "png", "svg")
"""Formats that are known without asking Matplotlib, which takes half a second to load."""

# What Matplotlib would write by itself and what differs from day to day; where a sentence of ours goes.
_DATED = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}
_ABOUT = {"png": "Description", "svg": "Description", "pdf": "Subject"}


def save_figure(drawn: Figure | Axes | Sequence[Axes], path: str | PathLike[str], *, about: str = "") -> list[Path]:
    """Write a figure to files that are whole or not there.

    Parameters
    ----------
    drawn
        A figure, or axes of it.
    path
        With an ending that Matplotlib knows (``.pdf``, ``.svg``, ``.png``, …) that format is written; a name without
        an ending gets ``.png`` and ``.svg`` appended. Text stays text in SVG and PDF.
    about
        Where the figure comes from: kept inside PNG, SVG and PDF files.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    InvalidParameter
        If the name has an ending that is no format.
    """
    import matplotlib as mpl

    figure, stem, kind = _figure(drawn), Path(path), format_of(path)
    files = {stem: kind} if kind else {stem.with_name(f"{stem.name}.{each}"): each for each in BOTH}
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sottovoce", "pdf.fonttype": 42}):
        for file, form in files.items():
            how: dict[str, Any] = {"format": form, "dpi": 160, "metadata": _metadata(form, about)}
            write_atomically(file, lambda draft, how=how: figure.savefig(draft, **how))  # type: ignore[misc]
    return list(files)


def format_of(path: str | PathLike[str], name: str = "path") -> str:
    """The format that a name asks for by its ending; empty if it has none: the 0.9 of ``run-0.9`` is no ending.

    Examples
    --------
    >>> format_of("figure.PDF"), format_of("run-0.9")
    ('pdf', '')
    """
    ending = Path(path).suffix
    kind = ending.lower().removeprefix(".")
    if kind in USUAL:
        return kind
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    if kind in known or not kind.isalpha():
        return kind if kind in known else ""
    endings = ", ".join(f".{each}" for each in sorted(known))
    raise InvalidParameter(f"{name} must have no ending, or that of a format ({endings}), got {ending!r}")


def _metadata(form: str, about: str) -> dict[str, Any] | None:
    if form not in _DATED:
        return None
    return {_DATED[form]: None} | ({_ABOUT[form]: about} if about else {})


def _figure(drawn: Figure | Axes | Sequence[Axes]) -> Figure:
    from matplotlib.figure import Figure

    if isinstance(drawn, Figure):
        return drawn
    axes: Any = drawn[0] if isinstance(drawn, Sequence) else drawn
    owner: Any = axes.figure  # may be a part of a figure
    figure: Figure = owner if isinstance(owner, Figure) else owner.figure
    return figure
