"""Made-up tables of four parties, a study over them, and all rows in one frame."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np
import pandas
import pytest

from sottovoce.privacy.discrete import discrete_gaussian
from sottovoce.statistics import Study, StudyReport, Table, run_together


def seed_noise(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """From now on releases of studies draw from a seed: how often a test of chance fails is decided once, here."""
    drawn = functools.partial(discrete_gaussian, below=random.Random(seed).randrange)

    def seeded(variance: int, **_: Any) -> int:
        return drawn(variance)

    monkeypatch.setattr("sottovoce.statistics.releasing.discrete_gaussian", seeded)


HEAD = """
[study]
name = "pay"
smallest_group = {smallest}
most_rows = 500

[columns.salary]
low = 0
high = 200000
unit = "0.01"

[columns.age]
low = 16
high = 80
unit = 1

[columns.gender]
categories = ["f", "m"]

[columns.job]
categories = ["cook", "clerk", "smith"]
"""
EVERYTHING = """
[statistics.people]
kind = "count"
by = ["gender", "job"]
[statistics.total]
kind = "sum"
column = "salary"
by = ["job"]
[statistics.pay]
kind = "mean"
column = "salary"
by = ["gender"]
[statistics.spread]
kind = "variance"
column = "salary"
by = ["job"]
[statistics.both]
kind = "correlation"
columns = ["salary", "age"]
[statistics.bands]
kind = "histogram"
column = "salary"
bins = 8
[statistics.years]
kind = "quantiles"
column = "age"
bins = 65
probabilities = [0.05, 0.5, 0.9]
[statistics.coarse]
kind = "quantiles"
column = "salary"
bins = 100
probabilities = [0.5]
[statistics.ends]
kind = "extremes"
column = "age"
bins = 65
[statistics.jobs]
kind = "proportion"
column = "job"
by = ["gender"]
[statistics.model]
kind = "linear"
outcome = "salary"
predictors = ["age", "gender", "job"]
[statistics.who]
kind = "logistic"
outcome = "gender"
predictors = ["age", "job", "salary"]
"""
PARTIES = ("ada", "bob", "cyd", "dan")


def frames() -> dict[str, pandas.DataFrame]:
    """Forty rows for each party; few smiths."""
    rng = np.random.default_rng(1)
    out = {}
    for name in PARTIES:
        age, gender = rng.integers(18, 66, 40), rng.choice(["f", "m"], 40, p=[0.4, 0.6])
        pay = np.round(20_000 + 600.0 * age + 3_000.0 * (gender == "m") + rng.normal(size=40) * 5_000, 2)
        job = rng.choice(["cook", "clerk", "smith"], 40, p=[0.5, 0.4, 0.1])
        out[name] = pandas.DataFrame({"age": age, "salary": pay, "note": "x", "gender": gender, "job": job})
    return out


def study(statistics: str = EVERYTHING, smallest: int = 1) -> Study:
    """The study with these statistics."""
    return Study.from_text(HEAD.format(smallest=smallest) + statistics)


def tables(declared: Study, folder) -> dict[str, Table]:
    """The parties' rows, by way of CSV."""
    out = {}
    for name, frame in frames().items():
        frame.to_csv(folder / f"{name}.csv", index=False)
        out[name] = declared.read(folder / f"{name}.csv")
    return out


@functools.cache
def pooled() -> pandas.DataFrame:
    """All rows."""
    return pandas.concat(frames().values(), ignore_index=True)


def found(folder, statistics: str = EVERYTHING, smallest: int = 1) -> StudyReport:
    """The report over all parties."""
    declared = study(statistics, smallest)
    return run_together(declared, tables(declared, folder))
