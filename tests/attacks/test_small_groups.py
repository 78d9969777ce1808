"""No value of a group smaller than a study declares is in its report, or in what peers contribute to it."""

from __future__ import annotations

import asyncio
from itertools import combinations, pairwise, product

import numpy as np
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
    beyond = (ages < row["to"]).sum() if end == 0 else (ages >= row["from"]).sum()
    assert beyond >= SMALLEST
    assert ((row["from"] <= ages) & (ages < row["to"])).sum() >= SMALLEST


def test_extremes_with_fine_bins_are_intervals_with_a_group_in_them(tmp_path):
    """However narrow the bins are, nobody's own value can be read from the end of all values."""
    statistics = '[statistics.ends]\nkind = "extremes"\ncolumn = "salary"\nbins = 10000\n'
    salaries = [40000 + 1117 * k for k in range(40)]
    report = reported(tmp_path, statistics, [f"{salary},a" for salary in salaries])
    lowest, highest = report["ends"]
    for row, beyond in (
        (lowest, [s for s in salaries if s < lowest["to"]]),
        (highest, [s for s in salaries if s >= highest["from"]]),
    ):
        assert sum(row["from"] <= salary < row["to"] for salary in salaries) >= FEW
        assert len(beyond) >= FEW


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
    """The few of a department follow from no equations between counts by department and shares in it and of it."""
    statistics = """
[statistics.parts]
kind = "count"
by = ["dept"]
[statistics.sick]
kind = "proportion"
column = "ill"
by = ["dept"]
[statistics.where]
kind = "proportion"
column = "dept"
by = ["ill"]
"""
    sizes = {"a": (6, 60), "b": (1, 1), "c": (40, 6), "d": (30, 30)}
    cells = [(dept, ill) for dept in sizes for ill in ("no", "yes")]
    rows = [f"1,{dept},{ill}" for dept, ill in cells for _ in range(sizes[dept][ill == "yes"])]
    report = reported(tmp_path, statistics, rows)
    shown = [row for result in report.results for row in result.rows if row["count"] is not None]
    totals = [{}, {"ill": "no"}, {"ill": "yes"}]
    equations = [
        [row.get("dept", dept) == dept and row.get("ill", ill) == ill for dept, ill in cells] for row in shown + totals
    ]
    *_, ways = np.linalg.svd(np.array(equations, dtype=float))
    free = ways[np.linalg.matrix_rank(np.array(equations, dtype=float)) :]
    assert all(np.abs(free[:, cells.index(("b", ill))]).max(initial=0.0) > 1e-9 for ill in ("no", "yes"))


LINEAR = '[statistics.model]\nkind = "linear"\noutcome = "salary"\npredictors = [{}]\n'
LOGISTIC = '[statistics.model]\nkind = "logistic"\noutcome = "ill"\npredictors = [{}]\n'


