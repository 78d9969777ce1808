"""``sv.ensemble``: one method on many problems, each with a graph, private values and schedules of its own.

A figure of one run shows one graph, one set of values and one schedule. An ensemble draws all three again and again, so
that a run can be placed among its like, and says which of the three makes the difference (:mod:`.spread`). Every draw
has its own address below the seed: problem 7 is the same whatever the size of the ensemble, and can be run again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter, Unsupported
from ..foundation.arguments import Array, whole
from ..foundation.extras import require
from ..foundation.interrupting import uninterrupted
from ..foundation.progress import Progress, Report
from ..graphs.graph import Graph
from ..methods import Method
from ..simulation import Solution
from . import tables
from .problems import SOURCES, Problems
from .provenance import Provenance
from .spread import Spread, split_spread

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

__all__ = ["Ensemble", "ensemble"]

MANY, FEW = 250, 2
"""Draws of the outermost source that varies, and of those inside it, if nobody says how many."""

LOWEST = 1e-32
"""Relative errors below this are rounding, and count as this where logarithms are taken."""


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble:
    """What :func:`ensemble` found. Axes are graphs, values of a graph, schedules of a problem, and recorded steps."""

    problems: Problems
    method: str
    """The label of the method on the first problem."""
    num_steps: int
    steps: npt.NDArray[np.int64]
    """``(records,)``."""
    relative_error: Array
    """``(graphs, values, schedules, records)``."""

    def errors_at(self, step: int | None = None) -> Array:
        """``(graphs, values, schedules)`` errors at a recorded step; ``None``: the last."""
        return np.asarray(self.relative_error[..., self._place(step)])

    def quantile(self, share: float | Sequence[float], step: int | None = None) -> Any:
        """The error that this share of all runs does not exceed."""
        return np.quantile(self.errors_at(step), share)

    def rank(self, error: float, step: int | None = None) -> float:
        """The share of runs with a smaller error: 0.5 is a typical run, near 0 a lucky one, near 1 an unlucky one."""
        return float((self.errors_at(step) < error).mean())

    def spread(self, step: int | None = None) -> Spread:
        """The variance of log₁₀ of the relative error at a recorded step, split by source.

        Raises
        ------
        InvalidParameter
            If a source that varies was drawn only once, which leaves nothing to compare.
        Unsupported
            If runs diverged.
        """
        varying = self.problems.varying
        once = [source for source in varying if self.problems.sizes[source] < 2]
        if once:
            raise InvalidParameter(f"{once[0]} must be drawn twice or more to split the spread, got 1")
        errors = self.errors_at(step)
        if not np.isfinite(errors).all():
            raise Unsupported(f"{int((~np.isfinite(errors)).sum())} of {errors.size} runs diverged: no spread to split")
        shape = [self.problems.sizes[source] for source in varying]
        return split_spread(np.log10(np.maximum(errors, LOWEST)).reshape(shape), varying)

    def run(self, graph: int = 0, values: int = 0) -> Solution:
        """One problem of the ensemble again, with all its schedules as replicas and every value in the result."""
        return self.problems.run(graph, values, num_steps=self.num_steps, record=self.steps)

    @property
    def provenance(self) -> Provenance:
        """What was drawn and run, for the files."""
        return Provenance.of(**self.problems.words(), method=self.method, num_steps=self.num_steps)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each run and recorded step."""
        shape = self.relative_error.shape
        places = np.indices(shape).reshape(4, -1)
        columns = [*places[:3].tolist(), self.steps[places[3]].tolist(), self.relative_error.reshape(-1).tolist()]
        names = (*SOURCES, "step", "relative_error")
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_dataframe(self) -> pandas.DataFrame:
        """One row for each run and recorded step; where it comes from is in ``attrs``."""
        require("pandas", by="a data frame")
        import pandas

        frame = pandas.DataFrame.from_records(self.records())
        frame.attrs.update(self.provenance.as_dict())
        return frame

    def to_csv(self, path: str | Path | None = None, *, provenance: Provenance | None = None) -> str:
        """The same as comma-separated text; also written to ``path``, below comments that say where it comes from."""
        made = self.provenance if provenance is None else provenance
        return tables.write(tables.csv_text(self.records()), path, before=made.comments())

    def plot(self, axes: matplotlib.axes.Axes | None = None, **style: Any) -> matplotlib.axes.Axes:
        """Median against steps, with bands of 50 and 80 % of all runs."""
        from ..plotting.ensembles import plot_ensemble

        return plot_ensemble(self, axes, **style)

    def summary(self) -> dict[str, Any]:
        """The last recorded step in numbers: quantiles, and the spread by source if it can be split."""
        low, middle, high = self.quantile([0.1, 0.5, 0.9]).tolist()
        found: dict[str, Any] = {"step": int(self.steps[-1]), "low": low, "median": middle, "high": high}
        try:
            spread = self.spread()
        except (InvalidParameter, Unsupported):
            return found
        return found | {"log10_std": spread.std, "parts": [vars(part) for part in spread.parts]}

    def __repr__(self) -> str:
        drawn = ", ".join(f"{size} × {source}" for source, size in self.problems.sizes.items())
        return f"<Ensemble {self.method}: {drawn}, {self.num_steps} steps, median error {self.quantile(0.5):.2e}>"

    def _place(self, step: int | None) -> int:
        if step is None:
            return -1
        places = np.flatnonzero(self.steps == step)
        if not len(places):
            raise InvalidParameter(f"step must be one of the {len(self.steps)} recorded, got {step}")
        return int(places[0])


