"""The published experiments, as declarations: what to run, not how.

Each entry of :data:`EXPERIMENTS` names graphs, methods and lengths; :func:`reproduce` runs any of
them. The paper publishes neither seeds nor graph instances, so shapes and thresholds are
reproduced, not curves. Private values are uniform on [0, 1], as there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidParameter
from ..foundation.files import write_atomically
from ..foundation.interrupting import uninterrupted
from ..graphs import cycle, random_geometric
from ..graphs.graph import Graph
from ..methods import BinaryOracle, GapOracle, Method, NoiseInsertion, StandardGossip
from ..methods.base import Array
from ..scenario.values import uniform
from ..simulation import Solution, simulate
from ..theory import contraction_factor

__all__ = [
    "BASELINE",
    "EXPERIMENTS",
    "Curve",
    "Experiment",
    "Histogram",
    "Panel",
    "PanelResult",
    "RateLine",
    "by_degree",
    "free_decays",
    "reproduce",
]

BASELINE = "baseline"


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


@dataclass(frozen=True)
class Panel:
    """One set of axes: a graph, a length, the curves, and what the paper shows there, in words."""

    name: str
    title: str
    graph: Callable[[], Graph]
    num_steps: int
    curves: tuple[Curve, ...]
    published: str
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

    def write_csv(self, path: Path) -> None:
        """One row per curve, replica and recorded step."""
        lines = ["curve,replica,step,relative_error"]
        for label, run in self.runs:
            for replica, errors in enumerate(np.atleast_2d(run.relative_error)):
                lines += [
                    f'"{label}",{replica},{step},{error!r}'
                    for step, error in zip(run.steps.tolist(), errors.tolist(), strict=True)
                ]
        write_atomically(path, lambda temporary: temporary.write_text("\n".join(lines) + "\n", encoding="utf-8"))


def _curve(label: str, method: Method) -> Curve:
    """A method that is the same on every graph."""
    return Curve(label, lambda _graph: method)


BASELINE_CURVE = _curve(BASELINE, StandardGossip())


def _constant_decays(*decays: float) -> tuple[Curve, ...]:
    noisy = [_curve(f"φ = {phi:g}", NoiseInsertion(noise_std=1.0, noise_decay=phi)) for phi in decays]
    return (BASELINE_CURVE, *noisy)


def _noise_sizes(*sizes: float) -> tuple[Curve, ...]:
    noisy = [_curve(f"σ = {sigma:g}", NoiseInsertion(noise_std=sigma, noise_decay=0.9)) for sigma in sizes]
    return (BASELINE_CURVE, *noisy)


def _decays_by_degree(*gammas: float) -> tuple[Curve, ...]:
    noisy = [Curve(f"γ = {gamma:g}", lambda graph, gamma=gamma: by_degree(graph, gamma)) for gamma in gammas]  # type: ignore[misc]
    return (BASELINE_CURVE, *noisy)


def by_degree(graph: Graph, gamma: float) -> NoiseInsertion:
    """φ_i = √(1 − γ/d_i), as in the paper's corollary; γ must not exceed the smallest degree."""
    if not 0.0 < gamma <= graph.degrees.min():
        raise InvalidParameter(f"gamma must be in (0, {graph.degrees.min()}] (the smallest degree), got {gamma:g}")
    return NoiseInsertion(noise_std=1.0, noise_decay=np.sqrt(1.0 - gamma / graph.degrees))


def free_decays(graph: Graph) -> Array:
    """√(1 − α/(2 d_i))."""
    return np.asarray(NoiseInsertion.largest_free(graph, noise_std=1.0).noise_decay)


def _smallest_free(graph: Graph) -> NoiseInsertion:
    return NoiseInsertion(noise_std=1.0, noise_decay=float(free_decays(graph).min()))


BINARY = (
    BASELINE_CURVE,
    *(_curve(f"λ = {size:g}", BinaryOracle(step_size=size)) for size in (0.001, 0.01, 0.1)),
    _curve("λ = 1/t", BinaryOracle(step_size="1/t")),
    _curve("λ = 1/√t", BinaryOracle(step_size="1/sqrt(t)")),
    _curve("adaptive, L/4", BinaryOracle(step_size="L/4")),
    _curve("adaptive, L/2", BinaryOracle(step_size="adaptive")),
)
GAPS = (BASELINE_CURVE, *(_curve(f"ε = {gap:g}", GapOracle(gap=gap)) for gap in (0.2, 0.02, 0.002)))


PAPER = "Hanzely, Konečný, Loizou, Richtárik, Grishchenko (2018)"
LONG_PAPER = "the long version, arXiv:1706.07636"
GEOMETRIC_SEED = 26
"""Of the random geometric graphs with 100 nodes this one has α ≈ 0.35, about that of the paper's instance."""


