"""The table of a sweep, cut for figures: which settings vary, what shares a band, a curve or a panel.

Nothing is pooled without being asked for, except replicas and seeds. A setting that varies and was not given a place
gets panels of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import InvalidParameter
from ..foundation.text import number_in
from ..plotting.sweeps import settings_of

if TYPE_CHECKING:
    import pandas

__all__ = ["MOST_PANELS", "Panel", "chosen_rows", "panels_of", "steps_to"]

MOST_PANELS = 12


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes: what its runs have in common, and their rows."""

    title: str
    frame: pandas.DataFrame


def chosen_rows(frame: pandas.DataFrame, where: Mapping[str, str]) -> pandas.DataFrame:
    """The rows of runs that succeeded and have these settings, as somebody typed them.

    A random graph that was drawn from the run's seed is named ``rgg:100:seed=*``: it varies with the seed of the run.

    Raises
    ------
    InvalidParameter
        If a column or a value is not in the table.
    """
    rows = _graphs_without_seeds(frame[frame.status != "failed"])
    for name, text in where.items():
        known = sorted(rows[_column(rows, name)].dropna().unique().tolist())
        number = number_in(text)
        found = [each for each in known if each == text or (number is not None and each == number)]
        if not found:
            raise InvalidParameter(f"{name} must be one of {', '.join(map(_text, known))}, got {text!r}")
        rows = rows[rows[name] == found[0]]
    return rows


def panels_of(
    frame: pandas.DataFrame, by: Sequence[str], *, pool: Sequence[str] = (), most_curves: int | None = None
) -> tuple[list[Panel], list[str]]:
    """Panels, and those of the columns ``by`` that tell curves apart inside each.

    Parameters
    ----------
    frame
        The rows to draw.
    by
        What tells curves apart (or the two axes of a map).
    pool
        What may share a band; seeds always may.
    most_curves
        With more curves than this, the first columns of ``by`` become panels too; ``None``: never.

    Raises
    ------
    InvalidParameter
        If a column is not there, or there would be more than 12 panels.
    """
    curves = [_column(frame, name) for name in by]
    pooled = {"seed", *(_column(frame, name) for name in pool)}
    several = [name for name in settings_of(frame) if frame[name].nunique() > 1]  # none at all is no second value
    rest = [name for name in several if name not in pooled and name not in curves]
    while most_curves is not None and len(curves) > 1 and len(frame[curves].drop_duplicates()) > most_curves:
        rest.append(curves.pop(0))
    panels = [Panel("", frame)]
    for name in rest:
        panels = [part for panel in panels for part in _split(panel, name)]
    if len(panels) > MOST_PANELS:
        counts = ", ".join(f"{name} ({frame[name].nunique()})" for name in rest)
        raise InvalidParameter(
            f"{len(panels)} panels would be needed for {counts}, at most {MOST_PANELS} are drawn; choose with "
            "--where COLUMN=VALUE, or pool with --pool COLUMN"
        )
    return panels, curves


def steps_to(frame: pandas.DataFrame, accuracy: float) -> pandas.DataFrame:
    """One row per run: the first recorded step at which the median relative error is at most ``accuracy``."""
    median = frame.groupby(["run", "step"], as_index=False).relative_error.median()
    first = median[median.relative_error <= accuracy].groupby("run", as_index=False).step.min()
    runs = frame.drop_duplicates("run").drop(columns=["step"])
    return runs.merge(first, on="run", how="left")


def _column(frame: pandas.DataFrame, name: str) -> str:
    if name not in frame.columns:
        raise InvalidParameter(f"column must be one of {', '.join(frame.columns)}, got {name!r}")
    return name


def _split(panel: Panel, name: str) -> list[Panel]:
    """A panel for each value of a column; runs that have none, such as those without noise, are on all of them."""
    values = panel.frame[name]
    parts = []
    for each in sorted(values.dropna().unique().tolist()):
        title = ", ".join(filter(None, [panel.title, f"{name} = {_text(each)}"]))
        parts.append(Panel(title, panel.frame[(values == each) | values.isna()]))
    return parts or [panel]


def _graphs_without_seeds(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The table with ``rgg:100:seed=*`` for ``rgg:100:seed=3`` where each seed of a run has one such graph."""
    families = frame.graph.str.replace(r":seed=\d+", ":seed=*", regex=True)
    each = frame.graph.groupby([families, frame.seed]).nunique()
    if families.nunique() == frame.graph.nunique() or each.max() > 1:
        return frame
    return frame.assign(graph=families)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
