"""A study over parties finds what the same statistic finds on all rows together."""

from __future__ import annotations

import re

import numpy as np
import pandas
import pytest
from scipy.optimize import minimize

from sottovoce.statistics.columns import TAKEN

from . import made


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Everything, with nothing hidden."""
    return made.found(tmp_path_factory.mktemp("tables"))


def test_no_column_of_words_can_be_called_as_a_number_of_a_result(report):
    """The number would stand in its place: which group a row is about was lost."""
    rows = [row for result in report.results if result.kind not in {"linear", "logistic"} for row in result.rows]
    assert {name for row in rows for name in row} - {"gender", "job"} <= TAKEN
    assert {result.kind for result in report.results} >= {"correlation", "quantiles", "extremes", "proportion"}


def test_counts_sums_and_means_are_those_of_all_rows(report):
    """For every group, to the last digit of the unit."""
    rows = made.pooled()
    sizes = rows.groupby(["gender", "job"]).size()
    assert {(row["gender"], row["job"]): row["count"] for row in report["people"]} == sizes.to_dict()
    sums = rows.groupby("job")["salary"].sum()
    assert {row["job"]: row["sum"] for row in report["total"]} == pytest.approx(sums.to_dict(), abs=1e-4)
    means = rows.groupby("gender")["salary"].mean()
    assert {row["gender"]: row["mean"] for row in report["pay"]} == pytest.approx(means.to_dict(), rel=1e-13)


def test_variances_and_correlations_are_those_of_all_rows(report):
    """Divided by n − 1, as pandas does."""
    rows = made.pooled()
    groups = rows.groupby("job")["salary"]
    assert {row["job"]: row["variance"] for row in report["spread"]} == pytest.approx(groups.var().to_dict(), rel=1e-12)
    deviations = {row["job"]: row["standard deviation"] for row in report["spread"]}
    assert deviations == pytest.approx(groups.std().to_dict(), rel=1e-12)
    (both,) = report["both"]
    assert both["covariance"] == pytest.approx(rows["salary"].cov(rows["age"]), rel=1e-12)
    assert both["correlation"] == pytest.approx(rows["salary"].corr(rows["age"]), rel=1e-12)


def test_histograms_count_as_numpy_does(report):
    """Equal bins over the declared range, the upper bound in the last one."""
    counts, edges = np.histogram(made.pooled()["salary"], bins=8, range=(0, 200_000))
    assert [row["count"] for row in report["bands"]] == counts.tolist()
    assert [row["from"] for row in report["bands"]] == edges[:-1].tolist()


@pytest.mark.timeout(20)
def test_many_bins_are_shown_at_once(tmp_path):
    """Ten thousand: all edges were found again for each of them, which took more than a minute at every party."""
    asked = '[statistics.bands]\nkind = "histogram"\ncolumn = "salary"\nbins = 10000\n'
    rows = made.found(tmp_path, asked)["bands"]
    assert [row["to"] for row in rows[:-1]] == [row["from"] for row in rows[1:]]


def test_quantiles_and_extremes_lie_in_their_bins(report):
    """A bin for each year: exactly; a hundred bins of salary: to their width."""
    rows = made.pooled()
    exact = np.quantile(rows["age"], [0.05, 0.5, 0.9], method="inverted_cdf")
    assert [row["from"] for row in report["years"]] == exact.tolist()
    (median,) = report["coarse"]
    assert median["from"] <= np.quantile(rows["salary"], 0.5, method="inverted_cdf") < median["to"]
    assert median["to"] - median["from"] == 2_000
    assert [row["from"] for row in report["ends"]] == [rows["age"].min(), rows["age"].max()]


def test_shares_are_those_of_all_rows(report):
    """For each gender."""
    shares = pandas.crosstab(made.pooled()["gender"], made.pooled()["job"], normalize="index").stack()
    assert {(row["gender"], row["job"]): row["share"] for row in report["jobs"]} == pytest.approx(shares.to_dict())


def design(columns: list[str]) -> np.ndarray:
    """A constant, numbers as they are, and a column for each word but the first."""
    rows = made.pooled()
    words = {"gender": ["m"], "job": ["clerk", "smith"]}
    parts = [np.ones(len(rows))]
    for name in columns:
        parts += [(rows[name] == word) * 1.0 for word in words[name]] if name in words else [rows[name]]
    return np.column_stack(parts)


def test_linear_regression_is_that_of_all_rows(report):
    """Coefficients, standard errors and R² by the textbook's formulas."""
    x, y = design(["age", "gender", "job"]), made.pooled()["salary"].to_numpy()
    coefficients, *_ = np.linalg.lstsq(x, y, rcond=None)
    left = ((y - x @ coefficients) ** 2).sum()
    errors = np.sqrt(left / (len(y) - x.shape[1]) * np.diag(np.linalg.inv(x.T @ x)))
    *rows, fit = report["model"]
    assert [row["term"] for row in rows] == ["constant", "age", "gender = m", "job = clerk", "job = smith"]
    np.testing.assert_allclose([row["coefficient"] for row in rows], coefficients, rtol=1e-9)
    np.testing.assert_allclose([row["standard error"] for row in rows], errors, rtol=1e-9)
    assert fit["coefficient"] == pytest.approx(1 - left / ((y - y.mean()) ** 2).sum(), rel=1e-10)


