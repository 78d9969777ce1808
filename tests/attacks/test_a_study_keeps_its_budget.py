"""One row, or one party's rows, never changes what parties contribute by more than the noise of a study is made for."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from sottovoce.statistics import PlainSum, Study, Table, releasing, run_study
from sottovoce.statistics.running import _plan

from ..statistics import made
from ..statistics.test_releasing import study


def contributed(declared: Study, tables: list[Table], high: float) -> np.ndarray:
    """What all parties contribute together, counts and values, without the noise."""
    plain = PlainSum(made.PARTIES, high)

    async def everybody() -> None:
        pairs = zip(tables, plain.parties(), strict=True)
        await asyncio.gather(*(run_study(declared, table, party, topic="t") for table, party in pairs))

    asyncio.run(everybody())
    given = {topic.split("/")[2].split()[0]: np.sum(plain.given[topic], axis=0) for topic in list(plain.given)[1:]}
    return np.concatenate([given["counts"], given["values"]])


def only(table: Table, rows: np.ndarray, clipped: dict[str, int]) -> Table:
    """Some rows of a table."""
    return Table({name: numbers[rows] for name, numbers in table.columns.items()}, clipped, int(rows.sum()))


def shift(declared: Study, before: np.ndarray, after: list[Table], high: float) -> float:
    """ρ of this very pair: squared differences over twice the variance of four shares, summed up."""
    plan = _plan(declared, int(high).bit_length() - 1)
    assert plan is not None
    parts = zip(plan.parts, plan.blurs, strict=True)
    variances = [blur.variance for part, blurs in parts for _ in range(part.cells) for blur in blurs]
    moved = before - contributed(declared, after, high)
    assert len(variances) == len(moved)
    return float(np.sum(moved**2 / (2.0 * 4 * np.array(variances))))


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No noise: only what it has to cover."""
    monkeypatch.setattr(releasing, "discrete_gaussian", lambda variance, below: 0)


@pytest.mark.parametrize("high", [2.0**20, 2.0**14])
def test_no_row_moves_more_than_is_paid_for(tmp_path, quiet, high):
    """Each of eight rows taken out, and rows at corners of the bounds put in."""
    declared = study(epsilon=3.0)
    tables = list(made.tables(declared, tmp_path).values())
    allowed = _plan(declared, int(high).bit_length() - 1).cost(4).rho
    first, before = tables[0], contributed(declared, tables, high)
    found = []
    for out in range(8):
        keep = np.arange(first.num_rows) != out
        found.append(shift(declared, before, [only(first, keep, first.clipped), *tables[1:]], high))
    for salary, age in ((0, 64), (20_000_000, 64)):
        row = {"salary": salary, "age": age, "gender": 1, "job": 1}
        more = {name: np.append(numbers, row[name]) for name, numbers in first.columns.items()}
        extreme = Table(more, {"salary": 1, "age": 0}, first.num_rows + 1)
        found.append(shift(declared, before, [extreme, *tables[1:]], high))
    assert max(found) <= allowed * (1 + 1e-9)
    assert max(found) > 0.9 * allowed  # the worst row uses it up: no noise is wasted


def test_no_party_moves_more_than_is_paid_for(tmp_path, quiet):
    """A party with as many rows as allowed, all at the upper bounds, or with none."""
    high = 2.0**20
    declared = study(epsilon=3.0, protects="party")
    tables = list(made.tables(declared, tmp_path).values())
    full = {"salary": np.full(500, 20_000_000), "age": np.full(500, 64), "gender": np.ones(500, int)}
    extreme = Table({**full, "job": np.ones(500, int)}, {"salary": 500, "age": 0}, 500)
    none = only(extreme, np.zeros(500, bool), {"salary": 0, "age": 0})
    moved = shift(declared, contributed(declared, [extreme, *tables[1:]], high), [none, *tables[1:]], high)
    allowed = _plan(declared, 20).cost(4).rho
    assert 0.9 * allowed < moved <= allowed * (1 + 1e-9)
