"""What a page can take away: the numbers as CSV, the picture as PNG or SVG.

Exports are computed anew from what was asked for, so they hold the engine's numbers in full precision.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..errors import InvalidParameter
from ..graphs.graph import Graph
from ..scenario.scenario import Scenario
from ..simulation import Solution
from .playing import simulated
from .reading import record_steps

FARTHEST = 1e9
"""Where a node may be drawn."""

__all__ = ["as_csv", "as_figure"]


def runs_until(asked: Scenario, step: int) -> list[Solution]:
    """Every method's run to ``step``, recorded where the page records."""
    grid = record_steps(asked.num_steps)
    record = np.union1d(grid[grid <= step], [step])
    return [simulated(asked, method, max(step, 1), record) for method in asked.methods]


def as_csv(asked: Scenario, step: int) -> str:
    """``method,step,relative_error`` at the recorded steps."""
    lines = ["method,step,relative_error"]
    for method, run in zip(asked.methods, runs_until(asked, step), strict=True):
        label = method.label().replace('"', '""')
        lines += [
            f'"{label}",{at},{error!r}'
            for at, error in zip(run.steps.tolist(), run.relative_error.tolist(), strict=True)
        ]
    return "\n".join(lines) + "\n"


def as_figure(asked: Scenario, step: int, positions: object, kind: str) -> bytes:
    """The network at this step, a panel per method, beside the relative error until then."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from ..plotting.runs import draw_panel

    runs = runs_until(asked, step)
    places = _places(positions, asked.graph)
    columns = 1 if places is None else len(runs) + 1
    figure = Figure(figsize=(4.4 * columns + 1, 4.2), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    if places is not None:
        for panel, method, run in zip(axes, asked.methods, runs, strict=False):
            values = run.values if step else asked.private_values
            noise = run.outstanding_noise if step else np.zeros(asked.graph.num_nodes)
            _draw_network(figure, panel, asked, places, values, noise, f"{_plain(method.label())}\nstep {step:,}")
    labelled = [(_plain(run.method.label()), run) for run in runs]
    draw_panel(axes[-1], labelled, title=f"{_plain(asked.graph.name)}, seed {asked.seed}")
    out = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sottovoce"}):
        figure.savefig(out, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return out.getvalue()


def _plain(text: str) -> str:
    """Text that matplotlib does not take for a formula."""
    return text.replace("$", r"\$")


def _draw_network(figure: Any, axes: Any, asked: Scenario, places: Any, values: Any, noise: Any, title: str) -> None:
    from matplotlib.collections import LineCollection

    size = float(np.clip(4000 / asked.graph.num_nodes, 8, 130))
    low, high = asked.private_values.min(), asked.private_values.max()
    scale = max(float(asked.private_values.std()), 1e-12)
    axes.add_collection(LineCollection(places[asked.graph.edges], colors="#999999", linewidths=0.6, zorder=1))
    halo = size * (1 + 1.5 * np.minimum(np.abs(noise) / scale, 4)) ** 2
    axes.scatter(*places.T, s=halo, c="#E69F00", alpha=0.35, linewidths=0, zorder=2)
    dots = axes.scatter(
        *places.T, s=size, c=values, cmap="viridis", vmin=low, vmax=high, zorder=3, edgecolors="#333333", linewidths=0.5
    )
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.12)
    axes.set_title(title, fontsize=10)
    figure.colorbar(dots, ax=axes, shrink=0.6, label="value")


def _places(positions: object, graph: Graph) -> Any:
    """``(n, 2)`` finite coordinates from the page, or ``None`` if it drew no network."""
    if positions is None:
        return None
    if not isinstance(positions, list) or len(positions) != graph.num_nodes:
        raise InvalidParameter(f"positions must be one pair per node ({graph.num_nodes})")
    try:
        places = np.array(positions, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter("positions must be pairs of numbers") from None
    if places.shape != (graph.num_nodes, 2) or not (np.abs(places) <= FARTHEST).all():
        raise InvalidParameter(f"positions must be pairs of finite numbers of at most {FARTHEST:g} in size")
    return places
