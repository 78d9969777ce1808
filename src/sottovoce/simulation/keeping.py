"""More than the error: the values themselves at chosen steps, and a statistic that the user wrote.

Drivers know nothing of this. A run makes its steps in spans, and a span ends where something is to be kept; so the
state between two steps is looked at, whatever the method and however many cores. One look costs about 50 µs beside what
it copies or computes.
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
    from .compiling import Kernel
    from .records import Plan
    from .state import State

__all__ = ["Keeper", "Kept", "Statistic", "check_room", "keep_statistic", "keep_values"]

Steps = npt.NDArray[np.int64]
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

    def next_after(self, step: int, end: int) -> int:
        """The first step after ``step`` at which something is kept, or ``end``."""
        return min(end, self.plan[self.plan.passed(step)])

    def take(self, state: State, replicas: Steps) -> None:
        """Keep those of these replicas that are where something is to be kept."""
        for step in np.unique(state.steps_done[replicas]).tolist():
            row = self.plan.passed(step) - 1
            if row >= 0 and self.plan[row] == step:
                here = replicas[state.steps_done[replicas] == step]
                self.rows[row, here] = self.look(state, here)

    def kept(self, before: Kept | None, num_steps: int) -> Kept:
        """What was reached, after what was kept before."""
        count = self.plan.passed(num_steps)
        new = Kept(self.plan.part(0, count).copy(), self.rows[:count])
        return new if before is None else before.then(new)


def keep_values(state: State, plan: Plan) -> Keeper:
    """A keeper of all values: ``(rows, replicas, coordinates, n)``."""
    n = state.setup.graph.num_nodes
    shape = (*state.tables.shape[:2], n)
    check_room("record_values", len(plan), shape)

    def look(state: State, replicas: Steps) -> Array:
        return _caught_up(state, replicas)[replicas, :, :n, VALUE]

    return Keeper(plan, shape, look)


def keep_statistic(state: State, plan: Plan, statistic: Statistic) -> Keeper:
    """A keeper of a user's statistic, which is compiled: ``(rows, replicas, coordinates)``."""
    shape, n = state.tables.shape[:2], state.setup.graph.num_nodes
    check_room("statistic", len(plan), shape)
    kernel = _compiled(statistic)

    def look(state: State, replicas: Steps) -> Array:
        out = np.empty((len(replicas), shape[1]))
        kernel.run(_whole(state, _caught_up(state, replicas)), replicas, n, out)
        return out

    with kernel.first_call(getattr(statistic, "__name__", "statistic"), what="statistic"):
        look(state, np.empty(0, dtype=np.int64))
    return Keeper(plan, shape, look)


def check_room(name: str, rows: int, shape: tuple[int, ...]) -> None:
    """Refuse, before anything is run, more numbers than half of this machine's memory holds."""
    size, here = 8.0 * rows * float(np.prod(shape)), memory()
    if size > here / 2:
        counts = " × ".join(f"{count:,}" for count in (rows, *shape))
        raise InvalidParameter(
            f"{name} would keep {counts} numbers (steps, replicas, coordinates, nodes), {size / 1e9:,.0f} GB; this "
            f"machine has {here / 1e9:.0f} GB, of which half may be used"
        )


def _compiled(statistic: object) -> Kernel:
    from .compiling import specialised

    if not callable(statistic):
        raise InvalidParameter(f"statistic must be a function of the node table, got {type(statistic).__name__}")
    return specialised(look_at_all, statistic=statistic)


def nothing(nodes: Any) -> Any:
    """Takes the place of a statistic in the template."""
    return nodes[0, 0]


statistic = nothing  # a user's own takes its place in `look_at_all`


def look_at_all(tables: Any, replicas: Any, num_nodes: Any, out: Any) -> None:
    """The statistic of every coordinate of some replicas; it gets a copy, and so cannot change the run."""
    for k in range(len(replicas)):
        for c in range(tables.shape[1]):
            out[k, c] = float(statistic(tables[replicas[k], c, :num_nodes].copy()))


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
