"""A group that nobody asked for, set apart by the numbers of a column, is not in a report if it is small."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sottovoce.statistics import Study, StudyReport, run_together

from ..statistics import made
from .test_small_groups import FEW, HEAD, LINEAR, LOGISTIC, contributions, people, reported

MEAN = '[statistics.{}]\nkind = "mean"\ncolumn = "{}"\nby = [{}]\n'
TOGETHER = '[statistics.both]\nkind = "correlation"\ncolumns = ["salary", "parent"]\n'
HIDDEN = {"count": None, "why": "it would tell about fewer than 5 rows"}


def found(folder, statistics: str, rows: list[list[str]]) -> StudyReport:
    """The report over these rows."""
    return reported(folder, statistics, [",".join(row) for row in rows])


@pytest.mark.parametrize("number", ["0", "1"])
@pytest.mark.parametrize(("few", "shown"), [(1, False), (4, False), (5, True)])
def test_a_covariance_with_zeros_and_ones_is_not_about_few(tmp_path, number, few, shown):
    """A salary is the covariance with the column of whose ones it has the only one, times n − 1, plus the mean."""
    rows = people(80)
    for place, row in enumerate(rows):
        row[3] = number if place < few else "01"[number == "0"]
    report = found(tmp_path, MEAN.format("pay", "salary", "") + TOGETHER + MEAN.format("share", "parent", ""), rows)
    assert (report["both"] == [HIDDEN], report["share"] == [HIDDEN]) == (not shown, not shown)
    assert "mean" in report["pay"][0]


def test_a_covariance_is_not_about_the_few_that_two_columns_have_in_common(tmp_path):
    """Ten earn something and forty are parents; one earning parent is the sum of all products."""
    rows = people(80)
    for place, row in enumerate(rows):
        row[0], row[3] = ("70000", str(int(place == 0))) if place < 10 else ("0", str(place % 2))
    assert found(tmp_path, TOGETHER, rows)["both"] == [HIDDEN]


@pytest.mark.parametrize("kind", ["sum", "mean", "variance"])
def test_a_sum_that_is_one_persons_is_not_shown_and_does_not_follow(tmp_path, kind):
    """In department c one earns something. The total less the departments that are shown is about a group."""
    rows = people(80)
    for place, row in enumerate(rows):
        row[0] = row[0] if row[1] != "c" or place == 2 else "0"
    statistics = (MEAN.format("parts", "salary", '"dept"') + MEAN.format("whole", "salary", "")).replace(
        '"mean"', f'"{kind}"'
    )
    report = found(tmp_path, statistics, rows)
    gone = [row["dept"] for row in report["parts"] if row["count"] is None]
    assert "c" in gone
    assert len(gone) == 2
    assert sum(row[1] in gone and row[0] != "0" for row in rows) >= FEW
    assert report["whole"][0]["count"] == 80


def unknowns(report: StudyReport, cells: list[tuple[str, str]]) -> np.ndarray:
    """In which ways the sums of these cells can differ where all that is shown is the same."""
    shown = [row for result in report.results for row in result.rows if row["count"] is not None]
    equations = np.array([[row.get("dept", d) == d and row.get("ill", i) == i for d, i in cells] for row in shown])
    *_, ways = np.linalg.svd(np.vstack([np.zeros(len(cells)), equations]))
    return ways[np.linalg.matrix_rank(equations) :]


@pytest.mark.parametrize("order", [1, -1])
def test_a_sum_over_few_of_a_town_is_not_that_of_its_region_less_its_other_towns(tmp_path, order):
    """Two earn something in a: b is shown, and so were the ill, all of whom are in a or b."""
    sizes = {("a", "yes"): 2, ("b", "yes"): 20, ("c", "no"): 8, ("d", "no"): 20}
    rows = [[str(1000 * (k < size)), dept, ill, "0", "0"] for (dept, ill), size in sizes.items() for k in range(40)]
    statistics = [MEAN.format("towns", "salary", '"dept"'), MEAN.format("regions", "salary", '"ill"')][::order]
    report = found(tmp_path, "".join(statistics), rows)
    assert np.abs(unknowns(report, list(sizes))[:, 0]).max(initial=0.0) > 1e-9
    assert sum(row["count"] is not None for name in ("towns", "regions") for row in report[name]) >= 2


def test_no_sum_over_few_follows_from_sums_by_one_column_each(tmp_path):
    """Random rows of which some cells have none: a department less what is shown of the ill is a group, too."""
    cells = [(dept, ill) for dept in "abcd" for ill in ("no", "yes")]
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sizes = {cell: int(rng.choice([0, 0, 20, 60])) for cell in cells}
        earning = {cell: min(size, int(rng.choice([0, 1, 2, 8, 15, 40]))) for cell, size in sizes.items()}
        rows = [[str(1000 * (k < earning[cell])), *cell, "0", "0"] for cell in cells for k in range(sizes[cell])]
        report = found(tmp_path, MEAN.format("x", "salary", '"dept"') + MEAN.format("y", "salary", '"ill"'), rows)
        free = unknowns(report, some := [cell for cell in cells if earning[cell]])
        for group in (each for size in range(1, 5) for each in combinations(range(len(some)), size)):
            few = sum(earning[some[k]] for k in group) < FEW
            assert not few or np.abs(free[:, group].sum(axis=1)).max(initial=0.0) > 1e-9, (seed, group)


def test_nobody_contributes_to_a_sum_that_is_one_persons(tmp_path):
    """A party that reads the sums with a program of its own finds zeros: of all, one has a bonus."""
    statistics = '[columns.bonus]\nlow = 0\nhigh = 9\nunit = 1\n[statistics.x]\nkind = "sum"\ncolumn = "bonus"\n'
    frames = {name: frame.assign(bonus=0) for name, frame in made.frames().items()}
    frames["bob"].loc[7, "bonus"] = 8
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "frames", lambda: frames)
        report, given = contributions(tmp_path, statistics)
    assert report["x"] == [{"count": None, "why": "it would tell about fewer than 20 rows"}]
    assert not any(any(values) for values in given["t/pay/values"])


@pytest.mark.parametrize(
    ("model", "place", "value", "few"),
    [
        (LINEAR.format('"dept"').replace('"salary"', '"parent"'), 3, "1", "parent = 1, dept = c"),
        (LINEAR.format('"dept"').replace('"salary"', '"cars"'), 4, "7", "cars ≠ 0, dept = c"),
        (LOGISTIC.format('"cars"'), 4, "7", "ill = yes, cars ≠ 0"),
    ],
)
def test_no_coefficient_is_about_few_outcomes(tmp_path, model, place, value, few):
    """The share or the sum of the outcomes in a department, or where a number is not zero, is one person's."""
    rows = people(80)
    for number, row in enumerate(rows):
        other = row[1] == "c" if "linear" in model else row[2] == "yes"
        row[place] = value if number % 3 == 0 and not other else "0"
    rows[6][1:3] = ["c", "yes"]
    rows[6][place] = value
    report = found(tmp_path, model, rows)
    assert all(row["coefficient"] is None for row in report["model"])
    assert few in report["model"][0]["why"]


