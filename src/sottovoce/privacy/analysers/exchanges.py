"""Pairwise exchanges under noise and seals: the exact audit, and the model it shares with the attack.

Write g for a node's value with its outstanding noise taken out. At its t-th activation a node shows
g + f with f = σφ^t·draw, *fresh and independent of everything before*, and the exchange moves half the
difference of the two shown values. So, whatever noise is withdrawn later,

- an exchange the observer hears is a measurement of g under independent noise f, after which g moves by a
  known amount;
- an exchange it does not hear replaces the two g by their mean ± half the difference of the two f.

That is the whole model; messages share noise only through g. Noise that is never withdrawn becomes a part of g with the
message that shows it first. Seals are in g from the start: one independent number for every edge between honest
nodes, whose other seals the observer knows. Nodes that neither an unheard exchange nor a seal can connect are
independent and are treated in separate *groups*. The arithmetic is :mod:`..gaussian.knowledge`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter
from ...foundation.arguments import checked, per_node
from ...foundation.numbers import NEGLIGIBLE
from ...foundation.progress import Progress
from ...graphs.graph import Graph
from ...methods.base import Array
from ...methods.released import FrozenNoise, Released, SealedNoise, WithdrawnNoise
from ..gaussian.fisher import FisherInformation
from ..gaussian.knowledge import Knowledge
from ..report import Question, Report
from ..view import View, honest_nodes

__all__ = [
    "ExchangeModel",
    "audit",
    "checked_run",
    "exchange_model",
    "final_posterior",
    "hidden_groups",
    "stated_noise",
    "supports",
]

Nodes = npt.NDArray[np.int64]
Exchanges = WithdrawnNoise | FrozenNoise | SealedNoise


def supports(released: Released, view: View) -> TypeGuard[Exchanges]:
    """Withdrawn noise, σ = 0 included, noise that is left in place, seals, and every view."""
    return isinstance(released, Exchanges) and isinstance(view, View)


def checked_run(fired_edges: npt.ArrayLike, graph: Graph) -> Nodes:
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


def audit(question: Question, released: Exchanges, edges: Nodes, progress: Progress) -> Report:
    """Three answers on one pass through the run: Gaussian prior, flat prior, and all other private values known."""
    model, prior = exchange_model(question.graph, released, question.view), question.prior_std
    flat, information, posterior = _Passes(model, prior).run(edges, question.recorded, progress)
    scale = prior if prior is not None else np.full(question.graph.num_nodes, float(model.noise_std.max()) or 1.0)
    return Report(
        **vars(question),
        history=posterior[:-1],
        posterior_std=posterior[-1],
        disclosed=flat[-1] <= question.tolerance * scale,
        observers=model.group_of < 0,
        flat_history=flat[:-1],
        flat_std=flat[-1],
        information_history=information[:-1],
        fisher_information=information[-1],
    )


def final_posterior(graph: Graph, released: Exchanges, edges: Nodes, view: View, prior: Array) -> Array:
    """``(n,)`` posterior deviations at the end and nothing else: a third of the work of an audit."""
    model = exchange_model(graph, released, view)
    known = [model.start(group, prior) for group in range(len(model.groups))]
    for event in model.events(edges):
        event.move(known[event.group], len(model.groups[event.group]))
    out = np.zeros(graph.num_nodes)
    for members, part in zip(model.groups, known, strict=True):
        out[members] = part.std(slice(0, len(members)))
    return out


# -- the model ---------------------------------------------------------------------------------------------


class Filter(Protocol):
    """What can be moved through a run: :class:`.Knowledge` and :class:`.FisherInformation`."""

    def add_noise(self, shares: dict[int, float]) -> None: ...

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
    """Deviation of the message's noise, or of half the difference of the two noises, as far as they are withdrawn."""
    node: int
    """The node behind ``first``."""
    kept: float = 0.0
    """The same for noise that stays: of the message's noise, or of half the sum of the two."""

    def move(self, part: Filter, offset: int) -> tuple[Array, float] | None:
        """Let it happen to a filter whose noise-free values start at row ``offset``.

        Returns gain and deviation of the surprise for a message that is heard, ``None`` for an unheard exchange.
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

    def start(self, group: int, prior: Array | None) -> Knowledge:
        """Private values and noise-free values of one group before the run, under Gaussian priors or the flat one."""
        members, seals = self.groups[group], self.seals[group]
        one, none = np.eye(len(members)), np.zeros_like(seals)
        if prior is None:
            return Knowledge(factor=np.vstack([none, seals]), diffuse=np.vstack([one, one]))
        own = np.diag(prior[members])
        return Knowledge(factor=np.block([[own, none], [own, seals]]))

    def events(self, fired_edges: Nodes) -> Iterator[Event]:
        """Go through the run exchange by exchange."""
        amplitude, left = self.noise_std.tolist(), self.draws.tolist()
        decay = self.noise_decay.tolist()
        group_of, place_of, heard = self.group_of.tolist(), self.place_of.tolist(), self.heard.tolist()
        ends = self.graph.edges.tolist()
        for step, edge in enumerate(fired_edges.tolist(), start=1):
            i, j = ends[edge]
            withdrawn = {node: amplitude[node] if left[node] > 1 else 0.0 for node in (i, j)}
            kept = {node: amplitude[node] if left[node] == 1 else 0.0 for node in (i, j)}
            if heard[edge]:
                for node in (i, j):
                    if group_of[node] >= 0:
                        yield Event(step, group_of[node], place_of[node], -1, withdrawn[node], node, kept[node])
            else:
                noise, stays = 0.5 * math.hypot(*withdrawn.values()), 0.5 * math.hypot(*kept.values())
                yield Event(step, group_of[i], place_of[i], place_of[j], noise, i, stays)
            for node in (i, j):
                left[node] -= 1
                following = amplitude[node] * decay[node]
                amplitude[node] = following if following >= NEGLIGIBLE else 0.0


def exchange_model(graph: Graph, released: Exchanges, view: View) -> ExchangeModel:
    """Prepare the analysis."""
    seal_std = released.seal_std if isinstance(released, SealedNoise) else 0.0
    group_of, groups = hidden_groups(graph, view, sealed=seal_std > 0.0)
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


def hidden_groups(graph: Graph, view: View, *, sealed: bool = False) -> tuple[Nodes, tuple[Nodes, ...]]:
    """Connected components of the honest nodes over the edges that the observer does not hear, or not know the seal of.

    Returns the group of each node, −1 for the observer's own, and the members of each group in increasing order.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    honest = honest_nodes(view, graph)
    known = np.isin(graph.edges, honest, invert=True).any(axis=1) if sealed else view.heard_edges(graph)
    ends = graph.edges[~known]
    unknown = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(graph.num_nodes, graph.num_nodes))
    components = connected_components(unknown, directed=False)[1]
    labels, index = np.unique(components[honest], return_inverse=True)
    group_of = np.full(graph.num_nodes, -1, dtype=np.int64)
    group_of[honest] = index
    return group_of, tuple(honest[index == k] for k in range(len(labels)))


