"""What a published figure is made of, as declarations, and what comes out when it is run again.

The figures themselves are in :mod:`.paper`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..foundation.files import write_atomically
from ..graphs.graph import Graph
from ..methods import Method
from ..methods.base import Array
from ..simulation import Solution
from .ensemble import Ensemble
from .provenance import Provenance

__all__ = ["Curve", "Experiment", "Histogram", "Level", "Panel", "PanelResult", "RateLine"]


@dataclass(frozen=True)
class Curve:
    """One line of a figure: its legend and the method, which may depend on the graph."""

    label: str
    method: Callable[[Graph], Method]


@dataclass(frozen=True)
class RateLine:
    """A straight line on a logarithmic axis: factor^step."""

    label: str
    factor: Callable[[Graph], float]


@dataclass(frozen=True)
class Histogram:
    """How a per-node parameter is spread over the nodes, on axes of its own."""

    title: str
    unit: str
    values: Callable[[Graph], Array]


class Level(NamedTuple):
    """Where a published curve is at a step, as read from the paper's plot: about this relative error."""

    curve: str
    step: int
    error: float


@dataclass(frozen=True)
class Panel:
    """One set of axes: a graph, a length, the curves, and what the paper shows there, in words."""

    name: str
    title: str
    graph: Callable[[], Graph]
    family: str
    """What the graph is one of, in words: fresh problems are drawn from it."""
    num_steps: int
    curves: tuple[Curve, ...]
    published: str
    levels: tuple[Level, ...] = ()
    lines: tuple[RateLine, ...] = ()
    histogram: Histogram | None = None


@dataclass(frozen=True)
class Experiment:
    """A published figure."""

    name: str
    title: str
    source: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class PanelResult:
    """A panel and the runs that came out of it, in the order of its curves."""

    panel: Panel
    graph: Graph
    runs: tuple[tuple[str, Solution], ...]
    fresh: tuple[tuple[str, Ensemble], ...] = ()
    """The same curves on fresh graphs and values, if they were asked for."""

    def ranks(self) -> list[dict[str, Any]]:
        """Per curve: the spread of fresh problems, and the shares of them that do better than our run and the paper's.

        Shares are at the last step; that of a published level is at the level's step.
        """
        return [self._rank(label, run, found) for (label, run), (_, found) in zip(self.runs, self.fresh, strict=True)]

    def _rank(self, label: str, run: Solution, found: Ensemble) -> dict[str, Any]:
        levels = [level for level in self.panel.levels if level.curve == label]
        step = levels[0].step if levels else self.panel.num_steps
        ours = float(np.median(np.atleast_2d(run.relative_error)[:, np.flatnonzero(run.steps == step)[0]]))
        low, middle, high = found.quantile([0.1, 0.5, 0.9], step).tolist()
        return {
            "curve": label,
            "step": step,
            "fresh_low": low,
            "fresh_median": middle,
            "fresh_high": high,
            "ours": ours,
            "ours_rank": found.rank(ours, step),
            "published": levels[0].error if levels else None,
            "published_rank": found.rank(levels[0].error, step) if levels else None,
        }

    @property
    def provenance(self) -> Provenance:
        """What was run, for the files."""
        run = self.runs[0][1]
        return Provenance.of(
            self.graph, panel=self.panel.title, seed=run.seed, replicas=run.replicas, num_steps=self.panel.num_steps
        )

    def write_fresh_csv(self, path: Path, provenance: Provenance) -> None:
        """One row per curve and recorded step: quantiles over the fresh problems."""
        lines = ["curve,step,quantile_10,median,quantile_90"]
        for label, found in self.fresh:
            flat = found.relative_error.reshape(-1, len(found.steps))
            columns = np.quantile(flat, (0.1, 0.5, 0.9), axis=0).T.tolist()
            lines += [
                f'"{label}",{step},' + ",".join(map(repr, row)) for step, row in zip(found.steps, columns, strict=True)
            ]
        _write(path, provenance, lines)

    def write_csv(self, path: Path, provenance: Provenance) -> None:
        """One row per curve, replica and recorded step, after comments that say where they come from."""
        lines = ["curve,replica,step,relative_error"]
        for label, run in self.runs:
            for replica, errors in enumerate(np.atleast_2d(run.relative_error)):
                lines += [
                    f'"{label}",{replica},{step},{error!r}'
                    for step, error in zip(run.steps.tolist(), errors.tolist(), strict=True)
                ]
        _write(path, provenance, lines)


def _write(path: Path, provenance: Provenance, lines: list[str]) -> None:
    text = provenance.comments() + "\n".join(lines) + "\n"
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))
