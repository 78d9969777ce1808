"""Made-up companies and a study of their salaries, to try things out: the same files for the same seed.

Nothing here is about anybody. Companies differ in size and in how they pay; women are paid somewhat less than men; one
occupation exists at two companies only.
"""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path

import numpy as np

from ..errors import InvalidParameter

__all__ = ["COMPANIES", "write_example"]

COMPANIES = (
    "alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "willow",
)  # fmt: skip
WAGES = {"assembly": 34_000, "engineering": 58_000, "laboratory": 47_000, "office": 41_000, "sales": 45_000}
RARE = "laboratory"
LABORATORIES = ("elm", "oak")
GAP = 0.93
"""What a woman is paid of what a man would be."""

STUDY = """\
# Salaries of twelve companies, by occupation and gender.

[study]
name = "salaries"
smallest_group = 20
most_rows = 3000

[columns.salary]
low = 15000
high = 120000
unit = 1
clip = true

[columns.occupation]
categories = ["assembly", "engineering", "laboratory", "office", "sales"]

[columns.gender]
categories = ["f", "m"]

[statistics.pay]
kind = "mean"
column = "salary"
by = ["occupation", "gender"]
"""


def write_example(folder: str | PathLike[str], *, seed: int = 1) -> list[Path]:
    """Write ``salaries.toml`` and a CSV file for each of twelve companies.

    Parameters
    ----------
    folder
        Where to; made if it is not there.
    seed
        Decides everything random.

    Returns
    -------
    list of Path
        The study, then the companies in the order of the alphabet.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     study, *companies = write_example(folder)
    ...     print(study.name, len(companies), companies[0].read_text().split()[:3])
    salaries.toml 12 ['salary,occupation,gender', '61507,sales,m', '66356,engineering,f']
    """
    given: object = seed
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise InvalidParameter(f"seed must be a whole number, at least 0, got {seed!r}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "salaries.toml").write_text(STUDY, encoding="utf-8")
    rng = np.random.default_rng(seed)
    paths = [_company(folder / f"{name}.csv", name, rng) for name in COMPANIES]
    return [folder / "salaries.toml", *paths]


def _company(path: Path, name: str, rng: np.random.Generator) -> Path:
    """One company: its size, how it pays, who works there."""
    size, level = int(rng.integers(300, 1500)), rng.normal(1.0, 0.08)
    shares = {work: rng.uniform(0.5, 1.5) for work in WAGES if work != RARE or name in LABORATORIES}
    total = sum(shares.values())
    works = rng.choice(list(shares), size, p=[share / total for share in shares.values()])
    genders = rng.choice(["f", "m"], size)
    with path.open("w", encoding="utf-8", newline="") as stream:
        lines = csv.writer(stream, lineterminator="\n")
        lines.writerow(["salary", "occupation", "gender"])
        for work, gender in zip(works, genders, strict=True):
            wage = WAGES[str(work)] * level * (GAP if gender == "f" else 1.0) * rng.lognormal(0.0, 0.2)
            lines.writerow([round(wage), work, gender])
    return path