def people(number: int) -> list[list[str]]:
    """Rows in which no group is small."""
    return [[str(40000 + 700 * (k % 17)), "abcd"[k % 4], ("no", "yes")[k // 4 % 2], str(k // 8 % 2), str(k % 5 - 2)]
            for k in range(number)]  # fmt: skip


@pytest.mark.parametrize("model", [LINEAR, LOGISTIC])
@pytest.mark.parametrize(
    ("column", "changed", "few"),
    [
        ("dept", {"only": "d"}, "dept = d"),
        ("dept", {"all": "b", 0: {5: "a"}}, "dept = a"),
        ("parent", {"all": "0", 3: {9: "1"}}, "parent = 1"),
        ("parent", {"all": "1", 3: {9: "0"}}, "parent = 0"),
        ("cars", {"all": "0", 4: {9: "7"}}, "cars ≠ 0"),
        ("cars", {"all": "-9", 4: {9: "7", 10: "1"}}, "cars ≠ -9"),
        ("cars", {"all": "9", 4: {9: "7"}}, "cars ≠ 9"),
    ],
)
def test_no_term_of_a_regression_is_about_few(tmp_path, model, column, changed, few):
    """A word, or a number other than that of all others, that few have: the constant and a coefficient are theirs."""
    place = ["salary", "dept", "ill", "parent", "cars"].index(column)
    rows = people(80)
    if "only" in changed:
        for row in rows[6:]:
            row[place] = "a" if row[place] == changed["only"] else row[place]
    if "all" in changed:
        for row in rows:
            row[place] = changed["all"]
    for where in changed.values():
        for number, value in where.items() if isinstance(where, dict) else ():
            rows[number][place] = value
    rows[9][0] = "123456"
    report = reported(tmp_path, model.format(f'"{column}"'), [",".join(row) for row in rows])
    assert all(row["coefficient"] is None and row["standard error"] is None for row in report["model"])
    assert few in report["model"][0]["why"]


def test_two_terms_that_differ_in_few_rows_tell_of_them(tmp_path):
    """All parents but one are in department a: the difference of the terms is that one."""
    rows = [[pay, "ab"[int(parent)], ill, parent, cars] for pay, _, ill, parent, cars in people(80)]
    rows[9][:2] = ["123456", "b" if rows[9][1] == "a" else "a"]
    report = reported(tmp_path, LINEAR.format('"parent", "dept"'), [",".join(row) for row in rows])
    assert all(row["coefficient"] is None for row in report["model"])
    assert "compared with" in report["model"][0]["why"]


def test_odds_are_not_those_of_few(tmp_path):
    """One person of a department is ill: the odds there, and how many work there, tell so."""
    rows = people(80)
    for row in rows:
        row[2] = "no" if row[1] == "a" else row[2]
    rows[4][2] = "yes"
    report = reported(tmp_path, LOGISTIC.format('"dept"'), [",".join(row) for row in rows])
    assert all(row["coefficient"] is None for row in report["model"])
    assert report["model"][0]["why"] == "fewer than 5 rows: ill = yes, dept = a"


@pytest.mark.parametrize(("number", "shown"), [(7, False), (8, True)])
def test_a_regression_has_more_rows_than_terms(tmp_path, number, shown):
    """By as many as the smallest group: with fewer, the residuals of a few persons are left."""
    rows = [f"{1000 * k * k},a,no,0,{k % 7}" for k in range(number)]
    statistics = LINEAR.format('"cars", "age"').replace(
        "[statistics", "[columns.age]\nlow = 0\nhigh = 99\nunit = 1\n[statistics"
    )
    declared = Study.from_text(HEAD + statistics)
    (tmp_path / "a.csv").write_text(
        "\n".join(["salary,dept,ill,parent,cars,age", *(f"{row},{k * k % 50}" for k, row in enumerate(rows))])
    )
    table = declared.read(tmp_path / "a.csv")
    report = run_together(declared, {"ada": table, "bob": table.where([("dept", 3)])})
    assert all((row["coefficient"] is not None) == shown for row in report["model"][:3])


def test_nobody_contributes_to_a_regression_that_is_not_shown(tmp_path):
    """A party that reads the sums with a program of its own finds zeros."""
    statistics = '[statistics.model]\nkind = "linear"\noutcome = "salary"\npredictors = ["job"]\n'
    report, given = contributions(tmp_path, statistics)
    assert report["model"][0]["why"] == "fewer than 20 rows: job = smith"
    assert not any(any(values) for values in given["t/pay/values"])


def test_regressions_of_large_groups_are_shown(tmp_path):
    """All terms of both, with what pandas would tell in the constant."""
    rows = [",".join(row) for row in people(80)]
    for model in (LINEAR, LOGISTIC):
        report = reported(tmp_path, model.format('"dept", "cars"'), rows)
        assert all(row["coefficient"] is not None for row in report["model"])


def test_quantiles_show_no_value_of_few(tmp_path):
    """Whatever is asked for: each interval has a group in it, and a group at or beyond it on both sides."""
    shares = ", ".join(str(each) for each in [0.000001, *np.linspace(0.005, 1, 200).round(6).tolist()])
    statistics = f'[statistics.q]\nkind = "quantiles"\ncolumn = "salary"\nbins = 10000\nprobabilities = [{shares}]\n'
    pay = np.sort(np.random.default_rng(3).lognormal(10.6, 0.5, 150).clip(0, 249999).astype(int))
    report = reported(tmp_path, statistics, [f"{each},a" for each in pay])
    intervals = [(row["from"], row["to"]) for row in report["q"]]
    for low, high in intervals:
        assert ((low <= pay) & (pay < high)).sum() >= FEW
        assert (pay < high).sum() >= FEW
        assert (pay >= low).sum() >= FEW
    different = sorted(set(intervals))
    assert all(one[1] <= other[0] for one, other in pairwise(different))
    assert len(different) > 8
    exact = np.quantile(pay, [0.25, 0.5, 0.75], method="inverted_cdf")
    found = [next(each for each, row in zip(intervals, report["q"], strict=True) if row["probability"] == p)
             for p in (0.25, 0.5, 0.75)]  # fmt: skip
    assert all(low <= value < high for value, (low, high) in zip(exact, found, strict=True))


def test_quantiles_of_one_group_tell_where_all_of_it_is(tmp_path):
    """And nothing of any of its five values."""
    statistics = '[statistics.q]\nkind = "quantiles"\ncolumn = "salary"\nbins = 10000\nprobabilities = [0.5, 1]\n'
    report = reported(tmp_path, statistics, [f"{each},a" for each in (10, 20, 30, 40, 200_000)])
    assert {(row["from"], row["to"]) for row in report["q"]} == {(0, 204_800)}


BINS = '[statistics.{}]\nkind = "histogram"\ncolumn = "salary"\nbins = {}\nby = [{}]\n'


def between(*statistics: list[dict]) -> list[int]:
    """What the differences of histograms tell: the values between each two edges of which both are known."""
    below = {0: 0}
    for rows in statistics:
        if any("from" not in row for row in rows):
            continue
        for row in rows:  # up to what is hidden, and down to it from the total
            if row["count"] is None:
                break
            below[row["to"]] = below[row["from"]] + row["count"]
        below[250_000] = 83
        for row in reversed(rows):
            if row["count"] is None:
                break
            below[row["from"]] = below[row["to"]] - row["count"]
    edges = sorted(below)
    return [below[end] - below[begin] for begin, end in pairwise(edges)]


ROWS = ["1000,a"] * 3 + ["70000,a"] * 40 + ["130000,a"] * 10 + ["200000,b"] * 30


@pytest.mark.parametrize("bins", [(4, 2), (2, 4), (5, 4, 2), (2, 250, 3)])
def test_two_histograms_do_not_tell_what_one_hides(tmp_path, bins):
    """Three persons are below 62,500: the wider bins less the narrower ones told so."""
    statistics = "".join(BINS.format(f"h{k}", number, "") for k, number in enumerate(bins))
    report = reported(tmp_path, statistics, ROWS)
    assert not any(0 < count < FEW for count in between(*(report[f"h{k}"] for k in range(len(bins)))))
    assert len(report["h0"]) == bins[0]
    assert report["h1"] == [{"count": None, "why": "with h0 it would tell about fewer than 5 rows"}]


LARGE = ["10000,a"] * 30 + ["140000,a"] * 30 + ["200000,a"] * 30
QUANTILES = '[statistics.q]\nkind = "quantiles"\ncolumn = "salary"\nbins = {}\nprobabilities = [0.3, 0.5, 0.9]\n'


@pytest.mark.parametrize(("more", "shown"), [([], True), (["100000,a"], False)])
def test_other_edges_do_not_tell_who_is_between_them(tmp_path, more, shown):
    """No bin of either is small, and yet one person alone is between a third and a half of the range."""
    report = reported(tmp_path, BINS.format("h2", 2, "") + BINS.format("h3", 3, ""), LARGE + more)
    assert [row["count"] for row in report["h2"]] == [30 + len(more), 60]
    assert ("why" not in report["h3"][0]) == shown
    assert len(report["h3"]) == (3 if shown else 1)


def test_the_histogram_of_all_does_not_tell_that_of_a_hidden_group(tmp_path):
    """Two departments are hidden, eight persons together; all bins less those of the others had one of them each."""
    rows = [f"{30_000 * k + 100},a" for k in range(8) for _ in range(20)]
    rows += [f"{30_000 * k + 200},{'bc'[k % 4 > 0]}" for k in range(8)]
    report = reported(tmp_path, BINS.format("parts", 8, '"dept"') + BINS.format("all", 8, ""), rows)
    assert {row["dept"]: row["count"] for row in report["parts"] if row["dept"] in "bc"} == {"b": None, "c": None}
    assert report["all"] == [{"count": None, "why": "with parts it would tell about fewer than 5 rows"}]


@pytest.mark.parametrize("order", [1, -1])
def test_quantiles_do_not_tell_what_a_histogram_hides(tmp_path, order):
    """And the other way round; the first is shown."""
    both = [BINS.format("h", 4, ""), QUANTILES.format(1000)][::order]
    report = reported(tmp_path, "".join(both), ROWS)
    assert ("why" in report["q"][0], "why" in report["h"][0]) == (order == 1, order == -1)
    report = reported(tmp_path, "".join(both), LARGE)
    assert ("why" in report["q"][0], "why" in report["h"][0]) == (False, False)


def test_two_lists_of_quantiles_do_not_tell_more_than_one(tmp_path):
    """Where the wide bin of one has a narrow one of the other in it, what is left of it may be one person."""
    one = QUANTILES.format(16).replace("[0.3, 0.5, 0.9]", "[0.055]")
    other = QUANTILES.format(16).replace("[0.3, 0.5, 0.9]", "[0.03]").replace(".q]", ".p]")
    report = reported(tmp_path, one + other, ["100,a"] * 5 + ["20000,a"] + ["32000,a"] * 100)
    assert (report["q"][0]["from"], report["q"][0]["to"]) == (0, 31250)
    assert "why" in report["p"][0]


ENDS = '[statistics.{}]\nkind = "extremes"\ncolumn = "salary"\nbins = {}\n'


def in_common(*results: list[dict]) -> tuple[float, float]:
    """Where the fifth lowest value lies, by all of them together."""
    lowest = [row for rows in results for row in rows if row.get("end") == "lowest"]
    return max(row["from"] for row in lowest), min(row["to"] for row in lowest)


@pytest.mark.parametrize("order", [1, -1])
def test_extremes_in_different_bins_do_not_tell_one_value_together(tmp_path, order):
    """The fifth lowest is in the first half, and after the first third: one person alone is there."""
    pay = [10_000] * 4 + [100_000] + [130_000] * 4 + [240_000] * 30
    statistics = [ENDS.format("e2", 2), ENDS.format("e3", 3)][::order]
    report = reported(tmp_path, "".join(statistics), [f"{each},a" for each in pay])
    low, high = in_common(report["e2"], report["e3"])
    assert sum(low <= each < high for each in pay) >= FEW
    assert ["why" in report[name][0] for name in ("e2", "e3")][::order] == [False, True]


def test_extremes_and_a_histogram_do_not_tell_one_value_together(tmp_path):
    """The fifth lowest is in the first third by the one, and in the second half of that by the other."""
    pay = [10_000] * 4 + [70_000] + [100_000] * 5 + [200_000] * 30
    report = reported(tmp_path, BINS.format("h", 3, "") + ENDS.format("e", 4), [f"{each},a" for each in pay])
    assert [row["count"] for row in report["h"]] == [5, 5, 30]
    assert report["e"] == [{"count": None, "why": "with h it would tell about fewer than 5 rows"}]


@pytest.mark.parametrize("bins", [19, 9])
@pytest.mark.parametrize(("few", "shown"), [(4, False), (3, True)])
def test_extremes_do_not_tell_how_many_are_beyond_both(tmp_path, bins, few, shown):
    """A histogram leaves out eight, and fewer than five are beyond each end: so there are four on both sides."""
    cars = [-7] * 4 + [-5] * 10 + [-4] * 20 + [3] * 10 + [6] + [7] * (few - 1)
    statistics = BINS.format("h", 19, "") + ENDS.format("e", bins)
    report = reported(tmp_path, statistics.replace("salary", "cars"), [f"1,a,no,0,{each}" for each in cars])
    gone = [int(row["from"]) for row in report["h"] if row["count"] is None]
    assert gone == [-7, 6, 7]
    assert ("why" not in report["e"][0]) == shown


def test_one_end_in_the_interval_of_the_other_is_not_told_apart(tmp_path):
    """If the lowest are in the first quarter, the highest were in the second, where only one person is."""
    pay = [10_000] * 20 + [100_000] + [200_000] * 4
    (lowest, highest) = reported(tmp_path, ENDS.format("e", 4), [f"{each},a" for each in pay])["e"]
    assert (lowest["from"], lowest["to"]) == (highest["from"], highest["to"]) == (0, 125_000)


def test_extremes_of_many_are_shown_beside_other_statistics(tmp_path):
    """Of all and of each department, with a histogram and quantiles in bins of other widths."""
    by_department = ENDS.format("parts", 10) + 'by = ["dept"]\n'
    statistics = BINS.format("h", 10, "") + ENDS.format("e", 40) + by_department + QUANTILES.format(20)
    report = reported(tmp_path, statistics, [f"{500 * k},{'ab'[k % 2]}" for k in range(500)])
    assert not any("why" in row for result in report.results for row in result.rows)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("bins", "shown"), [(19, False), (18, False), (6, True)])
def test_a_mean_does_not_tell_how_many_are_in_a_narrow_bin(tmp_path, bins, shown, order):
    """Two have five cars and six have three: eight in both bins, and the sum of their cars tells how many in each."""
    cars = [1] * 20 + [2] * 30 + [3] * 6 + [5] * 2 + [0] * 25
    statistics = [BINS.format("h", bins, "").replace("salary", "cars"),
                  '[statistics.m]\nkind = "mean"\ncolumn = "cars"\n'][::order]  # fmt: skip
    report = reported(tmp_path, "".join(statistics), [f"1,a,no,0,{each}" for each in cars])
    names = ["h", "m"][::order]
    why = {"count": None, "why": f"with {names[0]} it would tell about fewer than 5 rows"}
    assert "why" not in report[names[0]][0]
    assert (report[names[1]] == [why]) == (not shown)


def possible(rows: list[dict], number: int, total: int) -> list[list[int]]:
    """Values in each bin, as far as the bins that are shown, their number and their sum leave it open."""
    gone = [place for place, row in enumerate(rows) if row["count"] is None]
    known = [row["count"] or 0 for row in rows]
    spans = [(int(row["from"]), int(row["to"]) - (row is not rows[-1])) for row in rows]
    found = []
    for some in product(range(number - sum(known) + 1), repeat=max(0, len(gone) - 1)):
        counts = list(known)
        for place, each in zip(gone, (*some, number - sum(known) - sum(some)), strict=False):
            counts[place] = each
        low, high = (sum(n * span[end] for n, span in zip(counts, spans, strict=True)) for end in (0, 1))
        if min(counts) >= 0 and low <= total <= high:
            found.append(counts)
    return found


def test_a_mean_beside_a_histogram_leaves_open_how_many_are_in_its_bins(tmp_path):
    """Random cars: all numbers of values per bin that fit the report are tried; no small group has one size only."""
    shown = 0
    for seed in range(60, 120):
        rng = np.random.default_rng(seed)
        bins = int(rng.choice([3, 6, 9]))
        first = 18 // bins * np.arange(bins) - 9
        sizes = rng.choice([0, 0, 1, 2, 5, 6, 7], size=bins)
        cars = [int(each) for low, size in zip(first, sizes, strict=True)
                for each in low + rng.integers(0, 18 // bins, size)]  # fmt: skip
        statistics = BINS.format("h", bins, "").replace("salary", "cars")
        statistics += '[statistics.m]\nkind = "mean"\ncolumn = "cars"\n'
        report = reported(tmp_path, statistics, [f"1,a,no,0,{each}" for each in cars])
        if any(row["count"] is None for row in report["h"]) and "mean" in report["m"][0]:
            shown += 1
            open_still = np.array(possible(report["h"], len(cars), sum(cars)))
            for some in (each for size in range(1, 4) for each in combinations(range(bins), size)):
                few = 0 < sizes[list(some)].sum() < FEW
                assert not few or len(np.unique(open_still[:, list(some)].sum(axis=1))) > 1, (seed, cars)
    assert shown > 3


@pytest.mark.parametrize(("more", "shown"), [([], False), ([-8, -7] * 5, True)])
def test_a_mean_does_not_tell_how_the_only_bin_of_two_numbers_is_divided(tmp_path, more, shown):
    """Eighteen bins from -9 to 9: the last one has two numbers, and six values, of which two are the highest."""
    cars = [9, 9, 8, 8, 8, 8] + [0] * 20 + more
    bins = 9 if more else 18
    statistics = BINS.format("h", bins, "").replace("salary", "cars")
    statistics += '[statistics.m]\nkind = "mean"\ncolumn = "cars"\n'
    report = reported(tmp_path, statistics, [f"1,a,no,0,{each}" for each in cars])
    assert all(row["count"] is not None for row in report["h"])
    assert ("mean" in report["m"][0]) == shown


@pytest.mark.parametrize(("kind", "shown"), [("mean", True), ("variance", False)])
def test_a_variance_does_not_tell_how_two_bins_of_two_numbers_are_divided(tmp_path, kind, shown):
    """Of how many each of four numbers is: two bins, the sum, and the sum of squares are four equations."""
    cars = [-9] * 3 + [-8] * 12 + [1] * 11 + [2] * 14
    statistics = BINS.format("h", 9, "").replace("salary", "cars")
    statistics += f'[statistics.m]\nkind = "{kind}"\ncolumn = "cars"\n'
    report = reported(tmp_path, statistics, [f"1,a,no,0,{each}" for each in cars])
    assert all(row["count"] is not None for row in report["h"])
    assert ("mean" in report["m"][0]) == shown


def test_a_histogram_of_wide_bins_is_shown_beside_a_mean(tmp_path):
    """Where in their bins all values are tells the sum, not how many are in two bins that are left out."""
    statistics = BINS.format("h", 10, "") + '[statistics.m]\nkind = "variance"\ncolumn = "salary"\n'
    report = reported(tmp_path, statistics, [f"{500 * k},a" for k in range(400)] + ["215000,a"] * 3 + ["249000,a"] * 4)
    assert [row["count"] for row in report["h"]][-2:] == [None, None]
    assert "mean" in report["m"][0]


def test_tables_by_two_columns_do_not_tell_of_a_group_by_three(tmp_path):
    """Who is ill in b and has a flat, or none of it: what the only one of them earns followed from sums by two each."""
    statistics = "".join(
        f'[statistics.{name}]\nkind = "sum"\ncolumn = "salary"\nby = [{by}]\n'
        for name, by in {"x": '"dept", "ill"', "y": '"dept", "flat"', "z": '"ill", "flat"'}.items()
    )
    flat = '[columns.flat]\ncategories = ["no", "yes"]\n'
    cells = [(dept, ill, home) for dept in "ab" for ill in ("no", "yes") for home in ("no", "yes")]
    sizes = dict(zip(cells, (0, 12, 9, 14, 11, 8, 10, 1), strict=True))
    rows = [(40_000 + 100 * k, *cell) for cell in cells for k in range(sizes[cell])]
    rows[-1] = (123_456, *cells[-1])
    declared = Study.from_text(HEAD + flat + statistics)
    lines = [f"{pay},{dept},{ill},0,0,{home}" for pay, dept, ill, home in rows]
    (tmp_path / "a.csv").write_text("\n".join(["salary,dept,ill,parent,cars,flat", *lines]))
    table = declared.read(tmp_path / "a.csv")
    report = run_together(declared, {"ada": table, "bob": table.where([("dept", 3)])})
    shown = [row for result in report.results for row in result.rows if row["count"]]
    part = [[all(row.get(key, each) == each for key, each in zip(("dept", "ill", "flat"), cell, strict=True))
             for cell in cells] for row in shown]  # fmt: skip
    wanted = np.array([cell in (cells[0], cells[-1]) for cell in cells], dtype=float)
    factors, *_ = np.linalg.lstsq(np.array(part, dtype=float).T, wanted, rcond=None)
    assert len(shown) > 4
    assert np.abs(np.array(part).T @ factors - wanted).max() > 0.01, sum(
        factor * row["sum"] for factor, row in zip(factors, shown, strict=True)
    )


def test_a_town_does_not_follow_from_its_region(tmp_path):
    """Two live in town d; town c, which is left out with it, is in the other region, of which all else was shown."""
    statistics = "".join(
        f'[statistics.{name}]\nkind = "sum"\ncolumn = "salary"\nby = ["{by}"]\n'
        for name, by in (("x", "dept"), ("y", "ill"))
    )
    towns = {"a": ("no", 30), "b": ("yes", 20), "c": ("no", 9), "d": ("yes", 2)}
    rows = [f"{40_000 + k},{town},{region}" for town, (region, size) in towns.items() for k in range(size)]
    report = reported(tmp_path, statistics, rows)
    shown = {row["dept"]: row["count"] for row in report["x"]}
    regions = {row["ill"]: row["count"] for row in report["y"]}
    assert shown["d"] is None
    for region, whole in regions.items():
        hidden = [town for town, (where, _) in towns.items() if where == region and shown[town] is None]
        assert whole is None or not hidden or sum(towns[town][1] for town in hidden) >= FEW


def test_groups_of_different_columns_that_differ_in_one_row_are_not_both_shown(tmp_path):
    """All of department a but one are ill, and nobody else is: one sum less the other is that one's salary."""
    statistics = "".join(
        f'[statistics.{name}]\nkind = "sum"\ncolumn = "salary"\nby = ["{by}"]\n'
        for name, by in (("x", "dept"), ("y", "ill"))
    )
    rows = [f"{40_000 + 1_000 * k},{'abcd'[k % 4]},{'yes' if k % 4 == 0 and k != 8 else 'no'}" for k in range(80)]
    report = reported(tmp_path, statistics, rows)
    sums = {
        **{row["dept"]: row.get("sum") for row in report["x"]},
        **{row["ill"]: row.get("sum") for row in report["y"]},
    }
    assert sums["a"] is None or sums["yes"] is None
    assert sum(each is None for each in sums.values()) < 5
