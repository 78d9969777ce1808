"""Thresholds of graphs that were asked for lately: one changes φ, values and seed far more often than the graph.

That of the ring with which the page opens comes with the package, so it is marked at once.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ..graphs import Graph, cycle
from ..scenario.scenario import Scenario

__all__ = ["Thresholds"]

KEPT = 64

SHIPPED = Path(__file__).with_name("guide.json")
"""What :mod:`.guide` writes; its ring's threshold is among it."""


class Thresholds:
    """What :func:`~.insight.threshold` told, by graph and chances of edges; shared by all pages.

    Examples
    --------
    >>> Thresholds().known(Scenario.parse(graph="cycle:10", values="ramp", methods=["standard"], seed=1, num_steps=9))
    ... # doctest: +ELLIPSIS
    {'low': 0.951..., 'high': 0.951..., 'really': 0.904..., ...}
    """

    def __init__(self) -> None:
        story = json.loads(SHIPPED.read_text(encoding="utf-8"))
        self._found: OrderedDict[bytes, dict[str, Any]] = OrderedDict({_key(cycle(10)): story["threshold"]})

    def known(self, problem: Scenario) -> dict[str, Any] | None:
        """If it was found already."""
        key = _key(problem.graph, problem.edge_probabilities)
        if key in self._found:
            self._found.move_to_end(key)
        return self._found.get(key)

    async def find(self, problem: Scenario, compute: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """As it was found before, or as it is computed now."""
        known = self.known(problem)
        if known is not None:
            return known
        found = await compute()
        self._found[_key(problem.graph, problem.edge_probabilities)] = found
        while len(self._found) > KEPT:
            self._found.popitem(last=False)
        return found


def _key(graph: Graph, chances: Any = None) -> bytes:
    digest = hashlib.sha256(f"{graph.num_nodes}|".encode())
    digest.update(graph.edges.tobytes())
    if chances is not None:
        digest.update(b"|")
        digest.update(chances.tobytes())
    return digest.digest()