@pytest.mark.parametrize("model", [LINEAR, LOGISTIC])
def test_nobody_contributes_the_product_of_a_number_and_a_word_that_few_have(tmp_path, model):
    """Of department c one has cars: a member's own program would read how many from the sums of products."""
    rows = people(80)
    for number, row in enumerate(rows):
        row[4] = "7" if row[1] != "c" and number % 3 == 0 else "0"
    rows[6][4] = "3"
    report = found(tmp_path, model.format('"cars", "dept"'), rows)
    assert all(row["coefficient"] is None for row in report["model"])
    assert "cars ≠ 0, dept = c" in report["model"][0]["why"]


@pytest.mark.parametrize("model", [LINEAR, LOGISTIC])
@pytest.mark.parametrize("other", [False, True])
def test_several_terms_do_not_set_few_apart_together(tmp_path, model, other):
    """Parents are those of departments a and b, but for one: a and b less the parents are that one's value."""
    rows = people(160)
    for row in rows:
        row[3] = str(int(row[1] in "ab"))
    if other:
        rows[6][1] = "a" if rows[6][3] == "0" else "c"
    statistics = model.format('"dept", "parent"')
    report = found(tmp_path, statistics, rows)
    assert all(row["coefficient"] is None for row in report["model"])
    reason = "fewer than 5 rows: several terms together" if other else "the columns of this regression determine"
    assert report["model"][0]["why"].startswith(reason)


