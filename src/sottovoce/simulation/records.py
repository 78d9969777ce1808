"""Which steps are recorded, room for what is measured there, and what is left of it at the end.

A list of all steps would take as long to write as the errors themselves, so a plan that has every step of a stretch
holds only where it begins and ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import whole
from ..methods.base import Array

__all__ = ["NEVER", "Plan", "Record", "Recorder", "Records", "planned"]

NEVER = 2**62
"""The step of no record: what comes after the last one of a plan."""
MOST_RECORDS = 10**8
MOST_KEPT = 1000
"""Steps of a plan that is kept for the next run of the same length."""

Record = int | Sequence[int] | npt.NDArray[np.integer] | None
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Plan:
    """Distinct steps in ascending order."""

    steps: range | Indices
    """All steps of a stretch, or a list of some with :data:`NEVER` at its end."""

    @classmethod
    def of(cls, steps: Indices) -> Plan:
        """These steps, which are distinct and ascend."""
        if len(steps) and steps[-1] - steps[0] == len(steps) - 1:
            return cls(range(int(steps[0]), int(steps[-1]) + 1))
        return cls(np.append(steps, NEVER))

    def __len__(self) -> int:
        return len(self.steps) - (not isinstance(self.steps, range))

    def __getitem__(self, place: int) -> int:
        """The step in this place, :data:`NEVER` after the last."""
        return NEVER if place == len(self) else int(self.steps[place])

    def passed(self, step: int) -> int:
        """How many of the steps are at or before ``step``."""
        if isinstance(self.steps, range):
            return min(max(0, step + 1 - self.steps.start), len(self.steps))
        if step >= self[len(self) - 1]:  # most often: to the end in one go
            return len(self)
        return int(self.steps.searchsorted(step, side="right"))

    def part(self, low: int, high: int) -> Indices:
        """The steps in the places ``low`` to ``high``, the latter not included: an array."""
        steps = self.steps[low:high]
        return np.arange(steps.start, steps.stop) if isinstance(steps, range) else steps

    def part_and_next(self, low: int, high: int) -> Indices:
        """The same and the step after them, as drivers want it."""
        if not isinstance(self.steps, range):
            return self.steps[low : high + 1]
        steps = np.arange(self.steps.start + low, self.steps.start + high + 1)
        steps[-1] = self[high]
        return steps

    def places(self, steps: Indices) -> Indices:
        """The place of each of these steps, −1 for those that are not planned."""
        if isinstance(self.steps, range):
            places = steps - self.steps.start
            return np.where((places >= 0) & (places < len(self)), places, -1)
        places = self.steps.searchsorted(steps)
        return np.where(self.steps[places] == steps, places, -1)

    def after(self, step: int) -> Plan:
        """Only those after ``step``."""
        return Plan(self.steps[self.passed(step) :])


def planned(record: Record, begin: int, end: int, num_nodes: int, name: str = "record") -> Plan:
    """The steps in [begin, end] that somebody asks for: a list, or how many; ``None``: enough for a smooth curve."""
    if record is None:
        record = min(max(2 * (end - begin) // num_nodes, 100), 500)
    if isinstance(record, int | np.integer):
        return _evenly(begin, end, whole(name, record, low=1, high=MOST_RECORDS))
    if isinstance(record, range):
        if record.step == 1 and begin <= record.start < record.stop <= end + 1:
            return Plan(record)
        record = np.arange(record.start, record.stop, record.step)
    steps = _ascending(np.asarray(record).ravel())
    if steps.size and (not np.issubdtype(steps.dtype, np.integer) or steps[0] < begin or steps[-1] > end):
        raise InvalidParameter(f"{name} must be whole numbers in [{begin}, {end}], got {steps[0]} … {steps[-1]}")
    return Plan.of(steps.astype(np.int64, copy=False))


def _evenly(begin: int, end: int, count: int) -> Plan:
    """``begin``, and ``count`` steps up to ``end``, or all of them if they are fewer."""
    if count >= end - begin:
        return Plan(range(begin, end + 1))
    return _few(begin, end, count) if count <= MOST_KEPT else _some(begin, end, count)


def _some(begin: int, end: int, count: int) -> Plan:
    places = np.arange(count + 1) * ((end - begin) / count) + begin
    steps = np.empty(count + 2, dtype=np.int64)
    steps[:-1] = np.rint(places, out=places)  # they are more than 1 apart, so that none comes twice
    steps[-2:] = end, NEVER
    return Plan(steps)


_few = lru_cache(maxsize=64)(_some)  # many runs are of the same length; nobody writes to a plan


def _ascending(steps: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Sorted, each once; what is so already costs a look."""
    if (steps[1:] > steps[:-1]).all():
        return steps
    ordered = np.sort(steps)
    once: npt.NDArray[Any] = ordered[np.append(True, ordered[1:] > ordered[:-1])]
    return once


