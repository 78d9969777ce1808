"""The run behind one page: methods in step on one graph, advanced in short pieces, pictured after each.

Synchronous and without any input or output: :mod:`.stream` calls it from worker threads. A slice is cut by what its
steps cost (:class:`Pace`), so that closing a page stops its computation soon and other pages get their turn.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..methods import Method, PairMethod
from ..methods.base import Array
from ..scenario.scenario import Scenario
from ..simulation import Solution, Status, fired_edges, simulate
from .reading import record_steps

__all__ = ["FULLEST_SPEED_FRAMES", "Lane", "Pace", "Playback", "chances_for", "cost_of_step", "simulated"]

SLICE_SECONDS = 0.05
"""About how long one slice of a run takes."""

FIRST_WORK = 200_000
"""Updates of single nodes in the first slice, when nothing is known about the speed."""

FULLEST_SPEED_FRAMES = 60
"""At full speed a run is shown in about this many pictures, so that one sees it happen."""

TRACED = 40
"""Nodes whose values are followed over time; beyond :data:`TRACED_UP_TO` nodes, quantiles are."""
TRACED_UP_TO = 2_000
TRACE_POINTS = 100
TRACE_POINTS_OF_MANY = 20
"""Over a whole run they are noted so often, however fast it goes: a line from the start to the end would lie."""
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
BINS = 60
RECENT_EDGES = 24


@dataclass
class Lane:
    """One method's run, and what has been recorded of it."""

    problem: Scenario
    method: Method
    solution: Solution | None = None
    steps: list[int] = field(default_factory=lambda: [0])
    errors: list[float] = field(default_factory=list)
    trace: list[tuple[int, Array]] = field(default_factory=list)
    mass_error: float = 0.0

    def __post_init__(self) -> None:
        self.errors.append(1.0 if np.ptp(self.problem.private_values) > 0.0 else 0.0)
        self._note_trace()

    @property
    def step(self) -> int:
        """Steps done."""
        return 0 if self.solution is None else self.solution.num_steps

    @property
    def values(self) -> Array:
        """``(n,)`` current values."""
        return self.problem.private_values if self.solution is None else self.solution.values

    @property
    def outstanding(self) -> Array:
        """``(n,)`` noise still outstanding."""
        if self.solution is None:
            return np.zeros(self.problem.graph.num_nodes)
        return self.solution.outstanding_noise

    def advance(self, end: int) -> None:
        """Run to step ``end``, recording at the run's grid and at ``end``, and following nodes on the way."""
        for stop in (*self._stops(end), end):
            self._run_to(stop)
            self._note_trace()

    def _stops(self, end: int) -> list[int]:
        """Recorded steps between now and ``end`` at which the followed values are noted."""
        grid = record_steps(self.problem.num_steps)
        points = TRACE_POINTS if self.problem.graph.num_nodes <= TRACED_UP_TO else TRACE_POINTS_OF_MANY
        noted = grid[:: max(1, len(grid) // points)]
        inside: list[int] = noted[(noted > self.step) & (noted < end)].tolist()
        return inside

    def _run_to(self, end: int) -> None:
        problem, begin = self.problem, self.step
        grid = record_steps(problem.num_steps)
        record = np.union1d(grid[(grid > begin) & (grid <= end)], [end])
        if self.solution is None:
            record = np.append(record, 0)
            run = simulated(problem, self.method, end, record)
        else:
            run = self.solution.resume(end - begin, record=record, threads=1, progress=False)
        if self.solution is None:  # the engine's own word on step 0
            self.steps, self.errors = [], []
        self.steps += run.steps.tolist()
        self.errors += run.relative_error.tolist()
        self.mass_error = max(self.mass_error, float(run.mass_error.max(initial=0.0)))
        self.solution = run.without_records()

    def _note_trace(self) -> None:
        values = self.values
        if len(values) > TRACED_UP_TO:
            column = np.quantile(values, QUANTILES)
        else:
            column = values[traced_nodes(len(values))]
        self.trace.append((self.step, np.append(column, values.mean())))

    def take_trace(self) -> tuple[list[int], list[Array]]:
        """Steps and followed values since the last time this was called; they are not kept."""
        taken, self.trace = self.trace, []
        return [step for step, _ in taken], [column for _, column in taken]

    def recorded(self) -> tuple[npt.NDArray[np.int64], Array]:
        """Steps and relative errors at the run's grid: the numbers of one uninterrupted ``simulate``."""
        steps, errors = np.array(self.steps), np.array(self.errors)
        wanted = np.isin(steps, record_steps(self.problem.num_steps))
        return steps[wanted], errors[wanted]


def simulated(
    problem: Scenario, method: Method, num_steps: int, record: Sequence[int] | npt.NDArray[np.int64]
) -> Solution:
    """One method's run of a problem, as every part of the page computes it."""
    return simulate(
        problem.graph, problem.private_values, method, num_steps=num_steps, seed=problem.seed, record=record,
        edge_probabilities=chances_for(method, problem), threads=1, progress=False,
    )  # fmt: skip


def chances_for(method: Method, problem: Scenario) -> Array | None:
    """How likely edges are to fire; nothing where no single edge fires."""
    return problem.edge_probabilities if isinstance(method, PairMethod) else None


def traced_nodes(num_nodes: int) -> npt.NDArray[np.int64]:
    """Which nodes are followed over time."""
    return np.unique(np.linspace(0, num_nodes - 1, min(TRACED, num_nodes)).round().astype(np.int64))


def cost_of_step(problem: Scenario) -> int:
    """Updates of single nodes in one step of all methods: two for an exchange, all nodes and messages for a round."""
    whole = problem.graph.num_nodes + 2 * problem.graph.num_edges
    return sum(whole if method.in_rounds else 2 for method in problem.methods)


class Pace:
    """How many steps make a slice of about :data:`SLICE_SECONDS`: first by nodes × steps, then as measured.

    Parameters
    ----------
    cost
        Updates of single nodes in a step.

    Examples
    --------
    >>> pace = Pace(cost=100)
    >>> pace.steps
    2000
    >>> pace.note(2000, seconds=0.5)
    >>> pace.steps
    200
    >>> pace.note(2, seconds=0.001)
    >>> pace.steps
    200
    """

    def __init__(self, cost: int) -> None:
        self.steps = max(1, FIRST_WORK // cost)

    def note(self, steps: int, *, seconds: float) -> None:
        """So many steps took so long. A slow slice may have been a compilation, a fast one luck: no large leaps up.

        A short way that took little time says nothing.
        """
        if steps < self.steps and seconds < SLICE_SECONDS:
            return
        fitting = steps * SLICE_SECONDS / max(seconds, 1e-6)
        self.steps = max(1, int(min(fitting, 4 * max(self.steps, steps))))


class Playback:
    """All lanes of a problem, advanced together.

    Parameters
    ----------
    problem
        What to run.
    drawn
        Whether the page draws every node, or distributions.
    """

    def __init__(self, problem: Scenario, *, drawn: bool) -> None:
        self.problem, self.drawn = problem, drawn
        self.pace = Pace(cost_of_step(problem))
        self.rewind()

    def rewind(self) -> None:
        """Back to the start."""
        self.lanes = [Lane(self.problem, method) for method in self.problem.methods]
        self._sent = [0] * len(self.lanes)

    @property
    def step(self) -> int:
        """Steps done by every lane."""
        return self.lanes[0].step

    @property
    def finished(self) -> bool:
        """Whether the last step was run."""
        return self.step >= self.problem.num_steps

    @property
    def diverged(self) -> bool:
        """Whether some method's values are no longer finite."""
        return any(lane.solution is not None and lane.solution.status is Status.DIVERGED for lane in self.lanes)

    def advance(self, target: int) -> None:
        """Run every lane one slice further, at most to step ``target``."""
        end = min(target, self.step + self.pace.steps)
        steps, began = end - self.step, time.perf_counter()
        with np.errstate(all="ignore"):
            for lane in self.lanes:
                lane.advance(end)
        self.pace.note(steps, seconds=time.perf_counter() - began)

    def all_fired(self) -> npt.NDArray[np.int64]:
        """Which edge fires at every step of the whole run, done or still to come."""
        problem = self.problem
        return fired_edges(
            problem.graph,
            num_steps=problem.num_steps,
            seed=problem.seed,
            edge_probabilities=problem.edge_probabilities,
        )

    # -- pictures ------------------------------------------------------------------------------

    def frame(self) -> tuple[dict[str, Any], list[Array]]:
        """A header for JSON, and the arrays it describes: what has changed since the last frame."""
        arrays: list[Array] = []
        with np.errstate(all="ignore"):  # a run may diverge; it is shown all the same
            lanes = [dict(self._lane_frame(index, arrays)) for index in range(len(self.lanes))]
        header = {
            "type": "frame",
            "step": self.step,
            "finished": self.finished,
            "fired": [self._fired(lane) for lane in self.lanes],
            "lanes": lanes,
        }
        return header, arrays

    def _fired(self, lane: Lane) -> list[int]:
        """The last few edges that fired, oldest first; none for a method in rounds, where all nodes act at once."""
        if not self.drawn or lane.solution is None or lane.method.in_rounds:
            return []
        fired = lane.solution.fired_edges(max(0, self.step - RECENT_EDGES), self.step)
        return [int(edge) for edge in fired.reshape(-1)[-RECENT_EDGES:]]

    def _lane_frame(self, index: int, arrays: list[Array]) -> Iterator[tuple[str, Any]]:
        lane = self.lanes[index]
        records, self._sent[index] = self._sent[index], len(lane.steps)
        trace_steps, trace = lane.take_trace()

        def put(array: npt.ArrayLike) -> list[int]:
            """Append an array; its place in the frame is (which, length)."""
            arrays.append(np.ascontiguousarray(array, dtype=np.float64).reshape(-1))
            return [len(arrays) - 1, len(arrays[-1])]

        values, outstanding = lane.values, lane.outstanding
        yield "error", lane.errors[-1]
        yield "meanOffset", float(values.mean() - self.problem.private_values.mean())
        yield "massError", lane.mass_error
        yield "noise", float(np.sqrt(np.mean(outstanding**2)))
        yield "status", str(lane.solution.status if lane.solution else Status.COMPLETED)
        yield "steps", put(lane.steps[records:])
        yield "errors", put(lane.errors[records:])
        yield "traceSteps", put(trace_steps)
        yield "trace", put(trace)
        if self.drawn:
            yield "values", put(values)
            yield "outstanding", put(outstanding)
        else:
            for name, array in (("valueBins", values), ("noiseBins", outstanding)):
                counts, edges = _histogram(array)
                yield name, {"counts": put(counts), "low": float(edges[0]), "high": float(edges[-1])}


def _histogram(array: Array) -> tuple[Array, Array]:
    """Counts over all but the outermost thousandth on either side; those are counted in the end bins."""
    array = array[np.isfinite(array)] if not np.isfinite(array).all() else array
    low, high = np.quantile(array, (0.001, 0.999)) if len(array) else (0.0, 0.0)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    counts, edges = np.histogram(np.clip(array, low, high), bins=BINS, range=(float(low), float(high)))
    return counts.astype(np.float64), edges
