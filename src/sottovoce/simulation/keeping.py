"""More than the error: the values themselves at chosen steps, and a statistic that the user wrote.

The drivers keep both where they record errors (:func:`.recording.keep`). A statistic is compiled by itself, and called
by its address, so that no driver is compiled anew for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.system import memory
from ..methods.base import VALUE, Array

if TYPE_CHECKING:
    from .records import Plan
    from .state import State

__all__ = [
    "Keeper",
    "Kept",
    "Statistic",
    "StatisticKeeper",
    "check_room",
    "keep_statistic",
    "keep_values",
    "places_of_kept",
    "room_for_kept",
    "with_kept",
]

Steps = npt.NDArray[np.int64]
NO_PLACES = np.empty((0, 2), dtype=np.int64)
Statistic = Callable[[Any], float]
"""What of a user's becomes compiled: the node table of one replica and coordinate → a number."""


@dataclass(frozen=True, eq=False)
class Kept:
    """What was kept, row by row."""

    steps: Steps
    """``(rows,)``"""
    numbers: Array
    """``(rows, replicas, …)``; NaN after a replica has stopped early."""

    def __post_init__(self) -> None:
        self.steps.flags.writeable = self.numbers.flags.writeable = False

    def then(self, later: Kept) -> Kept:
        """These rows, and the later ones."""
        return Kept(np.concatenate([self.steps, later.steps]), np.concatenate([self.numbers, later.numbers]))


class Keeper:
    """Room for rows, and what fills them."""

    def __init__(self, plan: Plan, shape: tuple[int, ...], look: Callable[[State, Steps], Array]) -> None:
        """``look`` gives ``(len(replicas), …)`` numbers of a state and some replicas; ``shape`` begins with all."""
        self.plan, self.look = plan, look
        self.rows = np.full((len(plan), *shape), np.nan)

    def take(self, state: State, step: int) -> None:
        """Keep those replicas that are at ``step``, if something is to be kept there."""
        row = self.plan.passed(step) - 1
        if row >= 0 and self.plan[row] == step:
            here = np.flatnonzero(state.steps_done == step)
            self.rows[row, here] = self.look(state, here)

    def enough(self, step: int, rows: int) -> int:
        """The step up to which so many rows after ``step`` are filled."""
        return self.plan[min(self.plan.passed(step) + rows - 1, len(self.plan))]

    def forget_after(self, replica: int, stop: int, until: int) -> None:
        """A replica that was run to ``until`` is put back to where it stops."""
        self.rows[self.plan.passed(stop) : self.plan.passed(until), replica] = np.nan

    def kept(self, before: Kept | None, num_steps: int) -> Kept:
        """What was reached, after what was kept before."""
        count = self.plan.passed(num_steps)
        new = Kept(self.plan.part(0, count).copy(), self.rows[:count])
        return new if before is None else before.then(new)


class StatisticKeeper(Keeper):
    """The same for a user's statistic."""

    def __init__(self, *how: Any, name: str, function: Any, failed: Steps) -> None:
        super().__init__(*how)
        self.name, self.function, self.failed = name, function, failed

    @property
    def place(self) -> tuple[Array, int, Steps]:
        """The last three of a :class:`~sottovoce.simulation.recording.Sheet`; the C function lives as long as this."""
        return self.rows, int(self.function.address), self.failed

    def check(self) -> None:
        """Raise if the statistic failed at a step that was made."""
        if self.failed[0]:
            raise InvalidParameter(f"statistic {self.name} failed: it raised an error at a recorded step")


def keep_values(state: State, plan: Plan) -> Keeper:
    """A keeper of all values: ``(rows, replicas, coordinates, n)``."""
    n = state.setup.graph.num_nodes
    shape = (*state.tables.shape[:2], n)
    check_room("record_values", len(plan), shape)

    def look(state: State, replicas: Steps) -> Array:
        return _caught_up(state, replicas)[replicas, :, :n, VALUE]

    return Keeper(plan, shape, look)


def keep_statistic(state: State, plan: Plan, statistic: Statistic) -> StatisticKeeper:
    """A keeper of a user's statistic, which is compiled: ``(rows, replicas, coordinates)``."""
    shape, n = state.tables.shape[:2], state.setup.graph.num_nodes
    check_room("statistic", len(plan), shape)
    from .compiling import c_function
    from .recording import LOOK, look_at_all, look_at_one

    if not callable(statistic):
        raise InvalidParameter(f"statistic must be a function of the node table, got {type(statistic).__name__}")
    name = getattr(statistic, "__name__", "statistic")
    function = c_function(look_at_one, LOOK, name, what="statistic", statistic=statistic)
    failed = np.zeros(1, dtype=np.int64)

    def look(state: State, replicas: Steps) -> Array:
        out = np.empty((len(replicas), shape[1]))
        look_at_all(_whole(state, _caught_up(state, replicas)), replicas, n, out, function.address, failed)
        return out

    return StatisticKeeper(plan, shape, look, name=name, function=function, failed=failed)


# -- what a runner asks ------------------------------------------------------------------------------


def room_for_kept(state: State) -> tuple[Any, ...]:
    """The last four of a :class:`~sottovoce.simulation.recording.Sheet`; empty for what is not kept."""
    values = np.empty((0, 0, 0, 0)) if state.values is None else state.values.rows
    if state.statistic is None:
        return values, np.empty((0, 0, 0)), 0, np.zeros(1, dtype=np.int64)
    return values, *state.statistic.place


def places_of_kept(state: State, steps: Steps) -> Steps:
    """``(rows, 2)`` where values and statistics of these steps are kept, or no rows if nothing is."""
    if state.values is None and state.statistic is None:
        return NO_PLACES
    keepers = state.values, state.statistic
    return np.stack([np.full(len(steps), -1) if k is None else k.plan.places(steps) for k in keepers], axis=1)


def with_kept(state: State, steps: Steps, first: int, last: int) -> Steps:
    """These steps after ``first``, and those up to ``last`` at which values are kept."""
    if state.values is None:
        return steps
    plan = state.values.plan
    return np.union1d(steps, plan.part(plan.passed(first), plan.passed(last)))


# -- beforehand --------------------------------------------------------------------------------------


def check_room(name: str, rows: int, shape: tuple[int, ...]) -> None:
    """Refuse, before anything is run, more numbers than half of this machine's memory holds."""
    size, here = 8.0 * rows * float(np.prod(shape)), memory()
    if size > here / 2:
        counts = " × ".join(f"{count:,}" for count in (rows, *shape))
        raise InvalidParameter(
            f"{name} would keep {counts} numbers (steps, replicas, coordinates, nodes), {size / 1e9:,.0f} GB; this "
            f"machine has {here / 1e9:.0f} GB, of which half may be used"
        )


def _caught_up(state: State, replicas: Steps) -> Array:
    """The tables, with the nodes of a lazy method up to their replica's step."""
    setup = state.setup
    if not setup.method.lazy:
        return state.tables
    from .recording import settled

    return settled(setup.method, state.tables, state.steps_done, setup.parameters, replicas)


def _whole(state: State, tables: Array) -> Array:
    """``(replicas, coordinates, rows, fields)`` with the fields that all coordinates share, side by side in memory."""
    if state.common is None:
        return tables
    shared = np.broadcast_to(state.common[:, None], (*tables.shape[:3], state.common.shape[-1]))
    return np.concatenate([tables, shared], axis=-1)
