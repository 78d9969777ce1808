"""Methods side by side at equal cost: each gets as many steps as the same number of messages pays for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..methods import Method
from ..scenario.scenario import Scenario
from .playing import simulated

__all__ = ["comparison", "steps_for"]

POINTS = 200


def steps_for(method: Method, problem: Scenario, messages: int) -> int:
    """Steps that so many messages pay for; at least one."""
    graph = problem.graph
    return max(1, (messages - method.messages_before(graph)) // method.messages_per_step(graph))


def comparison(problem: Scenario) -> dict[str, Any]:
    """Relative error of every method against messages, all to the same number of them: two for each step of the run.

    Each lane has its own steps; ``messages`` are what was sent until then, so that curves share both axes.
    """
    messages = 2 * problem.num_steps
    lanes = []
    for method in problem.methods:
        steps = steps_for(method, problem, messages)
        record = np.unique(np.linspace(0, steps, min(POINTS, steps) + 1).round().astype(np.int64))
        with np.errstate(all="ignore"):
            run = simulated(problem, method, steps, record)
        lanes.append(
            {
                "label": method.label(),
                "steps": run.steps.tolist(),
                "messages": run.transmissions.tolist(),
                "errors": run.relative_error.tolist(),
            }
        )
    return {"messages": messages, "lanes": lanes}