def _on_the_cycle(num_steps: int, curves: tuple[Curve, ...], published: str) -> Panel:
    return Panel("cycle", "cycle, n = 10", lambda: cycle(10), num_steps, curves, published)


def _on_the_geometric_graph(num_steps: int, curves: tuple[Curve, ...], published: str, **more: Any) -> Panel:
    title = "random geometric graph, n = 100"
    return Panel(
        "geometric", title, lambda: random_geometric(100, seed=GEOMETRIC_SEED), num_steps, curves, published, **more
    )


_ALL = (
    Experiment(
        name="figure-1",
        title="Noise insertion for several decays φ, σ = 1",
        source=f"Figure 1 of {PAPER}",
        panels=(
            _on_the_cycle(
                1_000,
                _constant_decays(0.001, 0.01, 0.1, 0.5, 0.9, 0.98),
                "φ ≤ 0.9 reach 1e−8 near the baseline, after 430 to 540 steps; φ = 0.98 is at 3e−3 to 1e−2 after 1 000",
            ),
            _on_the_geometric_graph(
                50_000,
                _constant_decays(0.001, 0.01, 0.1, 0.5, 0.9, 0.995),
                "φ = 0.995 is at about 1e−2 at the end, the others between 1e−14 and 1e−16",
            ),
        ),
    ),
    Experiment(
        name="decay-by-degree",
        title="Noise insertion with φ_i = √(1 − γ/d_i), σ = 1",
        source=f"the corollary's choice, in {LONG_PAPER}",
        panels=(
            _on_the_geometric_graph(
                50_000,
                _decays_by_degree(0.1, 0.2, 0.3, 0.5, 1.0, 2.0),
                "γ = 0.1 ends near 2e−3, 0.2 near 5e−7, 0.3 near 1e−10, and γ ≥ 0.5 like the baseline",
            ),
        ),
    ),
    Experiment(
        name="threshold",
        title="The largest free φ_i against one φ for all",
        source=f"the corollary's threshold γ = α/2, in {LONG_PAPER}",
        panels=(
            _on_the_geometric_graph(
                100_000,
                (
                    BASELINE_CURVE,
                    Curve("φᵢ = √(1 − α/2dᵢ)", lambda g: NoiseInsertion.largest_free(g, noise_std=1.0)),
                    Curve("one φ = min φᵢ", _smallest_free),
                    _curve("one φ = 0.983", NoiseInsertion(noise_std=1.0, noise_decay=0.983)),
                ),
                "γ = α/2 ≈ 0.17, one constant φ ≈ 0.983, the rate from theory and a histogram of "
                "the φ_i; no levels are given in words",
                lines=(RateLine("rate from theory, ρᵏ", contraction_factor),),
                histogram=Histogram("decay per node at the threshold", "φᵢ", free_decays),
            ),
        ),
    ),
    Experiment(
        name="noise-size",
        title="Noise insertion for several sizes σ, φ = 0.9",
        source=f"announced in {LONG_PAPER} and not shown there",
        panels=(
            _on_the_cycle(1_000, _noise_sizes(0.1, 1.0, 10.0), "announced, never shown"),
            _on_the_geometric_graph(50_000, _noise_sizes(0.1, 1.0, 10.0), "announced, never shown"),
        ),
    ),
    Experiment(
        name="binary-oracle",
        title="Binary oracle for several step sizes",
        source=f"private gossip via binary oracle, in {LONG_PAPER}",
        panels=(
            _on_the_cycle(
                3_000,
                BINARY,
                "adaptive (L/4) passes 1e−8 at about 700 steps, the baseline at about 400; "
                "1/√t ends near 5e−3, λ = 0.1 near 1e−1",
            ),
            _on_the_geometric_graph(10_000, BINARY, "6 000 to 10 000 steps; no levels are given in words"),
        ),
    ),
    Experiment(
        name="gap-oracle",
        title="ε-gap oracle for several gaps",
        source=f"private gossip via ε-gap oracle, in {LONG_PAPER}",
        panels=(
            _on_the_cycle(6_000, GAPS, "comes to rest near 2e−1, 6e−3 and 7e−5 for ε = 0.2, 0.02 and 0.002"),
            _on_the_geometric_graph(
                100_000, GAPS, "comes to rest near 9e−2, 4e−3 and 6e−5 for ε = 0.2, 0.02 and 0.002"
            ),
        ),
    ),
)
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
"""Name → published experiment."""


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
        values = uniform(graph.num_nodes, seed)
        how: dict[str, Any] = {"num_steps": panel.num_steps, "seed": seed, "replicas": replicas, "record": 400}
        runs = ((curve.label, simulate(graph, values, curve.method(graph), **how)) for curve in panel.curves)
        yield PanelResult(panel, graph, tuple((label, uninterrupted(run)) for label, run in runs))
