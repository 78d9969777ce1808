"""The model of pairwise exchanges under noise and seals, shared by the audit, the attack and the rechecking.

Write g for a node's value with its outstanding noise taken out. At its t-th activation a node shows
g + f with f = σφ^t·draw, *fresh and independent of everything before*, and the exchange moves half the
difference of the two shown values. So, whatever noise is withdrawn later,

- an exchange the observer hears is a measurement of g under independent noise f, after which g moves by a
  known amount;
- an exchange it does not hear replaces the two g by their mean ± half the difference of the two f.

That is the whole model; messages share noise only through g. Noise that is never withdrawn becomes a part of g with the
message that shows it first. Seals are in g from the start: one independent number for every edge between honest
nodes, whose other seals the observer knows. Nodes that neither an unheard exchange nor a seal nor a belief can connect
are independent and are treated in separate *groups*. The arithmetic is :mod:`..gaussian.knowledge`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...foundation.arguments import checked, per_node
from ...foundation.numbers import NEGLIGIBLE
from ...graphs.graph import Graph
from ...methods.base import Array
from ...methods.released import FrozenNoise, SealedNoise, WithdrawnNoise
from ..gaussian.knowledge import Knowledge
from ..prior import given_own
from ..view import View, honest_nodes

__all__ = ["Event", "ExchangeModel", "Exchanges", "Filter", "exchange_model", "hidden_groups", "stated_noise"]

Nodes = npt.NDArray[np.int64]
Exchanges = WithdrawnNoise | FrozenNoise | SealedNoise


class Filter(Protocol):
    """What can be moved through a run: :class:`.Knowledge`, :class:`.PreciseKnowledge`, :class:`.FisherInformation`."""

    def add_noise(self, shares: dict[int, float]) -> None: ...

    def mix(self, p: int, q: int, noise: float) -> None: ...

    def observe(self, p: int, noise: float) -> Any: ...


class Event(NamedTuple):
    """One thing that happens to one group of honest nodes; ``first``, ``second`` are places in the group."""

    step: int
    group: int
    first: int
    second: int
    """The other end of an unheard exchange, or −1 for a message that is heard."""
    noise: float
    """Deviation of the message's noise, or of half the difference of the two noises, as far as they are withdrawn."""
    node: int
    """The node behind ``first``."""
    kept: float = 0.0
    """The same for noise that stays: of the message's noise, or of half the sum of the two."""

    def move(self, part: Filter, offset: int) -> Any:
        """Let it happen to a filter whose noise-free values start at row ``offset``.

        Returns what the filter says of a message that is heard, ``None`` for an unheard exchange.
        """
        p, q = offset + self.first, offset + self.second
        if self.second < 0:
            part.add_noise({p: self.kept})
            return part.observe(p, self.noise)
        part.mix(p, q, self.noise)
        part.add_noise({p: self.kept, q: self.kept})
        return None


@dataclass(frozen=True)
class ExchangeModel:
    """Graph, noise and view, prepared for going through a run."""

    graph: Graph
    noise_std: Array
    noise_decay: Array
    draws: Array
    """How often each node draws; the noise of the last draw stays."""
    heard: npt.NDArray[np.bool_]
    groups: tuple[Nodes, ...]
    group_of: Nodes
    """Group of each node; −1 for the observer's own nodes."""
    place_of: Nodes
    seals: tuple[Array, ...]
    """How the noise-free values of each group start, beside the private values: ``(members, seals)`` factors."""

    @property
    def in_the_clear(self) -> bool:
        """Whether messages are values, without any noise or seal."""
        return not self.noise_std.any() and not any(factor.size for factor in self.seals)

    def start_rows(self, group: int, prior: Array | None) -> tuple[Array, Array | None]:
        """Factor and diffuse part of the private values and noise-free values of one group before the run.

        ``prior``: ``(n,)`` deviations, an ``(n, n)`` covariance, or ``None`` for a flat prior.
        """
        members, seals = self.groups[group], self.seals[group]
        one, none = np.eye(len(members)), np.zeros_like(seals)
        if prior is None:
            return np.vstack([none, seals]), np.vstack([one, one])
        own = np.diag(prior[members]) if prior.ndim == 1 else self._correlated(members, prior)
        return np.block([[own, none], [own, seals]]), None

    def start(self, group: int, prior: Array | None) -> Knowledge:
        """What is known of one group before the run."""
        return Knowledge(*self.start_rows(group, prior))

    def _correlated(self, members: Nodes, covariance: Array) -> Array:
        """A factor of the covariance of some honest values, the observer's own known."""
        return np.asarray(np.linalg.cholesky(given_own(covariance, self.group_of < 0)[np.ix_(members, members)]))

    def amplitudes(self, fired_edges: Nodes) -> Iterator[tuple[float | None, float | None]]:
        """Deviations of the noise in the two messages of each exchange; ``None`` for a node that draws no more."""
        amplitude, decay, left = self.noise_std.tolist(), self.noise_decay.tolist(), self.draws.tolist()
        ends = self.graph.edges.tolist()
        for edge in fired_edges.tolist():
            i, j = ends[edge]
            yield (amplitude[i] if left[i] > 0 else None), (amplitude[j] if left[j] > 0 else None)
            for node in (i, j):
                left[node] -= 1
                following = amplitude[node] * decay[node]
                amplitude[node] = following if following >= NEGLIGIBLE else 0.0

    def events(self, fired_edges: Nodes) -> Iterator[Event]:
        """Go through the run exchange by exchange."""
        left = self.draws.tolist()
        group_of, place_of, heard = self.group_of.tolist(), self.place_of.tolist(), self.heard.tolist()
        ends = self.graph.edges.tolist()
        run = zip(fired_edges.tolist(), self.amplitudes(fired_edges), strict=True)
        for step, (edge, amplitudes) in enumerate(run, start=1):
            pair = ends[edge]
            sizes = [amplitude or 0.0 for amplitude in amplitudes]
            withdrawn = [size if left[node] > 1 else 0.0 for node, size in zip(pair, sizes, strict=True)]
            kept = [size if left[node] == 1 else 0.0 for node, size in zip(pair, sizes, strict=True)]
            i, j = pair
            if heard[edge]:
                for side, node in enumerate(pair):
                    if group_of[node] >= 0:
                        yield Event(step, group_of[node], place_of[node], -1, withdrawn[side], node, kept[side])
            else:
                noise, stays = 0.5 * math.hypot(*withdrawn), 0.5 * math.hypot(*kept)
                yield Event(step, group_of[i], place_of[i], place_of[j], noise, i, stays)
            left[i] -= 1
            left[j] -= 1