def test_logistic_regression_is_that_of_all_rows(report):
    """Coefficients maximise the likelihood of all rows; standard errors come from its curvature there."""
    x, y = design(["age", "job", "salary"]), (made.pooled()["gender"] == "m").to_numpy()
    scale = np.abs(x).max(axis=0)

    def loss(b):
        odds = x / scale @ b
        return np.logaddexp(0, odds).sum() - odds[y].sum()

    best = minimize(loss, np.zeros(x.shape[1]), method="BFGS", options={"gtol": 1e-9}).x
    chance = 1 / (1 + np.exp(-(x / scale @ best)))
    errors = np.sqrt(np.diag(np.linalg.inv((x * (chance * (1 - chance))[:, None]).T @ x)))
    np.testing.assert_allclose([row["coefficient"] for row in report["who"]], best / scale, rtol=1e-4)
    np.testing.assert_allclose([row["standard error"] for row in report["who"]], errors, rtol=1e-4)


@pytest.mark.parametrize(("middle", "spread"), [(30_000, 8_000), (30_000, 80), (199_000, 300)])
def test_logistic_regression_needs_no_narrow_bounds(tmp_path, middle, spread):
    """Salaries that use a small part of their bounds: steps never got smaller than their rounding."""
    discrete = pytest.importorskip("statsmodels.discrete.discrete_model", reason="the other regression")
    rng = np.random.default_rng(3)
    off = rng.normal(size=400)
    pay = np.clip(np.round(middle + spread * off, 2), 0, 200_000)
    men = rng.random(400) < 1 / (1 + np.exp(-0.3 - off))
    declared = made.study('[statistics.who]\nkind = "logistic"\noutcome = "gender"\npredictors = ["salary"]\n')
    for name, rows in {"a": slice(250), "b": slice(250, None)}.items():
        lines = (f"30,{each:.2f},{'m' if man else 'f'},cook" for each, man in zip(pay[rows], men[rows], strict=True))
        (tmp_path / f"{name}.csv").write_text("\n".join(["age,salary,gender,job", *lines]))
    _, found = made.run_together(declared, {name: declared.read(tmp_path / f"{name}.csv") for name in "ab"})["who"]
    design = np.column_stack([np.ones(400), (pay - middle) / spread])
    other = discrete.Logit(men.astype(float), design).fit(disp=0, tol=1e-12)
    assert found["coefficient"] == pytest.approx(other.params[1] / spread, rel=1e-6)
    assert found["standard error"] == pytest.approx(other.bse[1] / spread, rel=1e-6)


