"""A gossip run as an observer sees it: which exchanges it hears, and how the rest mixes.

Write g for a node's value with its outstanding noise taken out. At its t-th activation a node shows
g + f with f = σφ^t·draw, *fresh and independent of everything before*, and the exchange moves half the
difference of the two shown values. So, whatever noise is withdrawn later,

- an exchange the observer hears is a measurement of g under independent noise f, after which g moves by a
  known amount;
- an exchange it does not hear replaces the two g by their mean ± half the difference of the two f.

That is the whole model; messages share noise only through g. Nodes that no unheard exchange can connect
are independent and are treated in separate *groups*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, Unsupported
from ...foundation.arguments import per_node
from ...foundation.numbers import NEGLIGIBLE
from ...graphs.graph import Graph
from ...methods.base import Method
from ...methods.noise_insertion import NoiseInsertion
from ...methods.standard import StandardGossip
from ..view import View

__all__ = ["Event", "Setting", "checked_edges", "noise_of", "setting", "supports"]

Array = npt.NDArray[np.float64]


class Filter(Protocol):
    """What can be moved through a run: :class:`.knowledge.Knowledge`, and the audit's Fisher information."""

    def mix(self, p: int, q: int, noise: float) -> None: ...

    def observe(self, p: int, noise: float) -> tuple[Array, float]: ...


class Event(NamedTuple):
    """One thing that happens to one group of honest nodes; ``first``, ``second`` are places in the group."""

    step: int
    group: int
    first: int
    second: int
    """The other end of an unheard exchange, or −1 for a message that is heard."""
    noise: float
    """Deviation of the message's noise, or of half the difference of the two noises."""
    node: int
    """The node behind ``first``."""

    def move(self, part: Filter, offset: int) -> tuple[Array, float] | None:
        """Let it happen to a filter whose noise-free values start at row ``offset``.

        Returns gain and deviation of the surprise for a message that is heard, ``None`` for an unheard exchange.
        """
        if self.second < 0:
            return part.observe(offset + self.first, self.noise)
        part.mix(offset + self.first, offset + self.second, self.noise)
        return None


@dataclass(frozen=True)
class Setting:
    """Graph, noise and view, prepared for going through a run."""

    graph: Graph
    noise_std: Array
    noise_decay: Array
    heard: npt.NDArray[np.bool_]
    groups: tuple[npt.NDArray[np.int64], ...]
    group_of: npt.NDArray[np.int64]
    """Group of each node; −1 for the observer's own nodes."""
    place_of: npt.NDArray[np.int64]

    def events(self, fired_edges: npt.NDArray[np.int64]) -> Iterator[Event]:
        """Go through the run exchange by exchange."""
        amplitude = self.noise_std.tolist()
        decay = self.noise_decay.tolist()
        group_of, place_of, heard = self.group_of.tolist(), self.place_of.tolist(), self.heard.tolist()
        ends = self.graph.edges.tolist()
        for step, edge in enumerate(fired_edges.tolist(), start=1):
            i, j = ends[edge]
            if heard[edge]:
                for node in (i, j):
                    if group_of[node] >= 0:
                        yield Event(step, group_of[node], place_of[node], -1, amplitude[node], node)
            else:
                noise = 0.5 * math.hypot(amplitude[i], amplitude[j])
                yield Event(step, group_of[i], place_of[i], place_of[j], noise, i)
            for node in (i, j):
                following = amplitude[node] * decay[node]
                amplitude[node] = following if following >= NEGLIGIBLE else 0.0


def supports(method: Method, view: View) -> bool:
    """Whether the exact analysis covers this method and view."""
    return isinstance(method, NoiseInsertion | StandardGossip) and isinstance(view, View)


def noise_of(method: Method, graph: Graph) -> tuple[Array, Array]:
    """σ and φ per node; standard gossip is the case σ = 0.

    Raises
    ------
    Unsupported
        For methods whose messages are not the private values under withdrawn Gaussian noise.
    """
    if isinstance(method, StandardGossip):
        return np.zeros(graph.num_nodes), np.zeros(graph.num_nodes)
    if isinstance(method, NoiseInsertion):
        std = per_node("noise_std", method.noise_std, graph.num_nodes)
        return std, per_node("noise_decay", method.noise_decay, graph.num_nodes)
    raise Unsupported(
        f"the audit of exchanges covers standard gossip and noise insertion, got {method.name}; "
        "synchronous methods: sottovoce.privacy.audit_rounds and sottovoce.privacy.synchronous"
    )


def checked_edges(fired_edges: npt.ArrayLike, graph: Graph) -> npt.NDArray[np.int64]:
    """``(num_steps,)`` edge indices, validated."""
    edges = np.asarray(fired_edges)
    if edges.size == 0:
        return np.zeros(0, dtype=np.int64)
    if edges.ndim != 1 or not np.issubdtype(edges.dtype, np.integer):
        raise InvalidParameter(
            f"fired_edges must be a sequence of edge indices, got shape {edges.shape} of {edges.dtype}"
        )
    if edges.min() < 0 or edges.max() >= graph.num_edges:
        raise InvalidParameter(
            f"fired_edges must be edge indices in 0..{graph.num_edges - 1}, got {int(edges.min())}..{int(edges.max())}"
        )
    return edges.astype(np.int64)


def setting(graph: Graph, method: Method, view: View) -> Setting:
    """Prepare the analysis.

    Raises
    ------
    Unsupported
        For a method or view that the exact analysis does not cover.
    InvalidParameter
        If the view names nodes or edges that the graph does not have, or leaves nobody to protect.
    """
    if not isinstance(view, View):
        raise Unsupported(f"view must be CuriousNodes, WireTap, EveryoneBut or Pooled, got {type(view).__name__}")
    method.validate(graph)
    noise_std, noise_decay = noise_of(method, graph)
    observers = view.observers(graph)
    if observers.all():
        raise InvalidParameter("view must leave at least one honest node, got all nodes as observers")
    heard = view.heard_edges(graph)
    group_of, groups = _groups(graph, observers, heard)
    place_of = np.zeros(graph.num_nodes, dtype=np.int64)
    for members in groups:
        place_of[members] = np.arange(len(members))
    return Setting(graph, noise_std, noise_decay, heard, groups, group_of, place_of)


def _groups(
    graph: Graph, observers: npt.NDArray[np.bool_], heard: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], tuple[npt.NDArray[np.int64], ...]]:
    """Connected components of the honest nodes over the edges that the observer does not hear."""
    root = list(range(graph.num_nodes))

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for i, j in graph.edges[~heard].tolist():
        root[find(i)] = find(j)
    honest = np.flatnonzero(~observers)
    roots = np.array([find(int(node)) for node in honest])
    labels, index = np.unique(roots, return_inverse=True)
    group_of = np.full(graph.num_nodes, -1, dtype=np.int64)
    group_of[honest] = index
    return group_of, tuple(honest[index == k] for k in range(len(labels)))