@dataclass(frozen=True, eq=False)
class Records:
    """What was measured at the recorded steps."""

    held: range | Indices
    """The steps, or from where to where all of them."""
    squared: Array
    """``(records, replicas)`` ‖x − x*‖²; NaN after a replica has stopped early."""
    drifts: Array
    """``(records, replicas)`` the largest |Σ x − Σ u − Σ c| over coordinates."""

    def __post_init__(self) -> None:
        for array in (self.held, self.squared, self.drifts):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @classmethod
    def none(cls, replicas: int) -> Records:
        """Nothing was recorded yet."""
        return cls(range(0), np.empty((0, replicas)), np.empty((0, replicas)))

    def __len__(self) -> int:
        return len(self.held)

    @property
    def steps(self) -> Indices:
        """``(records,)`` the steps, each time in an array of their own."""
        return np.arange(self.held.start, self.held.stop) if isinstance(self.held, range) else self.held.copy()

    def then(self, later: Records) -> Records:
        """These, and the later ones."""
        if not len(self):
            return later
        if not len(later):
            return self
        return Records(
            np.concatenate([self.steps, later.steps]),
            np.concatenate([self.squared, later.squared]),
            np.concatenate([self.drifts, later.drifts]),
        )


class Recorder:
    """Room for a row per planned step, and for one where the run may be interrupted.

    Whoever runs the steps fills the rows, in order.
    """

    def __init__(self, plan: Plan, replicas: int) -> None:
        self.plan, self.count = plan, 0
        self.beside: int | None = None
        """The step of the last row, if it was not planned."""
        # In one piece: of two, the system would take the memory back after each run and hand it out anew, page by page.
        self.squared, self.drifts = np.empty((2, len(plan) + 1, replicas))

    @property
    def last(self) -> int:
        """The last recorded step, −1 if there is none."""
        if self.beside is not None:
            return self.beside
        return self.plan[self.count - 1] if self.count else -1

    def rows(self, number: int, *, all_filled: bool = False) -> tuple[Array, Array]:
        """The rows of the next planned steps, ``(rows, replicas)`` for ‖x − x*‖² and for the drift of the mass.

        They are NaN, unless all replicas will be filled in.
        """
        span = slice(self.count, self.count + number)
        self.count = span.stop
        if not all_filled:
            self.squared[span], self.drifts[span] = np.nan, np.nan
        return self.squared[span], self.drifts[span]

    def row(self, step: int) -> tuple[Array, Array]:
        """The row of one step: the next that is planned, or where the run ends before it."""
        if step != self.plan[self.count]:
            self.beside = step
        squared, drifts = self.rows(1)
        return squared[0], drifts[0]

    def forget_after(self, step: int) -> None:
        """Give back the rows of later steps."""
        self.count = min(self.count, self.plan.passed(step))

    def records(self) -> Records:
        """What was recorded; it does not change any more."""
        planned = self.count - (self.beside is not None)
        steps: range | Indices = self.plan.steps[:planned]
        if self.beside is not None:
            steps = np.append(self.plan.part(0, planned), self.beside)
        return Records(steps, self.squared[: self.count], self.drifts[: self.count])
