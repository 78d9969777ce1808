"""No value of a group smaller than a study declares is in its report, or in what peers contribute to it."""

from __future__ import annotations

import asyncio

import pytest

from sottovoce.statistics import PlainSum, Study, StudyReport, run_study, run_together

from ..statistics import made

SMALLEST = 20
FEW = 5
HEAD = """
[study]
name = "x"
smallest_group = 5
most_rows = 1000
[columns.salary]
low = 0
high = 250000
unit = 1
[columns.dept]
categories = ["a", "b", "c", "d"]
[columns.ill]
categories = ["no", "yes"]
[columns.parent]
low = 0
high = 1
unit = 1
[columns.cars]
low = -9
high = 9
unit = 1
"""


def reported(folder, statistics: str, rows: list[str]) -> StudyReport:
    """The report over these rows (salary, dept, ill, parent, cars; the last ones may be left out), of two parties."""
    declared = Study.from_text(HEAD + statistics)
    filled = [",".join([*row.split(","), *("no", "0", "0")[row.count(",") - 1 :]]) for row in rows]
    tables = {}
    for name, own in (("ada", filled[::2]), ("bob", filled[1::2])):
        (folder / f"{name}.csv").write_text("\n".join(["salary,dept,ill,parent,cars", *own]) + "\n")
        tables[name] = declared.read(folder / f"{name}.csv")
    return run_together(declared, tables)


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


def test_what_is_hidden_of_a_line_is_a_group_together(tmp_path):
    """The total less all sums that are shown is that of two persons, of whom each knows itself."""
    statistics = """
[statistics.parts]
kind = "sum"
column = "salary"
by = ["dept"]
[statistics.all]
kind = "sum"
column = "salary"
"""
    rows = [f"{40000 + 100 * k},a" for k in range(20)] + ["123456,b", "77777,c"]
    report = reported(tmp_path, statistics, rows + [f"{60000 + k},d" for k in range(6)])
    (whole,) = report["all"]
    shown = [row for row in report["parts"] if row["count"]]
    rest = whole["count"] - sum(row["count"] for row in shown)
    assert shown
    assert rest >= FEW
    assert whole["sum"] - sum(row["sum"] for row in shown) != 123456 + 77777


def test_one_table_does_not_tell_what_another_hides(tmp_path):
    """The count by department hides one with two rows and another; the shares of those who are ill must not show it."""
    statistics = """
[statistics.parts]
kind = "count"
by = ["dept"]
[statistics.ill]
kind = "proportion"
column = "ill"
by = ["dept"]
[statistics.where]
kind = "proportion"
column = "dept"
by = ["ill"]
"""
    people = {"a": (60, 6), "b": (1, 1), "c": (6, 6), "d": (30, 30)}
    rows = [f"1,{dept},{ill}" for dept, both in people.items() for ill, n in zip(("no", "yes"), both, strict=True)
            for _ in range(n)]  # fmt: skip
    report = reported(tmp_path, statistics, rows)
    hidden = [row["dept"] for row in report["parts"] if row["count"] is None]
    assert hidden == ["b", "c"]
    for name in ("ill", "where"):
        for dept in hidden:
            shown = [row.get("ill") for row in report[name] if row["dept"] == dept and row["count"] is not None]
            assert len(shown) < 2
