"""The published experiments, as declarations: what to run, not how.

Each entry of :data:`EXPERIMENTS` names graphs, methods and lengths; :func:`reproduce` runs any of
them. The paper publishes neither seeds nor graph instances, so shapes and thresholds are
reproduced, not curves, and fresh graphs and values say how typical a single run is: ours, and the paper's.
Private values are uniform on [0, 1], as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..errors import InvalidParameter
from ..foundation.arguments import whole
from ..foundation.interrupting import uninterrupted
from ..graphs import cycle, random_geometric
from ..graphs.graph import Graph
from ..methods import BinaryOracle, GapOracle, Method, NoiseInsertion, StandardGossip
from ..methods.base import Array
from ..scenario.graphs import describe_graph
from ..scenario.values import uniform
from ..simulation import simulate
from ..theory import contraction_factor
from .ensemble import Ensemble, ensemble
from .panels import Curve, Experiment, Histogram, Level, Panel, PanelResult, RateLine

__all__ = [
    "BASELINE",
    "EXPERIMENTS",
    "Curve",
    "Experiment",
    "Histogram",
    "Level",
    "Panel",
    "PanelResult",
    "RateLine",
    "by_degree",
    "free_decays",
    "reproduce",
]

BASELINE = "baseline"
RECORDS, FRESH_RECORDS = 400, 50
"""Recorded steps of a run, and of a fresh problem; the second divides the first, so that both have the same steps."""


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
    noisy = [Curve(f"γ = {gamma:g}", partial(_as_far_as_degrees_allow, gamma=gamma)) for gamma in gammas]
    return (BASELINE_CURVE, *noisy)


def _as_far_as_degrees_allow(graph: Graph, gamma: float) -> NoiseInsertion:
    """φ_i = √(1 − γ/d_i), and 0 where γ exceeds the degree, which happens on fresh graphs."""
    return NoiseInsertion(noise_std=1.0, noise_decay=np.sqrt(np.maximum(0.0, 1.0 - gamma / graph.degrees)))


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
GEOMETRIC_SEED = 7069
"""This random geometric graph has what the paper says of its own, α/2 ≈ 0.17 and a smallest φ_i of 0.983, and a usual
number of edges, 571. Levels that can be read from the paper's plots are met within a factor of five. The right α alone
is not enough: with fewer edges each of them fires more often, and noise fades faster."""


def _on_the_cycle(num_steps: int, curves: tuple[Curve, ...], published: str, **more: Any) -> Panel:
    return Panel("cycle", "cycle, n = 10", lambda: cycle(10), "cycle:10", num_steps, curves, published, **more)


def _on_the_geometric_graph(num_steps: int, curves: tuple[Curve, ...], published: str, **more: Any) -> Panel:
    title = "random geometric graph, n = 100"
    return Panel(
        "geometric", title, lambda: random_geometric(100, seed=GEOMETRIC_SEED), "rgg:100", num_steps, curves, published,
        **more,
    )  # fmt: skip


def _gap_levels(step: int, *errors: float) -> tuple[Level, ...]:
    return tuple(Level(curve.label, step, error) for curve, error in zip(GAPS[1:], errors, strict=True))


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
                levels=(Level("φ = 0.98", 1_000, 6e-3),),
            ),
            _on_the_geometric_graph(
                50_000,
                _constant_decays(0.001, 0.01, 0.1, 0.5, 0.9, 0.995),
                "φ = 0.995 is at about 1e−2 at the end, the others between 1e−14 and 1e−16",
                levels=(Level("φ = 0.9", 50_000, 1e-15), Level("φ = 0.995", 50_000, 1e-2)),
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
                levels=(
                    Level("γ = 0.1", 50_000, 2e-3),
                    Level("γ = 0.2", 50_000, 5e-7),
                    Level("γ = 0.3", 50_000, 1e-10),
                ),
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
                levels=(Level("λ = 0.1", 3_000, 1e-1), Level("λ = 1/√t", 3_000, 5e-3)),
            ),
            _on_the_geometric_graph(
                10_000,
                BINARY,
                "6 000 to 10 000 steps; the baseline is near 5e−4 after 6 000",
                levels=(Level(BASELINE, 6_000, 5e-4),),
            ),
        ),
    ),
    Experiment(
        name="gap-oracle",
        title="ε-gap oracle for several gaps",
        source=f"private gossip via ε-gap oracle, in {LONG_PAPER}",
        panels=(
            _on_the_cycle(
                6_000,
                GAPS,
                "comes to rest near 2e−1, 6e−3 and 7e−5 for ε = 0.2, 0.02 and 0.002",
                levels=_gap_levels(6_000, 2e-1, 6e-3, 7e-5),
            ),
            _on_the_geometric_graph(
                100_000,
                GAPS,
                "comes to rest near 9e−2, 4e−3 and 6e−5 for ε = 0.2, 0.02 and 0.002",
                levels=_gap_levels(100_000, 9e-2, 4e-3, 6e-5),
            ),
        ),
    ),
)
EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
"""Name → published experiment."""


def reproduce(name: str, *, seed: int = 1, replicas: int = 1, fresh: int = 0) -> Iterator[PanelResult]:
    """Run a published experiment panel by panel; all curves of a panel see the same edges fire.

    ``fresh`` problems, each with a graph, private values and a schedule of its own, are run beside it: they say how
    typical the panel's own graph and values are. All curves see the same fresh problems.

    Raises
    ------
    InvalidParameter
        If there is no experiment of that name.
    """
    if name not in EXPERIMENTS:
        raise InvalidParameter(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {name!r}")
    fresh = whole("fresh", fresh, low=0, high=10**6)
    for panel in EXPERIMENTS[name].panels:
        graph = panel.graph()
        values = uniform(graph.num_nodes, seed)
        how: dict[str, Any] = {"num_steps": panel.num_steps, "seed": seed, "replicas": replicas, "record": RECORDS}
        runs = ((curve.label, simulate(graph, values, curve.method(graph), **how)) for curve in panel.curves)
        whole_runs = tuple((label, uninterrupted(run)) for label, run in runs)
        yield PanelResult(panel, graph, whole_runs, _fresh(panel, fresh, seed))


def _fresh(panel: Panel, count: int, seed: int) -> tuple[tuple[str, Ensemble], ...]:
    """Each curve on ``count`` problems of the panel's family; a family of one graph has fresh values on it."""
    if count == 0:
        return ()
    varies = panel.family != str(describe_graph(panel.family).with_seed(0))
    return tuple(
        (
            curve.label,
            ensemble(
                panel.family, "uniform", curve.method, num_steps=panel.num_steps, seed=seed, record=FRESH_RECORDS,
                graphs=count if varies else 1, values=1 if varies else count, schedules=1,
            ),
        )
        for curve in panel.curves
    )  # fmt: skip
