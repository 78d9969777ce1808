"""``sv.compare``: any methods on one graph, side by side, as a table that prints itself, plots and exports.

Methods differ in what a step is, so they are given the same number of *messages* unless asked otherwise; in how much
they hide, so their noise can be set until one threat model leaves the same of private values (:mod:`.calibration`); and
in how close they come, so messages can be counted until a wanted accuracy. What is measured stands beside what is known
beforehand (:mod:`.rows`) and what curious nodes learn (:mod:`.observers`).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..foundation.arguments import number
from ..foundation.extras import require
from ..foundation.html import html_table
from ..foundation.interrupting import uninterrupted
from ..foundation.numbers import spread_of
from ..foundation.progress import Progress
from ..graphs.graph import Graph
from ..methods import METHODS, Method
from ..simulation import Solution, simulate
from . import tables
from .calibration import Calibration, calibrated
from .observers import SCHEDULES, Observers
from .provenance import Provenance
from .rows import Row, fitted_factor, row_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Comparison", "Row", "compare", "customary_methods", "fitted_factor", "leading_methods"]

Budget = Literal["messages", "steps"]
RECORDS = 200
NEARLY = 1.05
"""Up to this factor numbers of messages are taken to be equal."""
LEADING = ("standard", "noise-insertion", "sealed", "accelerated", "mo-murray", "nozari")
"""Nothing hidden, Algorithm 1, hidden by seals, the fastest, the same idea in rounds, differential privacy."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What :func:`compare` found: rows for tables, runs for curves. Printing it gives the table."""

    graph: Graph
    rows: tuple[Row, ...]
    runs: tuple[Solution, ...]
    calibrations: tuple[Calibration | None, ...]
    """For each row, how its noise was set; ``None``: as it was given."""
    families: tuple[str, ...]
    """For each row, the label of the method as it was given."""
    observers: Observers
    seed: int
    replicas: int
    accuracy: float | None
    budget: Budget

    @property
    def prior_std(self) -> float:
        """What observers believe beforehand."""
        return self.observers.prior_std

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per method, every number unrounded."""
        return [asdict(row) for row in self.rows]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rounded cells for people."""
        names = tables.headings(self.rows)
        return names, [tables.cells(row, names) for row in self.rows]

    @property
    def caption(self) -> str:
        """What the table shows, in one sentence."""
        many = f"medians of {self.replicas} replicas" if self.replicas > 1 else "one run"
        return (
            f"{self.graph.name}: {self.graph.num_nodes} nodes, {self.graph.num_edges} edges; {many}, seed {self.seed}; "
            f"{self.observers.words}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What methods need to know, one line for all that need the same; whose noise could not be set, and why; and
        that messages differ where they should not, if they do by more than five per cent.
        """
        needs = dict.fromkeys(row.needs for row in self.rows if row.needs)
        lines = [f"† needs {need}: {'; '.join(self._needing(need))}" for need in needs]
        if any(not row.left_exact for row in self.rows):
            lines.append("≤: by the best linear estimate; an observer may know more")
        if self.accuracy is not None:
            lines.append(f"messages needed: until a run stays at a root-mean-square error of {self.accuracy:g}")
        sent = [row.messages for row in self.rows]
        if self.budget == "messages" and max(sent) > NEARLY * min(sent):
            lines.append(
                f"methods send {min(sent):,} to {max(sent):,} messages: each makes whole steps, at least one, and "
                "those of some cost more than what is left; with more steps they differ less"
            )
        pairs = zip(self.calibrations, self.families, strict=True)
        lines += [f"noise as given, {found.failure}: {family}" for found, family in pairs if found and found.failure]
        return tuple(lines)

    def _needing(self, need: str) -> list[str]:
        """The methods as they were given, each once."""
        return list(
            dict.fromkeys(name for row, name in zip(self.rows, self.families, strict=True) if row.needs == need)
        )

    @property
    def provenance(self) -> Provenance:
        """What was run, for the files."""
        targets = sorted({c.target for c in self.calibrations if c is not None})
        return Provenance.of(
            self.graph, seed=self.seed, replicas=self.replicas, budget=self.budget, observers=self.observers.words,
            prior_std=self.prior_std, prior_left=targets or None, accuracy=self.accuracy,
        )  # fmt: skip

    def to_markdown(self, path: str | Path | None = None, *, provenance: Provenance | None = None) -> str:
        """A Markdown table; also written to ``path`` if given, above a comment that says where it comes from."""
        made = (provenance or self.provenance).comments("").rstrip().replace("-->", "-- >")
        text = tables.markdown(*self.cells(), self.caption) + "".join(f"\n{note}\n" for note in self.notes)
        return tables.write(text, path, after=f"\n<!--\n{made}\n-->\n")

    def to_latex(self, path: str | Path | None = None, *, provenance: Provenance | None = None) -> str:
        """A LaTeX table (package booktabs); also written to ``path`` if given, below comments that say where from."""
        made = (provenance or self.provenance).comments("%")
        return tables.write(tables.latex(*self.cells(), self.caption, self.notes), path, before=made)

    def to_csv(self, path: str | Path | None = None, *, provenance: Provenance | None = None) -> str:
        """Every number unrounded, one line per method; also written to ``path`` if given, below comments."""
        made = (provenance or self.provenance).comments()
        return tables.write(tables.csv_text(self.records()), path, before=made)

    def to_dataframe(self) -> pandas.DataFrame:
        """The rows, unrounded; where they come from is in ``attrs``."""
        require("pandas", by="a data frame")
        import pandas

        frame = pandas.DataFrame.from_records(self.records())
        frame.attrs.update(self.provenance.as_dict())
        return frame

    def curves_csv(self, path: str | Path | None = None, *, provenance: Provenance | None = None) -> str:
        """The curves: one line per method, replica and recorded step; also written to ``path``, below comments."""
        lines = [
            {"method": row.method, "replica": r, "step": step, "messages": sent, "relative_error": error}
            for row, run in zip(self.rows, self.runs, strict=True)
            for r, errors in enumerate(np.atleast_2d(run.relative_error).tolist())
            for step, sent, error in zip(run.steps.tolist(), run.transmissions.tolist(), errors, strict=True)
        ]
        return tables.write(tables.csv_text(lines), path, before=(provenance or self.provenance).comments())

    def plot(self, methods: Sequence[str | Method] | None = None, axes: Axes | None = None) -> Figure | Axes:
        """Relative error against steps (left) and messages (right), or against messages on axes of one's own.

        Parameters
        ----------
        methods
            Which to draw: labels, names as on the command line, or methods as they were given. ``None``: all.
        axes
            Axes to draw on, which are returned; ``None``: a new figure with two, which is returned.
        """
        from ..plotting.compare import draw_comparison, plot_comparison

        if axes is not None:
            return plot_comparison(self, axes, methods=methods)
        return draw_comparison(self.curves(methods), title=self.graph.name)

    def plot_frontier(self, axes: Axes | None = None) -> Axes:
        """What is left to observers against messages needed, or against accuracy if none was asked for."""
        from ..plotting.compare import plot_frontiers

        return plot_frontiers(self, axes)

    def curves(self, methods: Sequence[str | Method] | None = None) -> list[tuple[str, Solution]]:
        """Label and run of the chosen methods: labels, names as on the command line, or methods as they were given."""
        places = range(len(self.rows)) if methods is None else self._places(methods)
        return [(self.rows[k].method, self.runs[k]) for k in places]

    def _places(self, methods: Sequence[str | Method]) -> list[int]:
        if isinstance(methods, str | Method):
            methods = [methods]
        found = []
        for wanted in methods:
            name = wanted.label() if isinstance(wanted, Method) else wanted
            names = zip((run.method.name for run in self.runs), self.families, self.rows, strict=True)
            here = [k for k, (short, given, row) in enumerate(names) if name in (short, given, row.method)]
            if not here:
                known = ", ".join(dict.fromkeys(run.method.name for run in self.runs))
                raise InvalidParameter(f"methods must be among {known}, or labels of rows; got {name!r}")
            found += here
        return list(dict.fromkeys(found))

    def __str__(self) -> str:
        return "\n".join([tables.plain(*self.cells(), self.caption), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        headings, cells = self.cells()
        return html_table(cells, headings=headings, caption=self.caption, notes=self.notes)


def compare(
    graph: Graph,
    private_values: npt.ArrayLike | Mapping[Any, Any],
    methods: Sequence[Method],
    *,
    num_steps: int,
    seed: int | None = None,
    replicas: int = 20,
    budget: Budget = "messages",
    prior_left: float | Sequence[float] | None = None,
    prior_left_of: Literal["median", "worst"] = "median",
    accuracy: float | None = None,
    observers: Sequence[int | str] | None = None,
    schedules: int = SCHEDULES,
    heard: int | None = None,
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
        What to compare; :func:`leading_methods` has one setting of a few that matter, :func:`customary_methods` of all.
    num_steps
        Pairwise exchanges. A method with other steps gets as many as the same number of messages
        (2 × ``num_steps``) pays for, at least one.
    seed, replicas
        As in :func:`~sottovoce.simulate`; every method sees the same seed, so the same edges fire for all.
    budget
        ``"messages"``, or ``"steps"`` to give every method exactly ``num_steps`` steps.
    prior_left
        Equal privacy: in (0, 1), the share of the prior deviation that observers shall be left with of their
        neighbours' values. The noise of every method is multiplied until they are; several shares give several rows
        for each method. Methods without noise, or that are not analysed, stay as they are, and a note says so.
        ``None``: all noise as it was given.
    prior_left_of
        Whether that is the median over pairs of an observer and a neighbour, or the worst of them.
    accuracy
        Equal accuracy: count the messages until a run stays at this root-mean-square deviation from the mean, in the
        unit of the values, to a two-hundredth of the run.
    observers
        The curious nodes, each alone. ``None``: every node of graphs of up to 12, six drawn from the seed of up to 50,
        three of up to 200, and none beyond.
    schedules
        In how many schedules they listen: those of the first replicas.
    heard
        For how many messages each way on an edge they listen, on average: the same for every method. ``None``: 40, and
        20 beyond 50 nodes, where an audit takes long.
    prior_std
        How uncertain they are about the others beforehand. ``None``: the standard deviation of the private values.

    Examples
    --------
    >>> import numpy as np, sottovoce as sv
    >>> values = np.random.default_rng(1).random(10)
    >>> methods = [sv.StandardGossip(), sv.AcceleratedGossip(), sv.SynchronousAveraging()]
    >>> found = sv.compare(sv.graphs.cycle(10), values, methods, num_steps=400, seed=1)
    >>> [(row.method, row.steps, row.messages) for row in found.rows]
    [('standard gossip', 400, 800), ('accelerated gossip', 400, 800), ('synchronous averaging, Metropolis', 40, 800)]
    """
    _check(methods, num_steps, budget, prior_left_of)
    targets = _targets(prior_left)
    wanted = None if accuracy is None else number("accuracy", accuracy, low=0.0, low_open=True, high=1e100)
    seed = secrets.randbits(63) if seed is None else seed
    checked = uninterrupted(simulate(graph, private_values, methods[0], num_steps=1, seed=seed, progress=False))
    believed = _prior(checked.private_values, prior_std)
    listening = Observers.chosen(graph, observers, schedules=schedules, heard=heard, prior_std=believed, seed=seed)
    entries: list[tuple[str, Calibration | None, Solution, Row]] = []
    with Progress(len(methods) * len(targets), "comparing", report=progress) as bar:
        for method in methods:
            steps = _steps(method, graph, num_steps) if budget == "messages" else num_steps
            for target in targets:
                method.validate(graph)
                found = None
                if target is not None:
                    found = calibrated(method, listening, steps, target=target, statistic=prior_left_of)
                chosen = method if found is None else found.method
                run = uninterrupted(
                    simulate(
                        graph, private_values, chosen, num_steps=steps, seed=seed, replicas=replicas, record=RECORDS,
                        threads=threads, progress=False,
                    )
                )  # fmt: skip
                entries.append((method.label(), found, run, row_of(run, listening.leak(chosen, steps), found, wanted)))
                bar.at(len(entries))
                if found is not None and found.factor is None:
                    break  # the same for every target
    families, calibrations, runs, rows = zip(*entries, strict=True)
    return Comparison(
        graph, rows, runs, calibrations, families, listening, seed=runs[0].seed, replicas=replicas, accuracy=wanted,
        budget=budget,
    )  # fmt: skip


def _check(methods: Sequence[Method], num_steps: int, budget: str, statistic: str) -> None:
    if not methods:
        raise InvalidParameter("methods must name at least one method, got none")
    if not num_steps >= 1:
        raise InvalidParameter(f"num_steps must be a whole number ≥ 1, got {num_steps!r}")
    if budget not in ("messages", "steps"):
        raise InvalidParameter(f"budget must be 'messages' or 'steps', got {budget!r}")
    if statistic not in ("median", "worst"):
        raise InvalidParameter(f"prior_left_of must be 'median' or 'worst', got {statistic!r}")


def _targets(prior_left: float | Sequence[float] | None) -> list[float | None]:
    if prior_left is None:
        return [None]
    given = [prior_left] if np.ndim(prior_left) == 0 else list(prior_left)  # type: ignore[arg-type]
    ends: dict[str, Any] = {"low": 0.0, "high": 1.0, "low_open": True, "high_open": True}
    found: list[float | None] = [number("prior_left", share, **ends) for share in given]
    if not found:
        raise InvalidParameter("prior_left must be one share or several, got none")
    return found


def _prior(values: npt.NDArray[np.float64], prior_std: float | None) -> float:
    if prior_std is not None:
        return number("prior_std", prior_std, low=0.0, low_open=True)
    spread = spread_of(values)
    if spread == 0.0:
        raise InvalidParameter(
            "prior_std must be given here, a number > 0 such as 1.0: private_values have no spread to take it from"
        )
    return spread


def _steps(method: Method, graph: Graph, num_steps: int) -> int:
    """Steps that 2·num_steps messages pay for."""
    return max(1, (2 * num_steps - method.messages_before(graph)) // method.messages_per_step(graph))


def customary_methods(graph: Graph) -> list[Method]:
    """The settings that every registered method calls customary on ``graph``."""
    return [method for cls in METHODS.values() for method in cls.customary(graph)]


def leading_methods(graph: Graph) -> list[Method]:
    """The first customary setting of a few methods that stand for the others: enough for a first answer."""
    return [METHODS[name].customary(graph)[0] for name in LEADING]
