"""What a report tells those who know a part already: competitors that took part, and whoever has an earlier report.

Whoever tries a study out with made-up files (:func:`.run_together`) can ask here what it would give away. Both
questions are about exact sums, so that subtraction is all it takes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from fractions import Fraction

from ..errors import InvalidParameter
from .base import Row
from .exact import rounded
from .moments import Mean
from .report import StudyReport
from .table import Table

__all__ = ["difference", "known_to"]


def known_to(
    coalition: Collection[str], report: StudyReport, tables: Mapping[str, Table], name: str, *, spread: float
) -> list[Row]:
    """What parties that put their own rows together know of each other party's mean, at worst.

    They subtract their own rows from each sum. What is left is the sum of the others; of its parts they are taken to
    know the number of rows of each, and before the study each mean to ± ``spread``, independent and Gaussian. So a
    party of n rows is known to spread · √(1 − n²/Σn²) after it, the sum over all others: exactly if it is alone.

    Parameters
    ----------
    coalition
        Names of those who work together.
    report, tables
        The report over these tables, by party.
    name
        Of a statistic of kind ``mean``.
    spread
        How well they knew the others' means before, as a standard deviation.

    Returns
    -------
    list of dict
        For each cell that is shown and each other party with rows in it: the words of the cell, ``party``, its
        ``rows``, and ``left``: the standard deviation to which its mean is known; 0 means exactly.
    """
    statistic = _mean(report, name)
    stranger = sorted(set(coalition) - set(tables))
    if stranger:
        raise InvalidParameter(f"coalition must be of {', '.join(tables)}, got {', '.join(stranger)}")
    rows: list[Row] = []
    for cell, shown in zip(statistic.cells, _rows(report, statistic), strict=True):
        if not shown.get("count"):
            continue
        sizes = {party: table.where(cell).num_rows for party, table in tables.items() if party not in coalition}
        squares = sum(size**2 for size in sizes.values())
        for party, size in sizes.items():
            if size:
                left = spread * math.sqrt(1.0 - size**2 / squares)
                rows.append(statistic.words(cell) | {"party": party, "rows": size, "left": left})
    return rows


def difference(before: StudyReport, after: StudyReport, name: str) -> list[Row]:
    """What two reports of one study tell of rows that are in the first one only.

    Parameters
    ----------
    before, after
        The reports.
    name
        Of a statistic of kind ``mean``.

    Returns
    -------
    list of dict
        For each cell that both show: its words, ``count`` and ``sum`` of the rows that are missing from the second, and
        their ``mean`` if there are any. If there is noise in the reports, its deviation in the mean is ``noise``.
    """
    statistic = _mean(before, name)
    unit = Fraction(statistic.column.unit)
    rows: list[Row] = []
    for one, other in zip(_rows(before, statistic), _rows(after, statistic), strict=True):
        if one.get("mean") is None or other.get("mean") is None:
            continue
        count = one["count"] - other["count"]
        exact = one["count"] * Fraction(one["mean"]) - other["count"] * Fraction(other["mean"])
        total = rounded(round(exact / unit) * unit)
        row = {word: one[word] for word in one if word not in {"count", "mean", "noise"}}
        row |= {"count": count, "sum": total, "mean": total / count if count > 0 else None}
        if "noise" in one and count > 0:
            row["noise"] = math.hypot(one["count"] * one["noise"], other["count"] * other["noise"]) / count
        rows.append(row)
    return rows


def _rows(report: StudyReport, statistic: Mean) -> list[Row]:
    """A row for each cell; without numbers if the report shows nothing of the statistic."""
    rows, cells = report[statistic.name], statistic.cells
    return rows if len(rows) == len(cells) else [{}] * len(cells)


def _mean(report: StudyReport, name: str) -> Mean:
    known = {statistic.name: statistic for statistic in report.study.statistics}
    found = known.get(name)
    if not isinstance(found, Mean):
        means = [each for each, statistic in known.items() if isinstance(statistic, Mean)]
        raise InvalidParameter(f"name must be that of a mean, one of {', '.join(means)}, got {name!r}")
    return found
