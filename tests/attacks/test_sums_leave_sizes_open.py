"""Sums of a column beside its histograms, quantiles or extremes: all values that give a report are tried.

For columns of a few numbers and few rows that is possible. Whatever is shown, no group of neighbouring numbers, and of
any four, may have one and the same small size in all of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest

from sottovoce.statistics import Study, StudyReport, alternatives, run_together

SMALLEST = 4
WHY = f"it would tell about fewer than {SMALLEST} rows"
KINDS = ("none", "histogram", "quantiles", "extremes")
HEAD = f'[study]\nname = "x"\nsmallest_group = {SMALLEST}\nmost_rows = 2000\n'
COLUMNS = '[columns.answer]\nlow = 0\nhigh = {top}\nunit = 1\n[columns.job]\ncategories = ["a", "b"]\n'
BINNED = '[statistics.bins]\nkind = "{kind}"\ncolumn = "answer"\nbins = {bins}\nby = [{by}]\n'
ADDED = '[statistics.sums]\nkind = "{kind}"\ncolumn = "answer"\nby = [{by}]\n'


@dataclass(frozen=True)
class Case:
    """What is shown of a column from 0 to ``top`` in bins, then the sums: of all rows, or of those of each job."""

    top: int
    bins: int
    kind: str
    sums: str
    binned_by: str
    added_by: str

    @property
    def study(self) -> Study:
        binned = BINNED.format(kind=self.kind, bins=self.bins, by=self.binned_by) if self.kind != "none" else ""
        extra = "probabilities = [0.25, 0.5, 0.75]\n" if self.kind == "quantiles" else ""
        added = ADDED.format(kind=self.sums, by=self.added_by)
        return Study.from_text(HEAD + COLUMNS.format(top=self.top) + binned + extra + added)

    def report(self, folder: Path, jobs: Sequence[np.ndarray]) -> StudyReport:
        """Over so many values of each number in each job, at two parties."""
        jobs_of = zip("ab", jobs, strict=False)
        rows = [f"{number},{job}" for job, own in jobs_of for number in np.repeat(range(len(own)), own)]
        study, tables = self.study, {}
        for name, own in (("ada", rows[::2]), ("bob", rows[1::2])):
            (folder / f"{name}.csv").write_text("\n".join(["answer,job", *own]) + "\n")
            tables[name] = study.read(folder / f"{name}.csv")
        return run_together(study, tables)

    def possible(self, jobs: Sequence[np.ndarray], *, added: bool) -> np.ndarray:
        """``(jobs, possibilities, numbers)`` what has the same report; of the sums too if they are ``added``."""
        every = [all_counts(int(own.sum()), self.top + 1) for own in jobs]
        places = np.indices([len(each) for each in every]).reshape(len(jobs), -1)
        values = np.array([each[place] for each, place in zip(every, places, strict=True)])
        own = np.array(jobs)[:, None]
        if added:
            powers = np.arange(self.top + 1)[:, None] ** ([1, 2] if self.sums == "variance" else [1])
            alike = together(values, self.added_by) @ powers == together(own, self.added_by) @ powers
            values = values[:, alike.all(axis=(0, 2))]
        for job, shown in enumerate(together(own, self.binned_by) if self.kind != "none" else ()):
            values = values[:, self._binned_alike(together(values, self.binned_by)[job], shown[0])]
        return values

    def _binned_alike(self, values: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Which of these counts are shown in bins as the last ones are."""
        binned = next(each for each in self.study.statistics if each.name == "bins")
        place = np.searchsorted(np.array(binned.edges[1:]), np.arange(self.top + 1), side="right")

        def shown(counts):
            sums = np.bincount(place, counts, minlength=binned.bins).astype(int).tolist()
            return binned.decode(sum(sums), sums, SMALLEST)

        different, which = np.unique(values, axis=0, return_inverse=True)
        return np.array([shown(each) == shown(own) for each in different])[which.ravel()]


def together(values: np.ndarray, by: str) -> np.ndarray:
    """Of each job, or of all."""
    return values if by else values.sum(axis=0, keepdims=True)


@lru_cache
def all_counts(rows: int, numbers: int) -> np.ndarray:
    """Every way to have so many rows of so many numbers."""
    places = np.array(list(combinations(range(rows + numbers - 1), numbers - 1)))
    edges = np.column_stack([np.full(len(places), -1), places, np.full(len(places), rows + numbers - 1)])
    return np.diff(edges, axis=1) - 1


