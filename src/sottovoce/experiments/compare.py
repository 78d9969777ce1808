"""``sv.compare``: any methods on one graph, side by side, as a table that prints itself, plots and exports.

Methods differ in what a step is, so they are given the same number of *messages* unless asked otherwise. What
is measured stands beside what is known beforehand (:meth:`~sottovoce.methods.base.Method.guarantee`), what a curious
neighbour learns (:mod:`.neighbour`), and what a method needs to know.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import number
from ..foundation.html import html_table
from ..foundation.interrupting import uninterrupted
from ..graphs.graph import Graph
from ..graphs.naming import node_number
from ..methods import METHODS, Method
from ..simulation import Solution, simulate
from . import tables
from .neighbour import Neighbour, curious_neighbour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Comparison", "Row", "compare", "customary_methods", "fitted_factor"]

Budget = Literal["messages", "steps"]
AUDITED_STEPS = 2_000
AUDITED_NODES = 200
"""What a curious neighbour learns is computed from the first steps, on graphs up to this size: it is O(n²) a step."""
ROUNDING = 1e-24
"""Relative errors below this are rounding: no rate can be read from them."""


@dataclass(frozen=True)
class Row:
    """One method of a comparison. ``None``: not known, not defined, or not computed."""

    method: str
    steps: int
    messages: int
    relative_error: float
    """Median over replicas of ‖x − c̄‖²/‖c − c̄‖² at the end."""
    relative_error_low: float
    relative_error_high: float
    """10 % and 90 % quantiles of the same."""
    accuracy: float
    """Root mean square of x_i − c̄ over nodes, coordinates and replicas at the end, in the unit of the values."""
    factor_fitted: float | None
    """Per step, from the later half of the median curve."""
    factor_guaranteed: float | None
    """Per step, for the mean-square error or a potential that bounds it."""
    limit_predicted: float | None
    """Relative error that is left in the end, in expectation (gap oracle: at most)."""
    messages_per_decade: float | None
    """Messages per tenfold smaller error, from the fitted factor; ``None`` if the run would not see a decade at it."""
    neighbour_left: float | None
    """Posterior over prior deviation of the observer's best-known neighbour: 0 disclosed, 1 nothing learned."""
    neighbour_epsilon: float | None
    """For Laplace noise: ε for values one prior deviation apart."""
    neighbour: str
    status: str
    needs: str
    """What a node must know that it cannot learn from its neighbours; empty: nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What :func:`compare` found: rows for tables, runs for curves. Printing it gives the table."""

    graph: Graph
    rows: tuple[Row, ...]
    runs: tuple[Solution, ...]
    seed: int
    replicas: int
    observer: int
    prior_std: float

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per method, every number unrounded."""
        return [asdict(row) for row in self.rows]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rounded cells for people."""
        return list(tables.HEADINGS), [tables.cells(row) for row in self.rows]

    @property
    def caption(self) -> str:
        """What the table shows, in one sentence."""
        many = f"medians of {self.replicas} replicas" if self.replicas > 1 else "one run"
        return (
            f"{self.graph.name}: {self.graph.num_nodes} nodes, {self.graph.num_edges} edges; {many}, seed {self.seed}; "
            f"the curious neighbour is {self.graph.label(self.observer)}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What methods need to know, one line for all that need the same."""
        needs = dict.fromkeys(row.needs for row in self.rows if row.needs)
        return tuple(f"needs {need}: {'; '.join(r.method for r in self.rows if r.needs == need)}" for need in needs)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """A Markdown table; also written to ``path`` if given."""
        return tables.write(tables.markdown(*self.cells(), self.caption), path)

    def to_latex(self, path: str | Path | None = None) -> str:
        """A LaTeX table (packages booktabs and amsmath); also written to ``path`` if given."""
        return tables.write(tables.latex(*self.cells(), self.caption), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Every number unrounded, one line per method; also written to ``path`` if given."""
        return tables.write(tables.csv_text(self.records()), path)

    def curves_csv(self, path: str | Path | None = None) -> str:
        """The curves: one line per method, replica and recorded step."""
        lines = [
            {"method": row.method, "replica": r, "step": step, "messages": sent, "relative_error": error}
            for row, run in zip(self.rows, self.runs, strict=True)
            for r, errors in enumerate(np.atleast_2d(run.relative_error).tolist())
            for step, sent, error in zip(run.steps.tolist(), run.transmissions.tolist(), errors, strict=True)
        ]
        return tables.write(tables.csv_text(lines), path)

    def plot(self) -> Figure:
        """Relative error against steps (left) and against messages (right)."""
        from ..plotting.compare import draw_comparison

        return draw_comparison(self.runs, [row.method for row in self.rows], title=self.graph.name)

    def __str__(self) -> str:
        return "\n".join([tables.plain(*self.cells(), self.caption), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        headings, cells = self.cells()
        return html_table(cells, headings=headings, caption=self.caption, notes=self.notes)


def compare(
    graph: Graph,
    private_values: npt.ArrayLike,
    methods: Sequence[Method],
    *,
    num_steps: int,
    seed: int | None = None,
    replicas: int = 20,
    budget: Budget = "messages",
    observer: int | str = 0,
    prior_std: float | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> Comparison:
    """Run every method on the same graph and values and put the results side by side.

    Parameters
    ----------
    graph, private_values
        The problem.
    methods
        What to compare; :func:`customary_methods` has one setting of everything.
    num_steps
        Pairwise exchanges. A method with other steps gets as many as the same number of messages
        (2 × ``num_steps``) pays for, at least one.
    seed, replicas
        As in :func:`~sottovoce.simulate`; every method sees the same seed, so the same edges fire for all.
    budget
        ``"messages"``, or ``"steps"`` to give every method exactly ``num_steps`` steps.
    observer
        The curious node; what it learns is computed on graphs of up to 200 nodes, from the first 2 000 steps.
    prior_std
        How uncertain it is about the others beforehand. ``None``: the standard deviation of the private values.

    Examples
    --------
    >>> import numpy as np, sottovoce as sv
    >>> values = np.random.default_rng(1).random(10)
    >>> methods = [sv.StandardGossip(), sv.AcceleratedGossip(), sv.SynchronousAveraging()]
    >>> found = sv.compare(sv.graphs.cycle(10), values, methods, num_steps=400, seed=1)
    >>> [(row.method, row.steps, row.messages) for row in found.rows]
    [('standard gossip', 400, 800), ('accelerated gossip', 400, 800), ('synchronous averaging', 40, 800)]
    """
    chosen = list(methods)
    if not chosen:
        raise InvalidParameter("methods must name at least one method, got none")
    if not num_steps >= 1:
        raise InvalidParameter(f"num_steps must be a whole number ≥ 1, got {num_steps!r}")
    if budget not in ("messages", "steps"):
        raise InvalidParameter(f"budget must be 'messages' or 'steps', got {budget!r}")
    observer = node_number(graph, observer, "observer")
    if prior_std is not None:
        prior_std = number("prior_std", prior_std, low=0.0, low_open=True)
    seed = secrets.randbits(63) if seed is None else seed
    runs = []
    for method in chosen:
        steps = _steps(method, graph, num_steps) if budget == "messages" else num_steps
        how: dict[str, Any] = {"num_steps": steps, "seed": seed, "replicas": replicas, "record": 200}
        run = simulate(graph, private_values, method, **how, threads=threads, progress=progress)
        runs.append(uninterrupted(run))
    spread = float(np.std(runs[0].private_values)) if prior_std is None else prior_std
    if spread == 0.0:
        raise InvalidParameter(
            "prior_std must be given here, a number > 0 such as 1.0: private_values have no spread to take it from"
        )
    return Comparison(
        graph=graph,
        rows=tuple(_row(run, observer, spread) for run in runs),
        runs=tuple(runs),
        seed=runs[0].seed,
        replicas=replicas,
        observer=observer,
        prior_std=spread,
    )


def _steps(method: Method, graph: Graph, num_steps: int) -> int:
    """Steps that 2·num_steps messages pay for."""
    return max(1, (2 * num_steps - method.messages_before(graph)) // method.messages_per_step(graph))


def _row(run: Solution, observer: int, prior_std: float) -> Row:
    errors = np.atleast_2d(run.relative_error)
    final = errors[:, -1]
    # Equal values: the denominator of the relative error is then one, as in Solution.
    scale = float(((run.private_values - run.true_mean) ** 2).sum()) or 1.0
    known = run.method.guarantee(run.graph)
    fitted = fitted_factor(run.steps, np.median(errors, axis=0)) if np.isfinite(errors).all() else None
    seen = _seen(run, observer, prior_std)
    per_step = run.method.messages_per_step(run.graph)
    decades = 0.0 if fitted is None else -np.log10(fitted)  # per step
    falling = run.num_steps * decades > 1.0  # else there was no decade to time
    return Row(
        method=run.method.label(),
        steps=run.num_steps,
        messages=int(run.transmissions[-1]),
        relative_error=float(np.median(final)),
        relative_error_low=float(np.quantile(final, 0.1)),
        relative_error_high=float(np.quantile(final, 0.9)),
        accuracy=float(np.sqrt(final.mean() * scale / run.private_values.size)),
        factor_fitted=fitted,
        factor_guaranteed=known.factor,
        limit_predicted=None if known.remaining is None else run.num_coordinates * known.remaining / scale,
        messages_per_decade=float(per_step / decades) if falling else None,
        neighbour_left=seen.left,
        neighbour_epsilon=seen.epsilon,
        neighbour=seen.words,
        status=str(run.status),
        needs=run.method.needs(),
    )


def _seen(run: Solution, observer: int, prior_std: float) -> Neighbour:
    if run.graph.num_nodes > AUDITED_NODES:
        return Neighbour(None, None, f"not computed beyond {AUDITED_NODES} nodes")
    return curious_neighbour(run, observer, prior_std, AUDITED_STEPS)


def fitted_factor(steps: npt.NDArray[np.int64], errors: npt.NDArray[np.float64]) -> float | None:
    """The factor per step of a curve that falls geometrically: least squares on its logarithm over its later half.

    What lies below :data:`ROUNDING` is not used; a curve that has come to rest gives 1.

    Examples
    --------
    >>> steps = np.arange(100)
    >>> round(fitted_factor(steps, 0.9**steps), 9)
    0.9
    """
    below = np.flatnonzero(~(errors > ROUNDING))
    end = int(below[0]) if len(below) else len(errors)
    part = slice(end // 2, end)
    if end - end // 2 < 3:
        return None
    return float(np.exp(np.polyfit(steps[part] - steps[part][0], np.log(errors[part]), 1)[0]))


def customary_methods(graph: Graph) -> list[Method]:
    """The settings that every registered method calls customary on ``graph``."""
    return [method for cls in METHODS.values() for method in cls.customary(graph)]