def test_what_rounding_has_changed_is_not_said(tmp_path):
    """A predictor that is nearly alike in all rows: too few of its digits are summed, also in many rounds."""
    head = made.HEAD.format(smallest=1).replace("high = 80\n", "high = 2000000016\n")
    asked = '[statistics.who]\nkind = "logistic"\noutcome = "gender"\npredictors = ["age"]\nrounds = 40\n'
    declared = made.Study.from_text(head + asked)
    lines = (f"{10**9 + k % 3},1,{'f' if k % 5 < 2 else 'm'},cook" for k in range(100))
    (tmp_path / "a.csv").write_text("\n".join(["age,salary,gender,job", *lines]))
    table = declared.read(tmp_path / "a.csv")
    rows = made.run_together(declared, {"a": table, "b": table})["who"]
    assert [row["coefficient"] for row in rows] == [None, None]
    assert "differ too little for the digits that are summed" in rows[0]["why"]


@pytest.mark.parametrize(("rounds", "why"), [(30, "the predictors may tell"), (3, "not found in 3 rounds")])
def test_what_cannot_be_found_is_said(tmp_path, rounds, why):
    """Outcomes that a predictor separates have no best coefficient: none is given, instead of a large one."""
    declared = made.study(
        f'[statistics.who]\nkind = "logistic"\noutcome = "gender"\npredictors = ["age"]\nrounds = {rounds}\n'
    )
    lines = ["age,salary,gender,job", *(f"{20 + k},1,{'f' if k < 20 else 'm'},cook" for k in range(40))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    table = declared.read(tmp_path / "a.csv")
    rows = made.run_together(declared, {"a": table, "b": table})["who"]
    assert [row["coefficient"] for row in rows] == [None, None]
    assert all(re.match(why, row["why"]) for row in rows)


@pytest.mark.parametrize(
    ("kind", "outcome", "ages"), [("linear", "salary", [30]), ("logistic", "gender", [30]), ("linear", "salary", [])]
)
def test_predictors_without_a_single_answer_are_said_to_be(tmp_path, kind, outcome, ages):
    """An age that all rows share is a second constant. Dashes alone looked like a group that is too small."""
    declared = made.study(f'[statistics.who]\nkind = "{kind}"\noutcome = "{outcome}"\npredictors = ["age"]\n')
    lines = (f"{age},{k},{'fm'[k % 2]},cook" for age in ages for k in range(40))
    (tmp_path / "a.csv").write_text("\n".join(["age,salary,gender,job", *lines]))
    table = declared.read(tmp_path / "a.csv")
    rows = made.run_together(declared, {"a": table, "b": table})["who"]
    assert [row["coefficient"] for row in rows] == [None, None]
    assert all(re.search("determine each other|fewer than 1 rows more than terms", row["why"]) for row in rows)


def test_regressions_are_those_of_statsmodels(report):
    """Coefficients, standard errors and R² of statsmodels on all rows: linear to nine digits, logistic to six."""
    ordinary = pytest.importorskip("statsmodels.regression.linear_model", reason="the other regression")
    discrete = pytest.importorskip("statsmodels.discrete.discrete_model")
    rows = made.pooled()
    linear = ordinary.OLS(rows["salary"].to_numpy(), design(["age", "gender", "job"])).fit()
    *found, fit = report["model"]
    np.testing.assert_allclose([row["coefficient"] for row in found], linear.params, rtol=1e-9)
    np.testing.assert_allclose([row["standard error"] for row in found], linear.bse, rtol=1e-9)
    assert fit["coefficient"] == pytest.approx(linear.rsquared, rel=1e-10)
    outcome = (rows["gender"] == "m").to_numpy(float)
    logistic = discrete.Logit(outcome, design(["age", "job", "salary"])).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose([row["coefficient"] for row in report["who"]], logistic.params, rtol=1e-6)
    np.testing.assert_allclose([row["standard error"] for row in report["who"]], logistic.bse, rtol=1e-6)
