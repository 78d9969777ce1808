"""What can be said of a run that is too large to be followed wholly: two observers, one that knows more, one less.

Nearly all that an observer learns concerns those around it. Of the :data:`NEAREST` nodes we follow every exchange, and
bound what it knows of them from both sides, each by an exact audit of a small graph:

- *at least* so much is left: to an observer to whom everybody farther away tells all. It knows more than the real one.
- *at most* so much is left: to one that forgets every message into which something from farther away may have flowed.
  It hears a part of what the real one hears.

Seals that reach outside hide more than the second observer knows of: there nothing but the belief bounds from above.
Who taps wires hears less than either end of each: of every value, the ends that are not its own bound from below.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ..errors import SottovoceError, Unsupported
from ..foundation.numbers import spread_of
from ..graphs.graph import Graph
from ..methods import Method
from ..methods.base import Array
from ..methods.released import SealedNoise
from ..scenario.scenario import Scenario
from .around import Around, Nodes
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

MOST_WIRES = 4
"""Tapped wires for which it is worth asking all ends."""


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
    if not exchanges.supports(released, observer.view()):
        raise Unsupported(f"{method.name} is followed on smaller graphs")
    if len(observer.edges) > MOST_WIRES:
        raise Unsupported(f"more than {MOST_WIRES} tapped wires are followed on smaller graphs")
    around = Around.of(graph, observer, NEAREST)
    fired, whole = _exchanges_of(around, problem, step)
    if observer.edges:
        low = _at_least_on_wires(around, method, fired, prior, observer, whole=whole)
    else:
        low = _at_least(around, method, fired, prior, whole=whole)
    before = math.inf if prior is None else prior
    sealed = isinstance(released, SealedNoise)
    high = np.full(len(low), before) if sealed else _at_most(around, method, fired, prior, observer, before)
    high = np.maximum(high, low)  # rounding
    scale = (spread_of(problem.private_values) or 1.0) if prior is None else prior
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


def _exchanges_of(around: Around, problem: Scenario, step: int) -> tuple[Nodes, bool]:
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


def _at_least(around: Around, method: Method, fired: Nodes, prior: float | None, *, whole: bool) -> Array:
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


def _at_least_on_wires(
    around: Around, method: Method, fired: Nodes, prior: float | None, observer: Observer, *, whole: bool
) -> Array:
    """Of each value the best bound from below over curious ends of all wires that do not hold it themselves."""
    low = np.zeros(around.graph.num_nodes)
    for ends in _covers(observer):
        part = around.seen_by(np.array(ends))
        left = _at_least(part, method, fired[part.touching[fired]], prior, whole=whole)
        low[part.nodes] = np.maximum(low[part.nodes], left)
    return np.asarray(low[around.nodes])


def _covers(observer: Observer) -> set[tuple[int, ...]]:
    """Sets with an end of every wire, each node left out by one: who holds them hears all that the wires carry.

    Examples
    --------
    >>> sorted(_covers(Observer(edges=((0, 1),))))
    [(0,), (1,)]
    >>> sorted(_covers(Observer(edges=((0, 1), (1, 2)))))
    [(0, 1), (0, 2), (1,), (1, 2)]
    """
    everyone = {end for edge in observer.edges for end in edge}
    covers = {tuple(sorted({j if i == node else i for i, j in observer.edges})) for node in everyone}
    return covers | {tuple(sorted({j for _, j in observer.edges}))}


def _at_most(
    around: Around, method: Method, fired: Nodes, prior: float | None, observer: Observer, before: float
) -> Array:
    """The observer forgets what anything from outside may have touched."""
    from ..privacy import CuriousNodes, WireTap, audit

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
    if not inner.any() or not (around.own.any() or observer.edges):
        return np.full(len(around.nodes), before)
    small, nodes, order = around.small(inner)
    place = np.full(around.graph.num_edges, -1)
    place[np.flatnonzero(inner)] = order
    wires = np.searchsorted(nodes, np.array(observer.edges, dtype=np.int64).reshape(-1, 2)).tolist()
    view = WireTap(wires) if wires else CuriousNodes(np.flatnonzero(around.own[nodes]).tolist())
    report = audit(
        small, _restricted(method, nodes, around.graph.num_nodes), place[np.array(kept, dtype=np.int64)],
        view, prior, steps=[], patience=PATIENCE, progress=False,
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
        whose = "others' values" if others < graph.num_nodes else "values"
        text += f". However long the run, it comes to know {who} of the {others:,} {whose} exactly"
    return f"{text}."
