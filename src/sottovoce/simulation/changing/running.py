"""The executor for networks that change: each stage is run by a compiled driver, and the numbers carry over."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import count, pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...methods.base import Array, Method, NeighbourMethod, PairMethod, PushMethod, RoundMethod
from ..kinds import base_of, kind_of
from ..random.streams import Stream
from ..running import Runner
from .entering import check_entry, enter
from .noting import note_all_counted
from .timetable import Period, Timetable

if TYPE_CHECKING:
    from ..setup import Setup

__all__ = ["StagedRunner", "check_stages", "plain_steps", "way_of"]

MODULES: dict[type[Any], str] = {
    PairMethod: "pairs",
    PushMethod: "pushes",
    NeighbourMethod: "neighbours",
    RoundMethod: "rounds",
}


def way_of(method: Method) -> ModuleType:
    """The module that runs this kind of method where something fails."""
    base = base_of(type(method))
    if base not in MODULES:
        raise Unsupported(
            f"stages are not for {method.name}: what a lost message does in a set of edges is not defined"
        )
    return import_module(f".{MODULES[base]}", __package__)


def check_stages(setup: Setup) -> None:
    """Refuse what the method does not say how to do."""
    method, periods = setup.method, setup.timetable.periods
    way = way_of(method)
    for stage, period in zip(setup.stages, periods, strict=True):
        way.check(method, period)
        if not kind_of(method).weighted and not (stage.edge_probabilities is None and stage.node_rates is None):
            raise Unsupported(
                f"{method.name} does not fire one edge at a time: a stage cannot say how likely edges are"
            )
    for before, now in pairwise(periods):
        check_entry(method, before, now)


def plain_steps(
    method: Method, timetable: Timetable, nodes: Array, parameters: Array, stream: Stream
) -> Iterator[None]:
    """One step after the other by the interpreter, in ``nodes``, each when the next item is asked for."""
    way, periods = way_of(method), timetable.periods
    for step in count():
        number = timetable.making(step)
        if number > 0 and step == periods[number].start:
            enter(nodes[None, None], np.array([0]), method, periods[number - 1], periods[number])
        way.plain_step(method, periods[number], nodes, parameters, stream, step)
        yield


class StagedRunner(Runner):
    """Runs spans of a state, none across the beginning of a stage."""

    def load(self) -> None:
        """Begin with the stage in which the state is; no kernel is compiled before it is needed."""
        self.timetable: Timetable = self.state.setup.timetable
        self.current: Period | None = None
        self.to(self.timetable.making(max(0, self.state.next_step(self.state.num_steps) - 1)))

    def to(self, number: int) -> None:
        """Make the coming steps in that period."""
        period = self.timetable.periods[number]
        if period is self.current:
            return
        before, self.current = self.current, period
        self.carried[...] = 0.0
        self.means = period.mean
        if before is None or not _alike(before, period):
            self.use(*self._driver(period), period.mean)

    def _driver(self, period: Period) -> tuple[Any, tuple[Any, ...]]:
        method = self.state.setup.method
        if not period.plain:
            driver: tuple[Any, tuple[Any, ...]] = way_of(method).driver(method, period)
            return driver
        return kind_of(method).driver(method, period.graph, period.aliases)

    def span(self, at: int, end: int) -> None:
        super().span(at, self._begin(at, end))

    def watched_span(self, at: int, end: int, wanted: float) -> None:
        super().watched_span(at, self._begin(at, end), wanted)

    def _begin(self, at: int, end: int) -> int:
        """Let replicas at ``at`` enter the period that begins there; the step up to which it may go on."""
        number = self.timetable.making(at)
        period = self.timetable.periods[number]
        self.to(number)
        if number > 0 and at == period.start:
            before = self.timetable.periods[number - 1]
            enter(self.state.tables, self.state.going_on(at), self.state.setup.method, before, period)
        return min(end, period.end)

    def measured(self, replicas: npt.NDArray[np.int64]) -> tuple[Array, Array]:
        """‖x − x*‖² and masses of replicas where they are, each in the period of its last step."""
        squared, masses = np.empty(len(replicas)), np.empty((len(replicas), self.state.num_coordinates))
        numbers = np.array(
            [self.timetable.making(max(0, done - 1)) for done in self.state.steps_done[replicas].tolist()]
        )
        for number in np.unique(numbers).tolist():
            self.to(number)
            these = np.flatnonzero(numbers == number)
            here = super().measured if self.timetable.periods[number].counted.all() else self._counted
            squared[these], masses[these] = here(replicas[these])
        return squared, masses

    def drift(self, masses: Array) -> Array:
        """What is missing of masses in the current period."""
        assert self.current is not None
        return self.state.setup.drift(masses, self.current.total)

    def _counted(self, replicas: npt.NDArray[np.int64]) -> tuple[Array, Array]:
        """The same where some nodes are gone."""
        from ..recording import settled

        setup, tables = self.state.setup, self.state.tables
        assert self.current is not None
        if setup.method.lazy:
            tables = settled(setup.method, tables, self.state.steps_done, setup.parameters, replicas)
        parts, masses = np.empty((2, 1, *tables.shape[:2]))
        note_all_counted(tables, replicas, self.sheet(self.no_records[0], parts, masses), self.current.counted)
        return parts[0, replicas].sum(axis=-1), masses[0, replicas]


def _alike(one: Period, other: Period) -> bool:
    """Whether the same driver with the same arguments serves both: only private values differ."""
    names = ("counted", "able", "links", "first_calls")
    both = ((getattr(one, name), getattr(other, name)) for name in names)
    same = all(mine is yours or np.array_equal(mine, yours) for mine, yours in both)
    clocks = one.aliases is other.aliases or not (len(one.aliases.accept) or len(other.aliases.accept))
    return same and clocks and one.loss == other.loss
