"""Methods in which one node acts in a step and speaks to all its neighbours: what curious nodes learn step by step.

The description is :class:`~sottovoce.methods.released.LinearSteps`, a run is the list of nodes that acted, and the
arithmetic is that of :mod:`.rounds` and :mod:`.systems`.
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter
from ...foundation.progress import Progress
from ...graphs.graph import Graph
from ...methods.base import Array
from ...methods.released import LinearSteps, Released
from ..report import Question, RoundsReport, StepsReport
from ..view import CuriousNodes, EveryoneBut, View
from . import rounds

__all__ = ["audit", "checked_run", "final_posterior", "supports"]

Nodes = npt.NDArray[np.int64]


def supports(released: Released, view: View) -> TypeGuard[LinearSteps]:
    """Linear steps, and views that consist of nodes."""
    return isinstance(released, LinearSteps) and isinstance(view, CuriousNodes | EveryoneBut)


def checked_run(fired_edges: npt.ArrayLike, graph: Graph) -> Nodes:
    """``(num_steps,)`` nodes, validated."""
    nodes = np.asarray(fired_edges)
    if nodes.size == 0:
        return np.zeros(0, dtype=np.int64)
    if nodes.ndim != 1 or not np.issubdtype(nodes.dtype, np.integer):
        raise InvalidParameter(
            f"fired_edges must be, for this method, the nodes that acted, got shape {nodes.shape} of {nodes.dtype}"
        )
    if nodes.min() < 0 or nodes.max() >= graph.num_nodes:
        raise InvalidParameter(
            f"fired_edges must be, for this method, nodes in 0..{graph.num_nodes - 1}, "
            f"got {int(nodes.min())}..{int(nodes.max())}"
        )
    return nodes.astype(np.int64)


def audit(question: Question, released: LinearSteps, nodes: Nodes, progress: Progress) -> RoundsReport:
    """The posterior after each recorded step, under the Gaussian prior or the flat one."""
    return rounds.audit(question, released, nodes, progress, StepsReport)


def final_posterior(graph: Graph, released: LinearSteps, nodes: Nodes, view: View, prior: Array) -> Array:
    """``(n,)`` posterior deviations after the last step."""
    return rounds.final_posterior(graph, released, nodes, view, prior)
