"""The published experiments, as declarations: what to run, not how.

Each entry of :data:`EXPERIMENTS` names graphs, methods and lengths; :func:`reproduce` runs any of
them. The paper publishes neither seeds nor graph instances, so shapes and thresholds are
reproduced, not curves. Private values are uniform on [0, 1], as there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InvalidParameter
from ..graphs import cycle, random_geometric
from ..graphs.graph import Graph
from ..methods import Method, NoiseInsertion, StandardGossip
from ..methods.base import Array
from ..simulation import Solution, simulate

__all__ = ["BASELINE", "EXPERIMENTS", "Curve", "Experiment", "Panel", "PanelResult", "private_values", "reproduce"]

BASELINE = "baseline"


@dataclass(frozen=True)
class Curve:
    """One line of a figure: its legend and the method, which may depend on the graph."""

    label: str
    method: Callable[[Graph], Method]


@dataclass(frozen=True)
class Panel:
    """One set of axes: a graph, a length, the curves, and what the paper shows there, in words."""

    name: str
    title: str
    graph: Callable[[], Graph]
    num_steps: int
    curves: tuple[Curve, ...]
    published: str


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

    def write_csv(self, path: Path) -> None:
        """One row per curve, replica and recorded step."""
        lines = ["curve,replica,step,relative_error"]
        for label, run in self.runs:
            for replica, errors in enumerate(np.atleast_2d(run.relative_error)):
                lines += [
                    f'"{label}",{replica},{step},{error!r}'
                    for step, error in zip(run.steps.tolist(), errors.tolist(), strict=True)
                ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _constant_decays(*decays: float) -> tuple[Curve, ...]:
    noisy = [
        Curve(f"φ = {phi:g}", lambda _graph, phi=phi: NoiseInsertion(noise_std=1.0, noise_decay=phi))  # type: ignore[misc]
        for phi in decays
    ]
    return (Curve(BASELINE, lambda _graph: StandardGossip()), *noisy)


PAPER = "Hanzely, Konečný, Loizou, Richtárik, Grishchenko (2018)"
LONG_PAPER = "the long version, arXiv:1706.07636"
GEOMETRIC_SEED = 26
"""Of the random geometric graphs with 100 nodes this one has α ≈ 0.35, about that of the paper's instance."""

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            name="figure-1",
            title="Noise insertion for several decays φ, σ = 1",
            source=f"Figure 1 of {PAPER}",
            panels=(
                Panel(
                    name="cycle",
                    title="cycle, n = 10",
                    graph=lambda: cycle(10),
                    num_steps=1_000,
                    curves=_constant_decays(0.001, 0.01, 0.1, 0.5, 0.9, 0.98),
                    published="φ ≤ 0.9 reach 1e−8 near the baseline, after 430 to 540 steps; "
                    "φ = 0.98 is at 3e−3 to 1e−2 after 1 000",
                ),
                Panel(
                    name="geometric",
                    title="random geometric graph, n = 100",
                    graph=lambda: random_geometric(100, seed=GEOMETRIC_SEED),
                    num_steps=50_000,
                    curves=_constant_decays(0.001, 0.01, 0.1, 0.5, 0.9, 0.995),
                    published="φ = 0.995 is at about 1e−2 at the end, the others between 1e−14 and 1e−16",
                ),
            ),
        ),
    )
}


def private_values(num_nodes: int, seed: int) -> Array:
    """Uniform on [0, 1], one per node."""
    return np.random.default_rng([seed, num_nodes]).random(num_nodes)


def reproduce(name: str, *, seed: int = 1, replicas: int = 1) -> Iterator[PanelResult]:
    """Run a published experiment panel by panel; all curves of a panel see the same edges fire.

    Raises
    ------
    InvalidParameter
        If there is no experiment of that name.
    """
    if name not in EXPERIMENTS:
        raise InvalidParameter(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {name!r}")
    for panel in EXPERIMENTS[name].panels:
        graph = panel.graph()
        values = private_values(graph.num_nodes, seed)
        runs = tuple(
            (
                curve.label,
                simulate(
                    graph,
                    values,
                    curve.method(graph),
                    num_steps=panel.num_steps,
                    seed=seed,
                    replicas=replicas,
                    record=400,
                ),
            )
            for curve in panel.curves
        )
        yield PanelResult(panel, graph, runs)
