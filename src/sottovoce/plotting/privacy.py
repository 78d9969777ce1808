"""Pictures of what observers learn: over time, on the graph, as a matrix, and against what privacy costs.

No inference happens here; all numbers come from :mod:`sottovoce.privacy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..foundation.text import shortened
from .style import BASELINE, axes_for, legend_below, line_keywords, line_styles, new_figure, next_style, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

    from ..graphs.graph import Graph
    from ..privacy import Exposure, Frontier, Report
    from ..privacy.frontiers import Point

__all__ = [
    "draw_network",
    "node_positions",
    "plot_exposure",
    "plot_frontier",
    "plot_knowledge",
    "plot_matrix",
    "triangle_comparison",
]

Array = npt.NDArray[np.float64]

_FEATURED = 5
_UNKNOWN = "#F2F2F2"


def plot_exposure(report: Report, axes: Axes | None = None, *, baseline: Report | None = None, **keywords: Any) -> Axes:
    """What is left uncertain of every honest value, step by step; the best known ones stand out.

    Parameters
    ----------
    report
        What :func:`sottovoce.privacy.audit` returned.
    axes
        Where to draw; ``None``: a new figure.
    baseline
        The audit of the same run without noise, drawn dashed for the best known value.
    **keywords
        How the lines of the best known values look, as for :meth:`matplotlib.axes.Axes.plot`.

    Returns
    -------
    Axes
        Where it was drawn.
    """
    (axes,) = axes_for(axes, width=7.0, height=4.2)
    honest = np.flatnonzero(~report.observers)
    order = honest[np.argsort(report.posterior_std[honest], kind="stable")]
    history = np.where(np.isfinite(report.history), report.history, np.nan)
    for node in order[_FEATURED:]:
        axes.step(report.steps, history[:, node], where="post", color="#BBBBBB", linewidth=0.7)
    if len(order) > _FEATURED:
        axes.plot([], [], color="#BBBBBB", linewidth=0.9, label=f"{len(order) - _FEATURED} others")
    for node in order[:_FEATURED]:
        style = next_style(axes) | {"marker": "", "label": report.graph.label(node)} | line_keywords(keywords)
        axes.step(report.steps, history[:, node], where="post", **style)
    if baseline is not None:
        known = np.where(np.isfinite(baseline.history), baseline.history, np.nan)[:, order[0]]
        axes.step(baseline.steps, known, where="post", label=f"{report.graph.label(order[0])}, no noise", **BASELINE)
    title = f"What {report.view.describe()} cannot tell on {report.graph.name}\n{report.method.label()}"
    what = "posterior standard deviation" if report.prior_std is not None else "flat-prior deviation"
    tidy(axes, title=title, x=report.unit, y=what)
    if report.prior_std is None and np.nanmin(history[:, honest], initial=np.inf) > 0 and np.isfinite(history).any():
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0.0)
    axes.set_xlim(0, max(report.num_steps, 1))
    axes.legend(fontsize=8, framealpha=0.9, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return axes


def plot_knowledge(report: Report, axes: Axes | None = None) -> Axes:
    """The network, every node coloured by how closely the observer knows its value.

    Parameters
    ----------
    report
        What :func:`sottovoce.privacy.audit` returned.
    axes
        Where to draw; ``None``: a new figure.

    Returns
    -------
    Axes
        Where it was drawn.
    """
    (axes,) = axes_for(axes, width=6.4, height=5.2)
    scale = float(report.prior_std.max()) if report.prior_std is not None else _finite_max(report.posterior_std)
    draw_network(
        axes,
        report.graph,
        report.posterior_std,
        largest=scale,
        observers=report.observers,
        disclosed=report.disclosed & ~report.observers,
        heard=report.view.heard_edges(report.graph),
        label="posterior standard deviation  (dark: known, light: private)",
    )
    if not axes.get_title():
        what = f"What {report.view.describe()} knows after {report.num_steps} {report.unit}s"
        axes.set_title(f"{what}\n{report.method.label()}", fontsize=11)
    return axes


def plot_matrix(exposure: Exposure, axes: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
    """Who knows what about whom, and on the graph how closely the best informed node knows each value.

    Parameters
    ----------
    exposure
        What :func:`sottovoce.privacy.exposure` returned.
    axes
        Where to draw the matrix and the graph; ``None``: a new figure.

    Returns
    -------
    tuple of Axes
        The two.
    """
    left, right = axes_for(axes, columns=2, width=5.6, height=4.8)
    largest = float(exposure.prior_std.max())
    table = exposure.posterior_std.copy()
    np.fill_diagonal(table, np.nan)
    image = left.imshow(table, vmin=0.0, vmax=largest, cmap=_colours(), interpolation="nearest")
    left.set_title(f"How closely each node knows each value\n{exposure.method.label()}", fontsize=11)
    left.set_xlabel("value of node")
    left.set_ylabel("curious node")
    figure: Any = left.figure
    figure.colorbar(image, ax=left, shrink=0.8, label="posterior standard deviation")
    draw_network(right, exposure.graph, exposure.closest, largest=largest, label="to the node that knows it best")
    right.set_title(f"{exposure.graph.name}, {exposure.num_steps} steps", fontsize=11)
    return left, right


def plot_frontier(frontier: Frontier, axes: Sequence[Axes] | None = None) -> tuple[Axes, Axes]:
    """Privacy against time at equal accuracy: standard gossip, noise insertion and noise that stays.

    Parameters
    ----------
    frontier
        What :func:`sottovoce.privacy.frontier` returned.
    axes
        Where to draw what is left uncertain to a neighbour on average, and to whoever knows most at worst; ``None``: a
        new figure.

    Returns
    -------
    tuple of Axes
        The two.
    """
    pair = axes_for(axes, columns=2, width=5.6, height=4.8)
    panels = ("neighbour_std", "a neighbour, on average"), ("worst_std", "whoever knows most, at worst")
    for panel, (field, title) in zip(pair, panels, strict=True):
        _draw_points(panel, frontier, field)
        _mark_level(panel, frontier.prior_std, "nothing learned", x=0.01, offset=(2, -10))
        tidy(
            panel,
            title=f"Uncertainty left to {title}",
            x="steps to the wanted accuracy",
            y="posterior standard deviation",
        )
        panel.set_ylim(-0.03 * frontier.prior_std, 1.06 * frontier.prior_std)
        panel.set_xlim(left=0)
        legend_below(panel)
    if axes is None:
        figure: Any = pair[0].figure
        asked = f"root-mean-square error {frontier.accuracy:g}, prior deviation {frontier.prior_std:g}"
        figure.suptitle(f"{frontier.graph.name}, {asked}", fontsize=11)
    return pair[0], pair[1]


def triangle_comparison(pairwise: Report, broadcast: Array) -> Figure:
    """The triangle: what node 0 cannot tell of node 1 under pairwise gossip and under synchronous broadcast.

    ``broadcast`` is the ``(rounds + 1, 3)`` history of an audit of rounds. Time is counted in messages: two per
    exchange, three per round.
    """
    figure, (axes,) = new_figure(width=6.4, height=4.0)
    curves = {
        "pairwise gossip": (2 * pairwise.steps, pairwise.history[:, 1]),
        "synchronous broadcast": (3 * np.arange(len(broadcast)), broadcast[:, 1]),
    }
    for (label, (messages, deviation)), style in zip(curves.items(), line_styles(), strict=False):
        axes.step(messages, deviation, where="post", label=label, **(style | {"marker": ""}))
    if pairwise.prior_std is not None:
        level = pairwise.prior_std[1] / np.sqrt(2)
        _mark_level(axes, level, "only the sum is known: τ/√2", x=1.0, offset=(-4, 4), ha="right")
    tidy(
        axes,
        title="Triangle, observer 0: pairwise gossip keeps what broadcast gives away",
        x="messages sent",
        y="posterior deviation of node 1",
    )
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.legend(fontsize=9)
    return figure


def draw_network(
    axes: Axes,
    graph: Graph,
    deviation: Array,
    *,
    largest: float,
    label: str,
    observers: npt.NDArray[np.bool_] | None = None,
    disclosed: npt.NDArray[np.bool_] | None = None,
    heard: npt.NDArray[np.bool_] | None = None,
) -> None:
    """Nodes coloured from dark (known) to light (private); observers as black squares, disclosed nodes ringed."""
    from matplotlib.collections import LineCollection

    places = node_positions(graph)
    watching = np.zeros(graph.num_nodes, bool) if observers is None else observers
    colours = np.where(np.zeros(graph.num_edges, bool) if heard is None else heard, "#555555", "#CFCFCF")
    axes.add_collection(LineCollection(list(places[graph.edges]), colors=list(colours), linewidths=1.0, zorder=1))
    size = float(np.clip(4200 / graph.num_nodes, 18, 420))
    honest = ~watching
    finite = np.where(np.isfinite(deviation), deviation, largest)
    points = axes.scatter(
        places[honest, 0],
        places[honest, 1],
        c=finite[honest],
        s=size,
        cmap=_colours(),
        vmin=0.0,
        vmax=largest or 1.0,
        edgecolors="#555555",
        linewidths=0.8,
        zorder=2,
    )
    if watching.any():
        axes.scatter(
            places[watching, 0], places[watching, 1], c="#000000", marker="s", s=size, zorder=3, label="observer"
        )
    if disclosed is not None and disclosed.any():
        axes.scatter(
            places[disclosed, 0],
            places[disclosed, 1],
            s=1.9 * size,
            facecolors="none",
            edgecolors="#D55E00",
            linewidths=2.0,
            zorder=3,
            label="disclosed",
        )
    if graph.num_nodes <= 40:
        _number_nodes(axes, places, finite / (largest or 1.0), watching, size)
        if graph.labels is not None:
            _name_nodes(axes, places, graph.labels, size)
    figure: Any = axes.figure
    figure.colorbar(points, ax=axes, shrink=0.75, label=label)
    if watching.any() or (disclosed is not None and disclosed.any()):
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(0.0, 0.0), frameon=False, ncols=2, markerscale=0.6)
    axes.set_aspect("equal")
    axes.margins(0.08)
    axes.axis("off")


def node_positions(graph: Graph) -> Array:
    """The graph's own coordinates, or a layout that does not change from call to call."""
    if graph.positions is not None:
        return np.asarray(graph.positions, dtype=np.float64)
    import networkx as nx

    drawn = graph.to_networkx()
    layout = nx.kamada_kawai_layout(drawn) if graph.num_nodes <= 80 else nx.spring_layout(drawn, seed=1)
    return np.array([layout[node] for node in drawn])


