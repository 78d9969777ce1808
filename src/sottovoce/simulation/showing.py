"""A solution for people: in a line, as a table, as a data frame, as a figure. No private value is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundation.extras import require
from ..foundation.html import html_table

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

    from .solution import Solution

__all__ = ["as_dataframe", "as_html", "in_a_line", "plotted"]


def in_a_line(run: Solution) -> str:
    """The facts of a run in one line."""
    many = f", {run.replicas} replicas" if run.replicas > 1 else ""
    error = f", relative error {_error_words(run)}" if len(run.records) else ""
    changing = ", network that changes" if run.stages else ""
    return (
        f"<Solution {run.method.label()} on {run.graph.name}{changing}: {run.num_steps} steps{many}, "
        f"{run.status}{error}, seed {run.seed}, {run.elapsed:.3g} s>"
    )


def as_html(run: Solution) -> str:
    """The same facts as a table, for notebooks."""
    facts: dict[str, object] = {
        "method": run.method.label(),
        "graph": f"{run.graph.name}: {run.graph.num_nodes} nodes, {run.graph.num_edges} edges",
        "steps": f"{run.num_steps:,}",
        "replicas": run.replicas,
        "status": run.status,
        "relative error": _error_words(run) if len(run.records) else "not recorded",
        "seed": run.seed,
    }
    return html_table(facts.items(), notes=run.notes)


def _error_words(run: Solution) -> str:
    return f"{np.median(run.final_relative_error):.2e}" + (" (median)" if run.replicas > 1 else "")


def as_dataframe(run: Solution) -> pandas.DataFrame:
    """See :meth:`sottovoce.Solution.to_dataframe`."""
    require("pandas", by="a data frame")
    import pandas

    return pandas.DataFrame(
        {
            "replica": np.repeat(np.arange(run.replicas), len(run.records)),
            "step": np.tile(run.steps, run.replicas),
            "transmissions": np.tile(run.transmissions, run.replicas),
            "relative_error": run.relative_error.reshape(-1),
            "squared_error": run.squared_error.reshape(-1),
            "mass_error": run.mass_error.reshape(-1),
        }
    )


def plotted(
    run: Solution, axes: matplotlib.axes.Axes | None, *, trajectories: bool, **keywords: Any
) -> matplotlib.axes.Axes:
    """See :meth:`sottovoce.Solution.plot`."""
    from ..plotting.runs import plot_run
    from ..plotting.trajectories import plot_trajectories

    return plot_trajectories(run, axes, **keywords) if trajectories else plot_run(run, axes, **keywords)