def exchange_model(graph: Graph, released: Exchanges, view: View, prior: Array | None = None) -> ExchangeModel:
    """Prepare the analysis; a prior that is a covariance joins the groups that it connects."""
    seal_std = released.seal_std if isinstance(released, SealedNoise) else 0.0
    beliefs = None if prior is None or prior.ndim == 1 else given_own(prior, view.observers(graph))
    group_of, groups = hidden_groups(graph, view, sealed=seal_std > 0.0, beliefs=beliefs)
    place_of = np.zeros(graph.num_nodes, dtype=np.int64)
    for members in groups:
        place_of[members] = np.arange(len(members))
    inner = graph.edges[(group_of[graph.edges] >= 0).all(axis=1)] if seal_std > 0.0 else graph.edges[:0]
    seals = []
    for group, members in enumerate(groups):
        first, second = place_of[inner[group_of[inner[:, 0]] == group]].T
        factor = np.zeros((len(members), len(first)))
        factor[first, np.arange(len(first))], factor[second, np.arange(len(first))] = seal_std, -seal_std
        seals.append(factor)
    noise, heard = stated_noise(graph, released), view.heard_edges(graph)
    return ExchangeModel(graph, *noise, heard, groups, group_of, place_of, tuple(seals))


def stated_noise(graph: Graph, released: Exchanges) -> tuple[Array, Array, Array]:
    """``(n,)`` σ, φ and number of draws; a statement that fits neither the graph nor the ranges is refused by name."""
    shown = released.after if isinstance(released, SealedNoise) else released
    std = checked("noise_std", shown.noise_std, low=0.0)
    decay = checked("noise_decay", shown.noise_decay, low=0.0, high=1.0, high_open=True)
    draws = shown.draws if isinstance(shown, FrozenNoise) else np.full(graph.num_nodes, math.inf)
    return (
        per_node("noise_std", std, graph.num_nodes),
        per_node("noise_decay", decay, graph.num_nodes),
        per_node("draws", draws, graph.num_nodes),
    )


def hidden_groups(
    graph: Graph, view: View, *, sealed: bool = False, beliefs: Array | None = None
) -> tuple[Nodes, tuple[Nodes, ...]]:
    """Connected components of the honest nodes over the edges that the observer does not hear, or not know the seal of.

    ``beliefs``: a covariance that connects nodes too.

    Returns the group of each node, −1 for the observer's own, and the members of each group in increasing order.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    honest = honest_nodes(view, graph)
    known = np.isin(graph.edges, honest, invert=True).any(axis=1) if sealed else view.heard_edges(graph)
    ends = graph.edges[~known]
    if beliefs is not None:
        ends = np.vstack([ends, np.argwhere(np.triu(beliefs, 1) != 0.0)])
    unknown = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(graph.num_nodes, graph.num_nodes))
    components = connected_components(unknown, directed=False)[1]
    labels, index = np.unique(components[honest], return_inverse=True)
    group_of = np.full(graph.num_nodes, -1, dtype=np.int64)
    group_of[honest] = index
    return group_of, tuple(honest[index == k] for k in range(len(labels)))
