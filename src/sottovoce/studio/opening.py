"""What a page is told when a run is ready: the graph, the values, and what each method does in a step."""

from __future__ import annotations

from typing import Any

from ..foundation.numbers import spread_of
from ..methods import Method
from ..methods.released import FrozenNoise, SealedNoise, WithdrawnNoise
from ..scenario.scenario import Scenario
from .layouts import positions
from .playing import traced_nodes
from .verdicts import value_text

__all__ = ["advice", "opening", "takes_back"]

FEWEST = 10
"""Exchanges per node below which a run ends about where it began."""

CUSTOMARY = 60
"""Exchanges per node that show what a method does on graphs that are not too long."""


def opening(problem: Scenario, *, drawn: bool) -> dict[str, Any]:
    """All that does not change during a run."""
    graph, values = problem.graph, problem.private_values
    spread = spread_of(values)
    return {
        "drawn": drawn,
        "graph": {
            "name": graph.name,
            "numNodes": graph.num_nodes,
            "numEdges": graph.num_edges,
            "edges": graph.edges.tolist() if drawn else [],
            "positions": positions(graph) if drawn else None,
            "degrees": [int(graph.degrees.min()), int(graph.degrees.max())],
            "labels": list(graph.labels) if drawn and graph.labels is not None else None,
        },
        "methods": [method.label() for method in problem.methods],
        "inRounds": [method.in_rounds for method in problem.methods],
        "messagesPerStep": [method.messages_per_step(graph) for method in problem.methods],
        "messagesBefore": [method.messages_before(graph) for method in problem.methods],
        "takesBack": [takes_back(method, problem) for method in problem.methods],
        "numSteps": problem.num_steps,
        "seed": problem.seed,
        "trueMean": float(values.mean()),
        "trueMeanText": value_text(float(values.mean()), spread),
        "spread": spread,
        "lowest": float(values.min()),
        "highest": float(values.max()),
        "privateValues": values.tolist() if drawn else [],
        "valueTexts": [value_text(value, spread) for value in values.tolist()] if drawn else [],
        "followed": traced_nodes(graph.num_nodes).tolist() if drawn else [],
        "advice": advice(problem),
    }


def takes_back(method: Method, problem: Scenario) -> bool:
    """Whether nodes put noise in and take it back: only then there is noise outstanding to be shown."""
    released = method.releases(problem.graph)
    after = released.after if isinstance(released, SealedNoise) else released
    return isinstance(after, WithdrawnNoise | FrozenNoise) and bool(after.noise_std.any())


def advice(problem: Scenario) -> dict[str, Any] | None:
    """A better number of steps, if this one leaves most nodes about where they began.

    Examples
    --------
    >>> found = advice(Scenario.parse(graph="rgg:1000", values="uniform", methods=["standard"], seed=1, num_steps=600))
    >>> found["steps"], found["message"]
    (30000, '600 steps are about 1 exchange for each of 1,000 nodes: too few to come together; try 30,000')
    """
    nodes, steps = problem.graph.num_nodes, problem.num_steps
    if all(method.in_rounds for method in problem.methods) or 2 * steps >= FEWEST * nodes:
        return None
    share = 2 * steps / nodes
    each = "less than one exchange" if share < 1 else f"about {share:.0f} exchange{'s' if round(share) > 1 else ''}"
    better = CUSTOMARY * nodes // 2
    few = f"{steps:,} steps are {each} for each of {nodes:,} nodes: too few to come together"
    return {"steps": better, "message": f"{few}; try {better:,}"}
