"""A study that cannot be is refused with the place in its file."""

from __future__ import annotations

import pytest

from sottovoce.errors import InvalidFile
from sottovoce.statistics import Study

from . import made

ONE = '[statistics.x]\nkind = "{kind}"\n'


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        ("", r"at least one table \[statistics"),
        (ONE.format(kind="mode"), "statistics.x.kind must be one of count, sum, .*got 'mode'"),
        (ONE.format(kind="mean"), "statistics.x.column must be given, as text"),
        (ONE.format(kind="mean") + 'column = "wage"', "statistics.x.column must be one of salary, .*got 'wage'"),
        (ONE.format(kind="mean") + 'column = "job"', "must be a column of numbers, and 'job' has categories"),
        (ONE.format(kind="count") + 'by = ["age"]', r"by\[0\] must be a column with categories, and 'age' has none"),
        (ONE.format(kind="count") + "bins = 3", "statistics.x has an unknown key 'bins'"),
        (ONE.format(kind="histogram") + 'column = "age"\nbins = 66', "bins must be at most 65, one for each unit"),
        (ONE.format(kind="quantiles") + 'column = "age"\nbins = 5\nprobabilities = [2]', r"numbers in \(0, 1\]"),
        (ONE.format(kind="correlation") + 'columns = ["age", "age"]', "at least 2 different columns"),
        (ONE.format(kind="logistic") + 'outcome = "job"\npredictors = ["age"]', "a column with two categories"),
        (ONE.format(kind="linear") + 'outcome = "age"\npredictors = ["age"]', "must not have the outcome among them"),
        ("[more]\nx = 1", "unknown table 'more'"),
        (f'[statistics.{"x" * 81}]\nkind = "count"', "name of a statistic must be printable text of 1 to 80"),
        ('[statistics."a\\n"]\nkind = "count"', "name of a statistic must be printable text of 1 to 80"),
        ('[statistics.""]\nkind = "count"', "name of a statistic must be printable text of 1 to 80"),
        (ONE.format(kind="proportion") + 'column = "job"\nby = ["gender", "job"]', "by must not have the column among"),
        (ONE.format(kind="count") + 'by = ["job", "job"]', "statistics.x.by must be different columns"),
        (ONE.format(kind="count") + "by = [[]]", r"by\[0\] must be one of salary"),
        (ONE.format(kind="quantiles") + 'column = "age"\nbins = 5\nprobabilities = ["1/0"]', r"numbers in \(0, 1\]"),
    ],
)
def test_a_statistic_that_cannot_be_is_refused(statistics, message):
    """Unknown kinds, keys and columns; columns of the wrong kind; numbers out of range."""
    with pytest.raises(InvalidFile, match=message):
        made.study(statistics)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "pay"', 'name = "p/y"', "study.name must be at most 40 letters"),
        ("smallest_group = 1", "smallest_group = 0", r"smallest_group must be in \[1, "),
        ("smallest_group = 1", "", "study.smallest_group must be given"),
        ('unit = "0.01"', "unit = 0", "low < high, and a unit > 0 that divides"),
        ('unit = "0.01"', "unit = 0.3", "a unit > 0 that divides"),
        ('unit = "0.01"', "unit = true", "columns.salary.unit must be a decimal number"),
        ('unit = "0.01"', 'unit = "1e-5"', "too many for products"),
        ("high = 80", "high = 1e30", "more than 2\\^52 units"),
        ('["f", "m"]', '["f", "f"]', "at least two different words"),
        ("[columns.job]", "[columns.count]", "columns.count has categories and the name of a number in reports"),
        ('["f", "m"]', '["f", " m"]', "words without spaces around them"),
        ('unit = "0.01"', 'unit = "1e-999999999"', "columns.salary.unit must be finite, with at most 50 digits"),
        ("high = 80", 'high = "1e999999999"', "columns.age.high must be finite, with at most 50 digits"),
        ("low = 16\nhigh = 80\nunit = 1", 'low = -9\nhigh = "1e50"\nunit = "1e50"', "divides their difference"),
        ("low = 16\nhigh = 80\nunit = 1", 'low = "1e-30"\nhigh = 26\nunit = 1', "divides their difference"),
        ("low = 16", 'low = "0.' + "1" * 60 + '"', "columns.age.low must be finite, with at most 50 digits"),
        ("low = 16", "low = 16\nlow = 17", "is not TOML"),
    ],
)
def test_columns_and_head_that_cannot_be_are_refused(old, new, message):
    """Names, groups, units and bounds."""
    text = made.HEAD.format(smallest=1) + made.EVERYTHING
    with pytest.raises(InvalidFile, match=message):
        Study.from_text(text.replace(old, new))


@pytest.mark.parametrize("shares", ["1e-1000000000", "1e-1_000_000_000", "1e1000000000", "0", "1.5", "1/0", "x", "nan"])
def test_probabilities_are_shares_that_can_be_written_out(shares):
    """As numbers or as text; a large exponent would take for ever."""
    text = made.HEAD.format(smallest=1) + made.EVERYTHING
    with pytest.raises(InvalidFile, match=r"statistics\.years\.probabilities must be numbers in \(0, 1\]"):
        Study.from_text(text.replace("[0.05, 0.5, 0.9]", f'[0.05, "{shares}"]'))
    found = Study.from_text(text.replace("[0.05, 0.5, 0.9]", '["1/3", "0.25", 1e-300, 1]')).statistics[6]
    assert [float(p) for p in found.probabilities] == [1 / 3, 0.25, 1e-300, 1.0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("9" * 5000, "has a number of too many digits"),
        ("0x" + "f" * 5000, "has a number of too many digits|must be given, as a list"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 400 + "]" * 400, "."),
    ],
)
@pytest.mark.parametrize("key", ["most_rows", "low", "by"])
def test_numbers_and_nesting_without_end_are_refused(key, value, message):
    """In one sentence, whatever Python's own limits are."""
    text = made.HEAD.format(smallest=1) + made.EVERYTHING
    old = {"most_rows": "500", "low": "16", "by": '["gender", "job"]'}[key]
    with pytest.raises(InvalidFile, match=message) as error:
        Study.from_text(text.replace(f"{key} = {old}", f"{key} = {value}"))
    assert len(str(error.value)) < 2000


def test_too_many_cells_are_refused(tmp_path):
    """Before a list of them is made; and a file that begins with a byte order mark is read."""
    many = "\n".join(f"[columns.c{k}]\ncategories = {[str(word) for word in range(20)]}" for k in range(5))
    text = (
        made.HEAD.format(smallest=1) + many + '\n[statistics.x]\nkind = "count"\nby = ["c0", "c1", "c2", "c3", "c4"]\n'
    )
    with pytest.raises(InvalidFile, match=r"statistics\.x\.by must have at most 100000 combinations of words"):
        Study.from_text(text)
    (tmp_path / "study.toml").write_text("\ufeff" + text.replace(', "c1", "c2", "c3", "c4"', ""), encoding="utf-8")
    assert len(Study.load(tmp_path / "study.toml").statistics[0].cells) == 20


def test_the_digest_is_that_of_what_is_said():
    """Comments and the order of keys do not count; a bound does."""
    text = made.HEAD.format(smallest=1) + made.EVERYTHING
    same = text.replace("low = 16\nhigh = 80", "high = 80  # years\nlow = 16")
    assert same != text
    assert Study.from_text(text).digest == Study.from_text(same).digest
    assert Study.from_text(text).digest != Study.from_text(text.replace("high = 80", "high = 81")).digest