@pytest.mark.parametrize(
    ("model", "place", "zero", "few"),
    [
        (LINEAR.format('"dept", "parent"'), 0, "0", "salary ≠ 0"),
        (LINEAR.format('"dept", "parent", "cars"'), 4, "0", "cars ≠ 0"),
        (LOGISTIC.format('"dept", "parent"'), 2, "no", "ill = yes"),
    ],
)
@pytest.mark.parametrize("other", [False, True])
def test_several_terms_do_not_set_few_apart_where_a_number_is_not_zero(tmp_path, model, place, zero, few, other):
    """Who earns is a parent in a and b only, but for one: sums over a and b less the parents are that one's."""
    rows = people(320)
    for k, row in enumerate(rows):
        row[place] = zero if k // 16 % 2 else {0: row[0], 2: "yes", 4: "3"}[place]
        row[2] = row[2] if place != 0 else ("no", "yes")[k // 32 % 2]
        row[3] = str(int(row[1] in "ab")) if row[place] != zero else str(k // 8 % 2)
    if other:
        rows[6][3] = "01"[rows[6][3] == "0"]
    report = found(tmp_path, model, rows)
    assert all(("why" in row) == other for row in report["model"])
    if other:
        assert report["model"][0]["why"] == f"fewer than 5 rows: several terms together, {few}"


@pytest.mark.parametrize(("by", "other"), [("", False), ("", True), ('"dept"', False), ('"dept"', True)])
@pytest.mark.parametrize("unpaid", [False, True])
def test_covariances_with_several_columns_do_not_set_few_apart_together(tmp_path, by, other, unpaid):
    """x is y + z in all rows, or all of the paid, but one: three covariances with salaries told that one's salary."""
    flags = "".join(f"[columns.{name}]\nlow = 0\nhigh = 1\nunit = 1\n" for name in "xyz")
    statistics = f'[statistics.c]\nkind = "correlation"\ncolumns = ["salary", "x", "y", "z"]\nby = [{by}]\n'
    declared = Study.from_text(HEAD.replace("[columns.parent]", flags + "[columns.parent]") + statistics)
    lines = ["salary,dept,ill,x,y,z,parent,cars"]
    for k, row in enumerate(people(960)):
        y, z = k // 32 % 2, int(k // 32 % 5 == 2)
        y = y * (1 - z)
        paid = not unpaid or k // 4 % 3 > 0
        x = (y + z if paid else k // 4 % 2) ^ (other and k == 5)
        lines.append(",".join(map(str, (row[0] if paid else 0, row[1], row[2], x, y, z, 0, 0))))
    (tmp_path / "a.csv").write_text("\n".join(lines))
    table = declared.read(tmp_path / "a.csv")
    report = run_together(declared, {"ada": table, "bob": table.where([("salary", 1)])})
    assert report.num_rows == 960
    assert ("why" in report["c"][0]) == other
    if other:
        assert report["c"] == [{"count": None, "why": "fewer than 5 rows: several columns together"}]


def test_what_is_about_many_is_shown(tmp_path):
    """Columns with zeros, of which no group is small."""
    statistics = TOGETHER + MEAN.format("a", "cars", '"dept", "ill"') + MEAN.format("b", "salary", '"dept"')
    report = found(tmp_path, statistics + LINEAR.format('"dept"').replace('"salary"', '"cars"'), people(160))
    assert all("why" not in row and row.get("count", 1) is not None for result in report.results for row in result.rows)


def test_no_sum_over_few_follows_from_sums_by_several_columns(tmp_path):
    """Random people without cars: what is shown by department, by illness and by both is solved for each cell."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        chance = {dept: rng.choice([0.05, 0.2, 0.9]) for dept in "abcd"}
        rows = [["1", dept, rng.choice(["no", "yes"]), "0", "3" if rng.random() < chance[dept] else "0"]
                for dept in rng.choice(list("abcd"), 90)]  # fmt: skip
        asked = {"x": '"dept"', "y": '"ill"', "z": '"dept", "ill"', "w": ""}
        report = found(tmp_path, "".join(MEAN.format(name, "cars", by) for name, by in asked.items()), rows)
        cells = [(dept, ill) for dept in "abcd" for ill in ("no", "yes")]
        owners = [sum(row[1:3] == [*cell] and row[4] == "3" for row in rows) for cell in cells]
        shown = [row for name in asked for row in report[name] if row["count"] is not None]
        equations = np.array([[row.get("dept", d) == d and row.get("ill", i) == i for d, i in cells] for row in shown])
        *_, ways = np.linalg.svd(np.vstack([np.zeros(8), equations]))
        free = ways[np.linalg.matrix_rank(equations) :]
        small = [k for k, number in enumerate(owners) if 0 < number < FEW]
        assert all(np.abs(free[:, k]).max(initial=0.0) > 1e-9 for k in small)
