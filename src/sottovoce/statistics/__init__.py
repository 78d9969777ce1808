"""What people compute from averages: statistics of tables whose rows stay with their owners.

Each statistic is a pair: what a party's rows add to sums of whole numbers, and what follows from the sums of all
parties. A study declares several of them over the same columns.
"""

from __future__ import annotations

from .example import write_example
from .inference import difference, known_to
from .releasing import StudyRelease
from .report import Released, Result, StudyReport
from .running import run_study
from .study import Study
from .table import Table
from .trying import PlainSum, run_together

__all__ = [
    "PlainSum",
    "Released",
    "Result",
    "Study",
    "StudyRelease",
    "StudyReport",
    "Table",
    "difference",
    "known_to",
    "run_study",
    "run_together",
    "write_example",
]
