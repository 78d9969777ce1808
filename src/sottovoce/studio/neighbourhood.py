"""What can be said of a run that is too large to be followed wholly: two observers, one that knows more, one less.

Nearly all that an observer learns concerns those around it. Of the :data:`NEAREST` nodes we follow every exchange, and
bound what it knows of them from both sides, each by an exact audit of a small graph:

- *at least* so much is left: to an observer to whom everybody farther away tells all. It knows more than the real one.
- *at most* so much is left: to one that forgets every message into which something from farther away may have flowed.
  It hears a part of what the real one hears.

Seals that reach outside hide more than the second observer knows of: there nothing but the belief bounds from above.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import SottovoceError, Unsupported
from ..graphs.graph import Graph
from ..methods import Method
from ..methods.base import Array
from ..methods.released import SealedNoise
from ..scenario.scenario import Scenario
from .observing import Observer
from .verdicts import EXACTLY, NOTHING, closeness

__all__ = ["NEAREST", "near"]

NEAREST = 40
"""Honest nodes that are looked at."""

MOST_EXCHANGES = 6_000
"""Of theirs are followed; after them, only what is kept for ever is said."""

CHUNK = 1_000_000
MOST_STEPS = 20_000_000
"""Steps whose edges are looked through while somebody waits."""

PATIENCE = 1.0

Nodes = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class _Around:
    """The nearest honest nodes, the observer's own, and those just outside."""

    graph: Graph
    own: npt.NDArray[np.bool_]
    nodes: Nodes
    """The honest ones, nearest first."""

    @classmethod
    def of(cls, graph: Graph, observer: Observer) -> _Around:
        own = observer.view().observers(graph)
        if observer.but is not None:
            return cls(graph, own, np.array([observer.but]))
        seen, front, found = own.copy(), np.flatnonzero(own), np.zeros(0, dtype=np.int64)
        while len(front) and len(found) < NEAREST:
            near = np.unique(np.concatenate([graph.neighbours_of(int(node)) for node in front]))
            front = near[~seen[near]][: NEAREST - len(found)]
            seen[front] = True
            found = np.append(found, front)
        return cls(graph, own, found)

    @cached_property
    def inside(self) -> npt.NDArray[np.bool_]:
        """``(n,)`` which nodes these are."""
        return np.isin(np.arange(self.graph.num_nodes), self.nodes)

    @property
    def touching(self) -> npt.NDArray[np.bool_]:
        """``(m,)`` edges with an end inside."""
        return np.asarray(self.inside[self.graph.edges].any(axis=1))

    def small(self, edges: npt.NDArray[np.bool_]) -> tuple[Graph, Nodes, Nodes]:
        """The graph of some edges: its nodes' and its edges' numbers in the large one.

        It is made one piece by edges among nodes of the observer, which never fire and tell nobody anything.
        """
        chosen = np.flatnonzero(edges)
        nodes = np.unique(self.graph.edges[chosen]).astype(np.int64)
        place = np.searchsorted(nodes, self.graph.edges[chosen])
        links = _links(place, len(nodes), ~self.inside[nodes])
        built = Graph.from_edges(np.vstack([place, links]).tolist(), num_nodes=len(nodes))
        number = {(int(i), int(j)): k for k, (i, j) in enumerate(built.edges.tolist())}
        order = np.array([number[min(i, j), max(i, j)] for i, j in place.tolist()])
        return built, nodes, order