def _mark_level(axes: Axes, level: float, text: str, *, x: float, offset: tuple[int, int], ha: str = "left") -> None:
    """A thin line across, with words at the share ``x`` of its length."""
    axes.axhline(level, color="#999999", linewidth=0.8)
    where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "xytext": offset, "textcoords": "offset points"}
    axes.annotate(text, (x, level), fontsize=8, color="#666666", ha=ha, **where)


def _draw_points(axes: Axes, frontier: Frontier, field: str) -> None:
    """Lines over φ for noise insertion, one for each σ, and for the Laplace methods; single points for the rest."""
    reached = sorted((p for p in frontier.points if p.steps is not None), key=lambda p: p.noise_decay)

    def draw(points: list[Point], label: str, **style: Any) -> None:
        axes.plot([p.steps or 0 for p in points], [getattr(p, field) for p in points], label=label, **style)

    inserted = [p for p in reached if p.method == "noise-insertion"]
    for std, style in zip(sorted({p.noise_std for p in inserted}), line_styles(), strict=False):
        line = [p for p in inserted if p.noise_std == std]
        draw(line, f"noise insertion, σ = {std:g}", **(style | {"markersize": 5}))
        end = (line[-1].steps or 0, getattr(line[-1], field))
        look: dict[str, Any] = {"fontsize": 7, "textcoords": "offset points", "ha": "center", "color": "#444444"}
        axes.annotate(f"φ = {line[-1].noise_decay:g}", end, xytext=(-6, 6), **look)
    for name, label, marker in (("nozari", "Nozari (Laplace)", "v"), ("huang", "Huang (Laplace)", "^")):
        line = [p for p in reached if p.method == name]
        if line:
            draw(line, label, marker=marker, color="#888888", linestyle=":", markersize=6)
    for name, marker, colour in (("standard", "*", "#000000"), ("one-shot noise", "X", "#7F3C8D")):
        for p in (p for p in reached if p.method == name):
            label = "standard gossip" if name == "standard" else f"one-shot DP noise, s = {p.noise_std:.2g}"
            draw([p], label, marker=marker, color=colour, markersize=10, linestyle="")


def _number_nodes(axes: Axes, places: Array, shade: Array, watching: npt.NDArray[np.bool_], size: float) -> None:
    for node, (x, y) in enumerate(places):
        dark = bool(watching[node]) or shade[node] < 0.5
        axes.annotate(
            str(node),
            (x, y),
            ha="center",
            va="center",
            fontsize=float(np.clip(0.45 * size**0.5, 5, 9)),
            color="#FFFFFF" if dark else "#222222",
            zorder=4,
        )


def _name_nodes(axes: Axes, places: Array, labels: Sequence[str], size: float) -> None:
    """Names below their nodes."""
    below = (0, -0.62 * size**0.5 - 3)
    for label, (x, y) in zip(labels, places, strict=True):
        axes.annotate(
            shortened(label, 18), (x, y), xytext=below, textcoords="offset points",
            ha="center", va="top", fontsize=8, color="#222222", zorder=4,
        )  # fmt: skip


def _colours() -> Colormap:
    """Dark for known, light for private; readable in grey and without red–green vision."""
    import matplotlib as mpl

    return mpl.colormaps["cividis"].with_extremes(bad=_UNKNOWN)


def _finite_max(deviation: Array) -> float:
    finite = deviation[np.isfinite(deviation)]
    return float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