def few(values: np.ndarray) -> set[tuple[int, tuple[int, ...]]]:
    """Groups of neighbours, and of up to four numbers, that have the same small size in all: of a job, and of all."""
    numbers = range(values.shape[2])
    neighbours = (tuple(numbers)[low:high] for low, high in combinations(range(len(numbers) + 1), 2))
    sets = dict.fromkeys(chain(neighbours, *(combinations(numbers, size) for size in (1, 2, 3, 4))))
    sizes = {
        (job, group): own[:, group].sum(axis=1)
        for job, own in enumerate([*values, values.sum(axis=0)])
        for group in sets
        if len(group) < len(numbers)
    }
    return {secret for secret, own in sizes.items() if 0 < own[0] < SMALLEST and (own == own[0]).all()}


def drawn(seed: int, jobs: int, largest: int) -> tuple[Case, list[np.ndarray]]:
    """A case and its values; not more than so many are possible."""
    rng = np.random.default_rng([jobs, seed])
    top, rows = 6, np.full(jobs, 24)
    while np.prod([comb(own + top, top) for own in rows.tolist()]) > largest:
        top, rows = int(rng.integers(2, 7)), rng.integers(SMALLEST if jobs > 1 else 2 * SMALLEST, 24, jobs)
    by = rng.choice([("", ""), ('"job"', ""), ('"job"', '"job"')]).tolist() if jobs > 1 else ("", "")
    case = Case(top, int(rng.integers(2, top + 2)), rng.choice(KINDS), rng.choice(["mean", "variance"]), *by)
    shares = rng.dirichlet(np.ones(top + 1), jobs)
    values = [rng.choice(top + 1, n, p=p) for n, p in zip(rows, shares, strict=True)]
    return case, [np.bincount(each, minlength=top + 1) for each in values]


def tried(case: Case, own: list[np.ndarray], folder: Path) -> tuple[bool, bool]:
    """Whether sums are shown, and whether they would tell; that they are shown and tell is an error."""
    found = json.loads(case.report(folder, own).to_json())
    shown = all("why" not in row for each in found["results"] if each["name"] == "sums" for row in each["rows"])
    if any("why" in row for each in found["results"] if each["name"] == "bins" for row in each["rows"]):
        case = replace(case, kind="none")
    told = few(case.possible(own, added=True)) - few(case.possible(own, added=False))
    assert not (shown and told), (case, [each.tolist() for each in own], told)
    return shown, bool(told)


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_sums_are_shown_that_tell_how_large_a_small_group_is(tmp_path, jobs):
    """Some are shown, and some would tell: neither everything is refused, nor nothing to be found."""
    found = [tried(*drawn(seed, jobs, 4000), tmp_path) for seed in range(40)]
    assert sum(shown for shown, _ in found) >= 8
    assert sum(told for _, told in found) >= 8


def test_a_group_over_all_jobs_follows_where_none_of_one_job_does(tmp_path):
    """How many have a 0 is shown of each job, so the mean of all tells that two have a 2: not of which job they are."""
    case = Case(2, 2, "histogram", "mean", '"job"', "")
    assert tried(case, [np.array([0, 13, 2]), np.array([5, 10, 0])], tmp_path) == (False, True)


def test_sums_of_some_jobs_and_of_all_do_not_tell_of_the_others(tmp_path):
    """The mean of job b is shown, those of a and c are not: that of all, less b, is of a and c together."""
    text = HEAD.replace(f"= {SMALLEST}", "= 3") + COLUMNS.format(top=3).replace('"b"', '"b", "c"')
    text += BINNED.format(kind="histogram", bins=3, by='"job"') + ADDED.format(kind="mean", by='"job"')
    study = Study.from_text(text + ADDED.format(kind="mean", by="").replace("sums", "all"))
    jobs = {"a": [0, 1, 1, 16], "b": [3, 3, 16, 0], "c": [5, 1, 2, 1]}
    rows = [f"{number},{job}\n" * n for job, own in jobs.items() for number, n in enumerate(own)]
    (tmp_path / "all.csv").write_text("answer,job\n" + "".join(rows))
    report = run_together(study, {"ada": study.read(tmp_path / "all.csv")})
    assert ["mean" in row for row in report["sums"]] == [False, True, False]
    assert "mean" not in report["all"][0]


def test_a_few_may_be_beyond_an_extreme(tmp_path):
    """Extremes of all rows do not tell that nobody has less, or more: means by job are not left out for that."""
    values = [np.array([0, 0, 0, 1, 4, 1, 1]), np.array([0, 0, 2, 1, 0, 1, 0])]
    assert tried(Case(6, 7, "extremes", "mean", "", '"job"'), values, tmp_path) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "largest", "seeds"), [(1, 4000, 1500), (1, 100_000, 60), (2, 40_000, 1000)])