# -- the passes of an audit --------------------------------------------------------------------------------


class _Passes:
    """The three filters of every group, moved together through one run."""

    def __init__(self, model: ExchangeModel, prior: Array | None) -> None:
        self.model = model
        groups = range(len(model.groups))
        self.flat = [model.start(group, None) for group in groups]
        self.fisher = [FisherInformation(factor) for factor in model.seals]
        self.bayes = self.flat if prior is None else [model.start(group, prior) for group in groups]
        self.moved: list[list[tuple[Filter, int]]] = []
        for flat, fisher, bayes, members in zip(self.flat, self.fisher, self.bayes, model.groups, strict=True):
            parts: list[tuple[Filter, int]] = [(flat, len(members)), (fisher, 0), (bayes, len(members))]
            self.moved.append(parts if prior is not None else parts[:2])

    def run(self, edges: Nodes, recorded: Nodes, progress: Progress) -> tuple[Array, Array, Array]:
        """Flat-prior deviation, information and posterior deviation at each recorded step: (records, n)."""
        shape = (len(recorded), self.model.graph.num_nodes)
        tables = np.zeros(shape), np.full(shape, math.inf), np.zeros(shape)
        row = 0
        dirty = set(range(len(self.model.groups)))
        for event in self.model.events(edges):
            if event.step % 64 == 0:
                progress.at(event.step)
            while row < len(recorded) and recorded[row] < event.step:
                self._record(row, dirty, *tables)
                row += 1
            if event.second < 0:
                dirty.add(event.group)
            for part, offset in self.moved[event.group]:
                event.move(part, offset)
        while row < len(recorded):
            self._record(row, dirty, *tables)
            row += 1
        return tables

    def _record(self, row: int, dirty: set[int], flat: Array, information: Array, posterior: Array) -> None:
        if row > 0:
            flat[row], information[row], posterior[row] = flat[row - 1], information[row - 1], posterior[row - 1]
        for group in dirty:
            members = self.model.groups[group]
            private = slice(0, len(members))
            flat[row, members] = self.flat[group].std(private)
            information[row, members] = self.fisher[group].information
            posterior[row, members] = self.bayes[group].std(private)
        dirty.clear()
