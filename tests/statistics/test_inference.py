"""What a report gives away to those who know a part already: against linear algebra, and against the rows."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from sottovoce.errors import InvalidParameter
from sottovoce.statistics import Study, difference, known_to, run_together, write_example

from . import made

RELEASE = "[release]\nepsilon = 2.0\ndelta = 1e-6\nhonest = 10\nruns = 2\nprotects = 'row'\n"


@pytest.fixture(scope="module")
def companies(tmp_path_factory):
    """Their study, tables and rows."""
    path, *files = write_example(tmp_path_factory.mktemp("companies"))
    study = Study.load(path)
    tables = {file.stem: study.read(file) for file in files}
    rows = pandas.concat([pandas.read_csv(file).assign(company=file.stem) for file in files])
    return path.read_text(), tables, rows


@pytest.fixture(scope="module")
def report(companies):
    return run_together(Study.from_text(companies[0]), companies[1])


def test_the_companies_are_made_up_in_the_same_way_again(tmp_path, companies):
    """The same files for the same seed, others for another; a report is that of all rows."""
    text, tables, rows = companies
    again = write_example(tmp_path / "again")
    assert (tmp_path / "again" / "oak.csv").read_text().count("\n") == (rows["company"] == "oak").sum() + 1
    assert len(again) == 13
    other = write_example(tmp_path / "other", seed=2)
    assert other[1].read_text() != again[1].read_text()
    means = rows.groupby(["occupation", "gender"])["salary"].mean()
    found = {
        (row["occupation"], row["gender"]): row["mean"] for row in run_together(Study.from_text(text), tables)["pay"]
    }
    assert found == pytest.approx(means.to_dict(), rel=1e-12)


@pytest.mark.parametrize("coalition", [["elm"], ["birch", "oak"], ["alder", "birch", "cedar", "elm", "fir", "hazel"]])
def test_what_a_coalition_knows_is_what_conditioning_gives(companies, report, coalition):
    """Means that are independent and Gaussian before, given their weighted sum: their deviations, cell by cell."""
    _, tables, rows = companies
    found = known_to(coalition, report, tables, "pay", spread=4000.0)
    others = rows[~rows["company"].isin(coalition)]
    expected = {}
    for cell, group in others.groupby(["occupation", "gender"]):
        sizes = group.groupby("company").size()
        weights = sizes.to_numpy(float)[None, :]
        covariance = 4000.0**2 * np.eye(len(sizes))
        gain = covariance @ weights.T @ np.linalg.inv(weights @ covariance @ weights.T)
        left = np.sqrt(np.maximum(0.0, np.diag(covariance - gain @ weights @ covariance)))
        expected |= {(*cell, name): deviation for name, deviation in zip(sizes.index, left, strict=True)}
    assert {(r["occupation"], r["gender"], r["party"]): r["left"] for r in found} == pytest.approx(expected, abs=1e-3)


def test_one_of_two_laboratories_knows_the_other(companies, report):
    """elm subtracts its own rows and has oak's sum to the last unit; the inference says so, and of no other mean."""
    _, tables, rows = companies
    exactly = [row for row in known_to(["elm"], report, tables, "pay", spread=1.0) if row["left"] == 0]
    assert {(row["occupation"], row["party"]) for row in exactly} == {("laboratory", "oak")}
    women = rows[(rows["occupation"] == "laboratory") & (rows["gender"] == "f")]
    shown = next(row for row in report["pay"] if (row["occupation"], row["gender"]) == ("laboratory", "f"))
    own, others = (women[women["company"] == name]["salary"] for name in ("elm", "oak"))
    assert round(shown["count"] * shown["mean"]) - own.sum() == others.sum()


def test_two_reports_give_the_one_that_left_away(companies, report):
    """Counts and sums of every cell, exactly."""
    text, tables, rows = companies
    fewer = run_together(Study.from_text(text), {name: table for name, table in tables.items() if name != "oak"})
    oak = rows[rows["company"] == "oak"].groupby(["occupation", "gender"])["salary"]
    found = difference(report, fewer, "pay")
    assert {(row["occupation"], row["gender"]): row["count"] for row in found} == oak.size().to_dict()
    assert {(row["occupation"], row["gender"]): row["sum"] for row in found} == oak.sum().to_dict()


def test_noise_keeps_the_one_that_left(companies, monkeypatch):
    """With a release the same subtraction is off by as much as it says, and leaves 2800 of ± 4000 at least."""
    made.seed_noise(monkeypatch, 1)
    text, tables, rows = companies
    private = Study.from_text(text + RELEASE)
    fewer = {name: table for name, table in tables.items() if name != "oak"}
    before, after = run_together(private, tables), run_together(private, fewer)
    oak = rows[rows["company"] == "oak"].groupby(["occupation", "gender"])["salary"].agg(["size", "sum"])
    off = []
    for row in difference(before, after, "pay"):
        size, total = oak.loc[(row["occupation"], row["gender"])]
        assert (1 / 4000**2 + 1 / row["noise"] ** 2) ** -0.5 > 2800
        off.append((row["sum"] - total) / (row["noise"] * row["count"]))
        assert abs(row["count"] - size) < 120
    assert max(map(abs, off)) < 6
    assert max(map(abs, off)) > 0.05


def test_a_mean_that_is_not_shown_tells_nothing(tmp_path):
    """Beside bins that are all left out but for a few the report has no row for each cell: nothing to subtract."""
    histogram = '[statistics.bands]\nkind = "histogram"\ncolumn = "age"\nbins = 65\nby = ["job"]\n'
    means = '[statistics.ages]\nkind = "mean"\ncolumn = "age"\nby = ["job"]\n'
    hidden, shown = (made.found(tmp_path, text, 5) for text in (histogram + means, means))
    assert "why" in hidden["ages"][0]
    tables = made.tables(hidden.study, tmp_path)
    assert known_to(["ada"], hidden, tables, "ages", spread=1.0) == []
    assert known_to(["ada"], shown, tables, "ages", spread=1.0) != []
    assert difference(hidden, shown, "ages") == difference(shown, hidden, "ages") == []


def test_what_cannot_be_asked_is_refused(companies, report):
    """A statistic that is no mean, and strangers."""
    with pytest.raises(InvalidParameter, match="name must be that of a mean, one of pay, got 'wages'"):
        difference(report, report, "wages")
    with pytest.raises(InvalidParameter, match=r"coalition must be of alder, .*, got yew"):
        known_to(["yew"], report, companies[1], "pay", spread=1.0)
    with pytest.raises(InvalidParameter, match="seed must be a whole number"):
        write_example("x", seed=-1)
