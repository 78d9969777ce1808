"""What people compute from averages: statistics of tables whose rows stay with their owners.

Each statistic is a pair: what a party's rows add to sums of whole numbers, and what follows from the sums of all
parties. A study declares several of them over the same columns.
"""

from __future__ import annotations

from .report import Result, StudyReport
from .running import PlainSum, run_study, run_together
from .study import Study
from .table import Table

__all__ = ["PlainSum", "Result", "Study", "StudyReport", "Table", "run_study", "run_together"]