def _links(edges: Nodes, count: int, may: npt.NDArray[np.bool_]) -> Nodes:
    """Edges that connect all parts of a graph, between nodes that ``may`` be linked; each part has one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    matrix = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(count, count))
    parts = connected_components(matrix, directed=False)[1]
    ends = [int(np.flatnonzero(may & (parts == part))[0]) for part in np.unique(parts)]
    return np.array(list(itertools.pairwise(ends)), dtype=np.int64).reshape(-1, 2)


def near(problem: Scenario, method: Method, observer: Observer, prior: float | None, step: int) -> dict[str, Any]:
    """What the observer knows of those around it after ``step``: between two bounds, both proved.

    Returns
    -------
    dict
        ``analysed``; if so ``near``: ``nodes`` (nearest first), ``low``, ``high`` (the deviation lies between),
        ``kind``, ``words``, ``sentence``, ``disclosed``; if not, ``message``.
    """
    try:
        return {"analysed": True, "near": _near(problem, method, observer, prior, step)}
    except SottovoceError as error:
        return {"analysed": False, "message": f"not analysed at this size: {error}"}


def _near(problem: Scenario, method: Method, observer: Observer, prior: float | None, step: int) -> dict[str, Any]:
    from ..privacy.analysers import exchanges

    graph = problem.graph
    released = method.releases(graph)
    if observer.edges or not exchanges.supports(released, observer.view()):
        raise Unsupported(f"{'tapped wires are' if observer.edges else f'{method.name} is'} followed on smaller graphs")
    around = _Around.of(graph, observer)
    fired, whole = _exchanges_of(around, problem, step)
    low = _at_least(around, method, fired, prior, whole=whole)
    before = math.inf if prior is None else prior
    sealed = isinstance(released, SealedNoise)
    high = np.full(len(low), before) if sealed else _at_most(around, method, fired, prior, before)
    high = np.maximum(high, low)  # rounding
    scale = (float(problem.private_values.std()) or 1.0) if prior is None else prior
    bounds = list(zip(low.tolist(), high.tolist(), strict=True))
    kinds = [_kind(a, b, before, scale) for a, b in bounds]
    words = [_words(a, b, kind) for (a, b), kind in zip(bounds, kinds, strict=True)]
    disclosed = _disclosed(graph, method, observer)
    return {
        "nodes": around.nodes.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "kind": kinds,
        "words": words,
        "disclosed": disclosed,
        "sentence": _sentence(graph, around.nodes, low, kinds, disclosed, int((~around.own).sum())),
    }


def _exchanges_of(around: _Around, problem: Scenario, step: int) -> tuple[Nodes, bool]:
    """Edges of the large graph that fired with an end inside, in order, and whether these are all of them."""
    from ..simulation import fired_edges

    touching, found, count = around.touching, [], 0
    for start in range(0, min(step, MOST_STEPS), CHUNK):
        length = min(CHUNK, step - start)
        fired = fired_edges(
            around.graph,
            num_steps=length,
            seed=problem.seed,
            start=start,
            edge_probabilities=problem.edge_probabilities,
        )
        found.append(fired[touching[fired]])
        count += len(found[-1])
        if count > MOST_EXCHANGES:
            break
    every = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    return every[:MOST_EXCHANGES], len(every) <= MOST_EXCHANGES and step <= MOST_STEPS


def _at_least(around: _Around, method: Method, fired: Nodes, prior: float | None, *, whole: bool) -> Array:
    """Everybody outside tells the observer all: an exact audit of the nodes inside against all others."""
    from ..privacy import CuriousNodes, audit

    small, nodes, order = around.small(around.touching)
    inside = around.inside[nodes]
    place = np.full(around.graph.num_edges, -1)
    place[np.flatnonzero(around.touching)] = order
    report = audit(
        small, _restricted(method, nodes, around.graph.num_nodes), place[fired],
        CuriousNodes(np.flatnonzero(~inside).tolist()), prior, steps=[], patience=PATIENCE, progress=False,
    )  # fmt: skip
    left = report.posterior_std if whole or report.kept_std is None else report.kept_std
    return np.asarray(left[np.searchsorted(nodes, around.nodes)])


def _at_most(around: _Around, method: Method, fired: Nodes, prior: float | None, before: float) -> Array:
    """The observer forgets what anything from outside may have touched."""
    from ..privacy import CuriousNodes, audit

    ends = around.graph.edges
    clean = around.inside | around.own
    kept = []
    for edge in fired.tolist():
        i, j = ends[edge]
        if clean[i] and clean[j]:
            kept.append(edge)
        else:  # what the observer holds it knows, whatever came into it
            clean[i], clean[j] = clean[i] and around.own[i], clean[j] and around.own[j]
    inner = np.asarray((around.inside | around.own)[ends].all(axis=1)) & around.touching
    if not inner.any() or not around.own.any():
        return np.full(len(around.nodes), before)
    small, nodes, order = around.small(inner)
    place = np.full(around.graph.num_edges, -1)
    place[np.flatnonzero(inner)] = order
    report = audit(
        small, _restricted(method, nodes, around.graph.num_nodes), place[np.array(kept, dtype=np.int64)],
        CuriousNodes(np.flatnonzero(around.own[nodes]).tolist()), prior, steps=[], patience=PATIENCE, progress=False,
    )  # fmt: skip
    high = np.full(around.graph.num_nodes, before)
    high[nodes] = report.posterior_std
    return np.asarray(high[around.nodes])


def _restricted(method: Method, nodes: Nodes, count: int) -> Method:
    """The method on some of the nodes: what it has one of per node is cut."""
    fields: Any = dataclasses.fields(method)  # type: ignore[arg-type]
    per_node = {
        field.name: value[nodes]
        for field in fields
        if field.init and isinstance(value := getattr(method, field.name), np.ndarray) and value.shape == (count,)
    }
    return dataclasses.replace(method, **per_node) if per_node else method  # type: ignore[type-var]


def _disclosed(graph: Graph, method: Method, observer: Observer) -> int | None:
    """How many values of others become known exactly in the long run; ``None`` where the graph alone does not say."""
    from ..privacy import disclosed_eventually

    view = observer.view()
    try:
        return int((disclosed_eventually(graph, view, method) & ~view.observers(graph)).sum())
    except SottovoceError:
        return None


def _kind(low: float, high: float, before: float, scale: float) -> str:
    if high <= EXACTLY * scale:
        return "known"
    if low <= EXACTLY * scale:
        return "undecided"
    return "hidden" if low >= NOTHING * before else "partly"


def _words(low: float, high: float, kind: str) -> str:
    if kind == "known":
        return "known exactly"
    if kind == "hidden":
        return "nothing learned"
    least, most = (f"± {closeness(std)}" for std in (low, high))
    if kind == "undecided":
        return "cannot be decided at this size" if math.isinf(high) else f"at most {most}"
    if least == most:
        return least
    return f"at least {least}" if math.isinf(high) else f"between {least} and {most}"


def _sentence(graph: Graph, nodes: Nodes, low: Array, kinds: list[str], disclosed: int | None, others: int) -> str:
    known, open_ = kinds.count("known"), kinds.count("undecided")
    which = f"the {len(nodes)} nearest values" if len(nodes) > 1 else f"the value of {graph.label(int(nodes[0]))}"
    text = f"Of {which} it knows {known or 'none'} exactly" if len(nodes) > 1 else f"It knows {which}"
    if len(nodes) == 1 and not known:
        text = f"It does not know {which} exactly" if not open_ else f"Whether it knows {which} is not decided here"
    elif open_:
        text += f", and of {open_} it is not decided at this size"
    left = np.where([kind in ("known", "undecided") for kind in kinds], math.inf, low)
    if np.isfinite(left).any():
        worst = int(np.argmin(left))
        kept = closeness(float(left[worst]))
        text += f"; of the most exposed other ({graph.label(int(nodes[worst]))}) at least ± {kept} is left"
    if disclosed is not None:
        who = f"{disclosed:,}" if disclosed else "none"
        text += f". However long the run, it comes to know {who} of the {others:,} others' values exactly"
    return f"{text}."
