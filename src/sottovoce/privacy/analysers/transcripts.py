"""Every message of a run of exchanges, and the optimal estimates from those that a view heard.

Gains do not depend on the numbers seen, so many transcripts of the same fired edges cost little more than one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...foundation.numbers import NEGLIGIBLE
from ...graphs.graph import Graph
from ...methods.base import Array
from .model import ExchangeModel, Exchanges, stated_noise

__all__ = ["at_both_ends", "estimates", "transcript"]


def transcript(
    graph: Graph, released: Exchanges, fired_edges: npt.NDArray[np.int64], draws: Array, values: Array
) -> Array:
    """Every message of a run: the two noisy values that the ends of each fired edge show each other.

    Parameters
    ----------
    graph, released, fired_edges
        The run.
    draws
        ``(num_steps, 2, batch)`` standard normals for the ends in the order of ``graph.edges``.
    values
        ``(n, batch)`` or ``(n, 1)``: at the start, that is the private values with their seals, if there are any.

    Returns
    -------
    Array
        ``(num_steps, 2, batch)``.
    """
    amplitude, decay, left = (noise.tolist() for noise in stated_noise(graph, released))
    batch = max(draws.shape[-1], values.shape[-1])
    values = np.broadcast_to(values, (graph.num_nodes, batch)).astype(np.float64)
    outstanding = np.zeros((graph.num_nodes, batch))
    shown = np.empty((len(fired_edges), 2, batch))
    ends = graph.edges.tolist()
    for step, edge in enumerate(fired_edges.tolist()):
        for side, node in enumerate(ends[edge]):
            fresh = amplitude[node] * draws[step, side] if left[node] > 0 else outstanding[node]
            left[node] -= 1
            shown[step, side] = values[node] + (fresh - outstanding[node])
            outstanding[node] = fresh
            following = amplitude[node] * decay[node]
            amplitude[node] = following if following >= NEGLIGIBLE else 0.0
        values[ends[edge]] = 0.5 * (shown[step, 0] + shown[step, 1])
    return shown


def at_both_ends(graph: Graph, numbers: Array) -> Array:
    """``(n, batch)`` sums of ``(m, batch)`` numbers that edges add at their first end and subtract at their second."""
    total = np.zeros((graph.num_nodes, numbers.shape[1]))
    np.add.at(total, graph.edges[:, 0], numbers)
    np.subtract.at(total, graph.edges[:, 1], numbers)
    return total


def estimates(
    model: ExchangeModel,
    fired_edges: npt.NDArray[np.int64],
    shown: Array,
    prior: Array | None,
    prior_mean: Array,
    known_seals: Array | float = 0.0,
) -> tuple[Array, Array]:
    """Estimates ``(n, batch)`` and their deviations ``(n,)`` from the messages that the view heard.

    Messages on edges that the view does not hear are never read. ``known_seals`` are what the view's own edges add to
    every node's value at the start, ``(n, batch)``.
    """
    groups = model.groups
    known = [model.start(group, prior) for group in range(len(groups))]
    batch = shown.shape[-1]
    belief = np.broadcast_to(prior_mean.reshape(model.graph.num_nodes, -1), (model.graph.num_nodes, batch))
    guess = [np.concatenate([belief[g], (belief + known_seals)[g]]) for g in groups]
    first_end = model.graph.edges[fired_edges, 0]
    for event in model.events(fired_edges):
        rows, half = guess[event.group], len(groups[event.group])
        here, there = half + event.first, half + event.second
        seen = event.move(known[event.group], half)
        if seen is None:
            rows[here] = rows[there] = 0.5 * (rows[here] + rows[there])
            continue
        own, other = shown[event.step - 1] if event.node == first_end[event.step - 1] else shown[event.step - 1, ::-1]
        rows += np.outer(seen[0], own - rows[here])
        rows[here] += 0.5 * (other - own)
    estimate = np.full((model.graph.num_nodes, batch), np.nan)
    std = np.zeros(model.graph.num_nodes)
    for members, part, rows in zip(groups, known, guess, strict=True):
        std[members] = part.std(slice(0, len(members)))
        estimate[members] = rows[: len(members)]
    estimate[np.isinf(std)] = np.nan
    return estimate, std