def ensemble(
    graph: str | Graph | Callable[[int], Graph],
    private_values: npt.ArrayLike | Mapping[Any, Any] | Callable[[int, int], npt.ArrayLike],
    method: Method | str | Callable[[Graph], Method],
    *,
    num_steps: int,
    seed: int | None = None,
    graphs: int | None = None,
    values: int | None = None,
    schedules: int | None = None,
    record: int | Sequence[int] = 50,
    progress: Report | bool | None = None,
) -> Ensemble:
    """Run ``method`` on many problems that are drawn from one declaration.

    It is a call of its own, and no option of :func:`~sottovoce.simulate`: a :class:`~sottovoce.Solution` has one graph
    and one set of private values, and every audit and replay of it relies on that.

    Parameters
    ----------
    graph
        A random family in words, as on the command line (``"rgg:100"``); a function from a seed to a graph; or one
        graph, which then does not vary. All graphs must have the same number of nodes.
    private_values
        ``"uniform"`` or ``"normal"``; a function from (number of nodes, seed) to values; or values, which then do not
        vary.
    method
        A method, in words if you like; or a function from a graph to a method, for parameters that depend on it, such
        as ``lambda graph: sv.NoiseInsertion.largest_free(graph, noise_std=1.0)``.
    num_steps, record
        As in :func:`~sottovoce.simulate`.
    seed
        Determines everything: two ensembles with one seed have the same problems, whatever the method.
    graphs, values, schedules
        How many graphs, sets of values for each graph, and schedules for each of these. By default 250 of the first
        of them that varies and 2 of the others, enough to split the spread; what does not vary is drawn once.
    progress
        As in :func:`~sottovoce.simulate`.

    Examples
    --------
    >>> import sottovoce as sv
    >>> found = sv.ensemble("rgg:30", "uniform", sv.StandardGossip(), num_steps=500, seed=1, graphs=40)
    >>> found.relative_error.shape
    (40, 2, 2, 51)
    >>> found.rank(found.quantile(0.5))
    0.5
    >>> [part.source for part in found.spread().parts]
    ['graph', 'values', 'schedule']
    """
    num_steps = whole("num_steps", num_steps, low=1)
    problems = Problems.declared(
        graph, private_values, method, seed=secrets.randbits(63) if seed is None else whole("seed", seed, low=0),
        sizes={"graph": graphs, "values": values, "schedule": schedules}, default=(MANY, FEW),
    )  # fmt: skip
    sizes = tuple(problems.sizes.values())
    errors: list[Array] = []
    steps: npt.NDArray[np.int64] | None = None
    label = ""
    with Progress(sizes[0] * sizes[1], "problems", report=progress) as bar:
        for place in np.ndindex(sizes[:2]):
            run = uninterrupted(problems.run(*place, num_steps=num_steps, record=record))
            steps, label = (run.steps, run.method.label()) if steps is None else (steps, label)
            errors.append(np.atleast_2d(run.relative_error))
            bar.at(len(errors))
    assert steps is not None
    found = np.array(errors).reshape(*sizes, len(steps))
    found.flags.writeable = steps.flags.writeable = False
    return Ensemble(problems, label, num_steps, steps, found)
