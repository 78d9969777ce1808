"""No value of a group smaller than a study declares is in its report, or in what peers contribute to it."""

from __future__ import annotations

import asyncio

import pytest

from sottovoce.statistics import PlainSum, run_study

from ..statistics import made

SMALLEST = 20


def contributions(folder, statistics: str):
    """What every party put into each topic, and the report."""
    declared = made.study(statistics, SMALLEST)
    rows, plain = made.tables(declared, folder), PlainSum(made.PARTIES)

    async def everybody():
        pairs = zip(rows.values(), plain.parties(), strict=True)
        return (await asyncio.gather(*(run_study(declared, table, party, topic="t") for table, party in pairs)))[0]

    return asyncio.run(everybody()), plain.given


def test_small_cells_are_not_in_the_report_and_do_not_follow_from_it(tmp_path):
    """One cell alone is never missing: it would be the total less the others."""
    report, _ = contributions(tmp_path, made.EVERYTHING)
    sizes = made.pooled().groupby(["gender", "job"]).size().to_dict()
    shown = {(row["gender"], row["job"]): row["count"] for row in report["people"]}
    hidden = [cell for cell, count in shown.items() if count is None]
    assert {cell for cell, size in sizes.items() if size < SMALLEST} <= set(hidden)
    assert hidden
    for place in (0, 1):  # the totals of each gender and of each job are known from other statistics
        for word in {cell[place] for cell in shown}:
            assert sum(cell[place] == word for cell in hidden) != 1
    for name in ("jobs", "bands"):
        rows = report[name]
        assert all(row["count"] is None or row["count"] == 0 or row["count"] >= SMALLEST for row in rows)
        assert sum(row["count"] is None for row in rows) != 1
    smiths = [row for row in report["total"] if row["job"] == "smith"]
    assert smiths == [{"job": "smith", "count": None}]


def test_nobody_contributes_values_of_small_cells(tmp_path):
    """A party that reads the sums with a program of its own finds zeros where a cell is too small."""
    statistics = '[statistics.total]\nkind = "sum"\ncolumn = "salary"\nby = ["job"]\n'
    _, given = contributions(tmp_path, statistics)
    sizes = made.pooled().groupby("job").size()
    assert sizes["smith"] < SMALLEST <= sizes["clerk"] <= sizes["cook"]
    for values in given["t/pay/values"]:
        third = len(values) // 3
        cook, clerk, smith = values[:third], values[third : 2 * third], values[2 * third :]
        assert any(cook)
        assert not any(clerk)  # with it the smiths' sum would follow from that of all rows
        assert not any(smith)


@pytest.mark.parametrize("end", [0, 1])
def test_extremes_are_shared_by_a_group(tmp_path, end):
    """At least as many values as the smallest group lie at or beyond what is reported."""
    report, _ = contributions(tmp_path, made.EVERYTHING)
    row, ages = report["ends"][end], made.pooled()["age"]
    beyond = (ages <= row["from"]).sum() if end == 0 else (ages >= row["from"]).sum()
    assert beyond >= SMALLEST