def test_no_sums_of_many_studies_tell(tmp_path, jobs, largest, seeds):
    found = [tried(*drawn(seed, jobs, largest), tmp_path) for seed in range(1000, 1000 + seeds)]
    assert sum(shown for shown, _ in found) >= seeds / 10
    assert sum(told for _, told in found) >= seeds / 10


def ages() -> np.ndarray:
    """How many of 600 people have each age."""
    rng = np.random.default_rng(7)
    return np.bincount(np.clip(rng.normal(45, 14, 600), 0, 100).astype(int), minlength=101)


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("sums", ["mean", "variance"])
def test_of_hundreds_of_rows_everything_is_shown(tmp_path, kind, sums):
    """Ages of 600 people in ten bins, or a salary in any: what people ask for is not refused."""
    report = Case(100, 10, kind, sums, "", "").report(tmp_path, [ages()])
    assert "mean" in report["sums"][0]


@pytest.mark.parametrize(("rows", "shown"), [(4, True), (3, False)])
def test_a_variance_of_three_rows_tells_them_all(tmp_path, rows, shown):
    """Their sum and the sum of their squares: of wide bounds too few threes have both. A mean alone is shown."""
    text = HEAD.replace(f"= {SMALLEST}", "= 3") + "[columns.pay]\nlow = 0\nhigh = 250000\nunit = 1\n"
    paid = ["pay", "41250", "67800", "90017", "12001"][: rows + 1]
    for kind in ("mean", "variance"):
        study = Study.from_text(text + f'[statistics.x]\nkind = "{kind}"\ncolumn = "pay"\n')
        (tmp_path / "ada.csv").write_text("\n".join(paid[:2]) + "\n")
        (tmp_path / "bob.csv").write_text("\n".join([paid[0], *paid[2:]]) + "\n")
        report = run_together(study, {name: study.read(tmp_path / f"{name}.csv") for name in ("ada", "bob")})
        assert ("mean" in report["x"][0]) == (shown or kind == "mean")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("numbers", [[4, 1, 11, 5], [3, 3, 0]])
def test_extremes_do_not_tell_how_a_histogram_divides_what_it_leaves_out(tmp_path, numbers, order):
    """Five are in two bins that are left out, and the lowest four in the first of them: one is in the second."""
    text, bins = HEAD + COLUMNS.format(top=len(numbers) - 1), len(numbers) - 1
    for kind in ("histogram", "extremes")[::order]:
        text += BINNED.format(kind=kind, bins=bins, by="").replace("bins]", f"{kind}]")
    (tmp_path / "all.csv").write_text("answer,job\n" + "".join(f"{k},a\n" * n for k, n in enumerate(numbers)))
    study = Study.from_text(text)
    report = run_together(study, {"ada": study.read(tmp_path / "all.csv")})
    values = all_counts(sum(numbers), len(numbers))
    for kind in ("histogram", "extremes"):
        if "why" not in report[kind][0]:
            case = Case(bins, bins, kind, "mean", "", "")
            values = values[case._binned_alike(values, np.array(numbers))]
    assert not few(values[None])


def test_an_extreme_of_two_halves_does_not_tell_both(tmp_path):
    """Neither of two bins has four of six values: they have three each, which extremes alone would tell."""
    case = Case(1, 2, "extremes", "mean", "", "")
    assert case.report(tmp_path, [np.array([3, 3])])["bins"] == [{"count": None, "why": WHY}]
    assert "why" not in case.report(tmp_path, [np.array([4, 3])])["bins"][0]


def test_bins_are_many_more_than_are_looked_at(tmp_path):
    """With 10 000 bins nobody looks for hours, or with gigabytes, for other values: there is no mean beside them."""
    values = np.bincount(np.random.default_rng(3).integers(0, 20_001, 3000), minlength=20_001)
    report = Case(20_000, 10_000, "histogram", "mean", "", "").report(tmp_path, [values])
    assert len(report["bins"]) == 10_000
    assert report["sums"] == [{"count": None, "why": f"with bins {WHY}"}]


def test_other_values_are_looked_for_only_so_long(tmp_path, monkeypatch):
    """What is not found by then is taken to tell of sums, and not of bins alone: the same at all parties."""
    monkeypatch.setattr(alternatives, "WORK", 10)
    report = Case(100, 10, "histogram", "mean", "", "").report(tmp_path, [ages()])
    assert "why" not in report["bins"][0]
    assert report["sums"] == [{"count": None, "why": f"with bins {WHY}"}]
