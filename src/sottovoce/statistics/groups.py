"""Which cells of a study are counted, and which of them may be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .base import Cell, Row, Statistic, cells_of
from .columns import Categories
from .hiding import Counts, hidden_in
from .sides import cells_of_sides, few_in, joint_of
from .study import Study

__all__ = ["Groups", "cells_asked"]


def _tables(study: Study) -> dict[tuple[Categories, ...], tuple[Categories, ...] | None]:
    """The columns of all tables of counts, and of the coarser ones within whose cells they are shown.

    Released tables do not add up, so shares are not counted among them.
    """
    tables: dict[tuple[Categories, ...], tuple[Categories, ...] | None] = {(): None}
    tables |= dict.fromkeys(statistic.by for statistic in study.statistics)
    if study.release is None:
        tables |= {s.tabled: s.by for s in study.statistics if s.tabled != s.by}
    return tables


def _joint(study: Study) -> tuple[Categories, ...]:
    """The columns of several tables that are looked at together."""
    return joint_of(_tables(study)) if study.release is None else ()


def cells_asked(study: Study) -> list[Cell]:
    """All cells whose rows are counted; one of them is that of all rows."""
    exact = study.statistics if study.release is None else ()
    apart = {cell for statistic in exact for cell in statistic.apart()} | cells_of_sides(exact)
    tables = {*_tables(study), _joint(study)}
    return sorted({cell for columns in tables for cell in cells_of(columns)} | apart)


@dataclass(frozen=True)
class Groups:
    """Rows of every cell over all parties, and which cells are not shown."""

    counts: Mapping[Cell, int]
    hidden: frozenset[Cell]
    refused: Mapping[str, str]
    """By name, the statistics of which nothing is shown, and why."""
    few: frozenset[tuple[str, Cell]] = frozenset()
    """Cells that are large enough, but whose sums would tell of few, by the name of the statistic."""

    @classmethod
    def of(cls, study: Study, counts: Mapping[Cell, int]) -> Groups:
        """What one exact table hides must not follow from another."""
        tables = [_table(columns, within, counts) for columns, within in _tables(study).items()]
        asked, joint = len(tables), _joint(study)
        tables += [replace(_table(joint, None, counts), shown=False)] if joint else []
        smallest = study.smallest_group
        together = study.release is None
        found = hidden_in(tables, smallest) if together else [hidden_in([each], smallest)[0] for each in tables]
        cells = [cell for columns in _tables(study) for cell in cells_of(columns)]
        marked = [bool(each) for table in found[:asked] for each in table.ravel()]
        hidden = frozenset(cell for cell, each in zip(cells, marked, strict=True) if each)
        few = few_in(study.statistics, counts, hidden, smallest) if together else frozenset()
        exact = study.statistics if together else ()
        why = {statistic.name: statistic.refused(counts, smallest) for statistic in exact}
        refused = {name: each for name, each in why.items() if each is not None}
        return cls(counts, hidden, refused, few)

    def shown(self, statistic: Statistic, cell: Cell) -> bool:
        """Whether a cell of a statistic may be decoded."""
        asked = statistic.name not in self.refused and (statistic.name, cell) not in self.few
        return asked and self.counts[cell] > 0 and cell not in self.hidden

    def instead(self, statistic: Statistic, cell: Cell, smallest: int) -> Row:
        """What stands for a cell that is not shown."""
        if cell in self.hidden:
            return {"count": None}
        if (statistic.name, cell) in self.few:
            return {"count": None, "why": f"it would tell about fewer than {smallest} rows"}
        return {"count": 0}


def _table(columns: Sequence[Categories], within: Sequence[Categories] | None, counts: Mapping[Cell, int]) -> Counts:
    numbers = np.array([counts[cell] for cell in cells_of(columns)], dtype=np.int64)
    coarser = None if within is None else tuple(column.name for column in within)
    shape = [len(column.words) for column in columns]
    return Counts(tuple(column.name for column in columns), numbers.reshape(shape), coarser)
