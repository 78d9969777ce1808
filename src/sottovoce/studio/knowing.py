"""Sums that an observer knows exactly, though it may know none of the values in them.

Given the messages, knowledge is a Gaussian covariance of the private values (:mod:`sottovoce.privacy`). Directions in
which nothing is left of it are combinations that are known exactly, whatever was believed beforehand: with one
neighbour between it and the rest, an observer knows the sum of all values behind it, without knowing any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..graphs.graph import Graph
from ..methods import Method
from ..methods.base import Array
from ..privacy.analysers import exchanges, rounds, steps_of_nodes
from ..privacy.analysers.model import exchange_model
from ..privacy.auditing import find_analyser
from ..privacy.view import View

__all__ = ["LARGEST", "known_sums", "posterior_covariance"]

LARGEST = 400
"""Nodes up to which sums are looked for: it costs their third power."""

EXACT = 1e-12
"""Of the prior variance: what is left of a combination that is known."""

TAKES_PART = 1e-4
"""A weight below this is rounding."""


def posterior_covariance(
    graph: Graph, method: Method, run: npt.NDArray[np.int64] | int, view: View, scale: float
) -> tuple[npt.NDArray[np.int64], Array]:
    """Honest nodes, and the covariance of their values after the run, in units of the prior deviation ``scale``.

    Raises
    ------
    Unsupported
        If the method is not analysed under this view.
    """
    analyser, released = find_analyser(graph, method, view)
    prior = np.full(graph.num_nodes, scale)
    if analyser in (rounds, steps_of_nodes):
        state: Any = rounds.started(graph, released, view, prior)  # type: ignore[arg-type]
        for move in range(run) if isinstance(run, int) else run.tolist():
            state.play(move)
        return state.honest, state.known.covariance(slice(0, len(state.honest))) / scale**2
    edges = exchanges.checked_run(run, graph)
    model = exchange_model(graph, released, view, prior)  # type: ignore[arg-type]
    parts = [model.start(group, prior) for group in range(len(model.groups))]
    for event in model.events(edges):
        event.move(parts[event.group], len(model.groups[event.group]))
    honest = np.concatenate(model.groups)
    covariance = np.zeros((len(honest), len(honest)))
    begin = 0
    for part, members in zip(parts, model.groups, strict=True):
        end = begin + len(members)
        covariance[begin:end, begin:end] = part.covariance(slice(0, len(members))) / scale**2
        begin = end
    return honest, covariance


def known_sums(
    graph: Graph, method: Method, run: npt.NDArray[np.int64] | int, view: View, scale: float
) -> list[dict[str, Any]]:
    """Which groups of values an observer knows combinations of, without knowing the values.

    Returns
    -------
    list of dict
        ``nodes``; ``count``, how many independent combinations of them are known; ``total``, whether it is one, and the
        plain sum; ``all``, whether these are all other values, so that the answer tells the sum anyway; ``words``.

    Examples
    --------
    Two others that met before the observer heard one of them:

    >>> import sottovoce as sv
    >>> graph, view = sv.graphs.path(4), sv.privacy.CuriousNodes([0])
    >>> [found] = known_sums(graph, sv.StandardGossip(), np.array([1, 0]), view, 1.0)
    >>> found["nodes"], found["words"]
    ([1, 2], 'knows the sum of node 1 and node 2 exactly')
    """
    honest, covariance = posterior_covariance(graph, method, run, view, scale)
    variances, directions = np.linalg.eigh(covariance)
    known = directions[:, variances <= EXACT]
    projection = known @ known.T
    found = []
    for places in _parts(np.abs(projection) > TAKES_PART):
        count = round(float(projection[places, places].sum()))
        if len(places) == 1 or count == 0 or count >= len(places):
            continue
        block = projection[np.ix_(places, places)]
        total = count == 1 and np.allclose(block, 1.0 / len(places), atol=TAKES_PART)
        nodes = sorted(honest[places].tolist())
        everybody = bool(total and len(nodes) == len(honest))
        found.append(
            {
                "nodes": nodes,
                "count": count,
                "total": bool(total),
                "all": everybody,
                "words": _words(graph, nodes, count, total=bool(total), everybody=everybody),
            }
        )
    return found


def _parts(takes_part: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.int64]]:
    """Places in groups that known combinations connect."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(coo_array(takes_part.astype(np.int8)), directed=False)
    return [np.flatnonzero(part == k) for k in range(count)]


NAMED = 6
"""Nodes that a sentence names one by one."""


def _words(graph: Graph, nodes: list[int], count: int, *, total: bool, everybody: bool) -> str:
    if everybody:
        return "knows the sum of all other values exactly, which the answer tells anyway"
    names = [graph.label(node) for node in nodes]
    who = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) <= NAMED else f"{len(names):,} values"
    if total:
        return f"knows the sum of {who} exactly"
    return f"knows {'a combination' if count == 1 else f'{count:,} combinations'} of {who} exactly"
