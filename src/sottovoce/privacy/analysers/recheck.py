"""Where sixteen digits do not suffice: the same inference again with more of them, or the admission that nobody knows.

Three signs say that an audit in doubles may be wrong about a group of nodes under a flat prior:

- its rounding errors are not small against a deviation that it reports (or the tolerance, if that is larger);
- a deviation with a flat prior is below the one with a prior, which cannot be: a prior adds information;
- it resolved another number of directions than exact arithmetic finds (:mod:`.elimination`).

Such a group is gone through again by :class:`~..gaussian.precise.PreciseKnowledge`, with more and more digits until two
answers agree and all directions are resolved that there are. If that does not happen, or would take too long, the
answer is *cannot decide*: never *disclosed*.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...methods.base import Array
from ..gaussian.precise import FEWEST_BITS, PreciseKnowledge, agreed
from .elimination import Elimination
from .model import Event, ExchangeModel, Nodes

if TYPE_CHECKING:
    from .exchanges import Passes

__all__ = ["recheck"]

ACCURATE = 1e-8
"""Rounding errors up to this share of a deviation are accepted."""
SLACK = 1e-6
"""A deviation with a flat prior may be below the one with a prior by this share: rounding of both."""
PER_SECOND = 2.0e6
"""Products of whole numbers of 500 bits in a second, roughly."""

Mask = npt.NDArray[np.bool_]


def recheck(
    model: ExchangeModel,
    edges: Nodes,
    recorded: Nodes,
    prior: Array | None,
    passes: Passes,
    tables: tuple[Array, Array, Array],
    tolerated: Array,
    patience: float,
) -> Mask:
    """Mend the tables (flat-prior deviation, information, posterior deviation) of doubtful groups, in place.

    ``tolerated``: ``(n,)`` deviations up to which a value counts as disclosed; ``patience``: seconds, roughly.

    Returns
    -------
    Mask
        ``(n,)`` nodes of which nothing can be decided; their flat-prior deviations are NaN.
    """
    flat, _, posterior = tables
    effort = _Effort(patience * PER_SECOND)
    ranks = _ranks(model, edges)
    undecided = np.zeros(model.graph.num_nodes, dtype=np.bool_)
    for group, members in enumerate(model.groups):
        resolved = len(members) - passes.flat[group].unresolved
        doubtful = _doubtful(flat[:, members], posterior[:, members], passes.rounding[members], tolerated[members])
        if resolved == ranks[group] and not doubtful.any():
            continue
        found = _precisely(model, group, edges, recorded, prior, ranks[group], 0.001 * tolerated[members], effort)
        if found is None:
            unknown = members[doubtful] if resolved == ranks[group] else members
            undecided[unknown] = True
            flat[:, unknown] = math.nan
            if prior is None:
                posterior[:, unknown] = math.nan
        else:
            flat[:, members], posterior[:, members] = found
    return undecided


def _ranks(model: ExchangeModel, edges: Nodes) -> list[int]:
    """How many directions of each group the heard messages resolve, exactly."""
    honest = np.flatnonzero(model.group_of >= 0)
    eliminated = Elimination(model.graph, edges, model.heard, honest)
    groups = model.group_of[honest[np.array(eliminated.pivots, dtype=np.int64)]]
    return [int(count) for count in np.bincount(groups, minlength=len(model.groups))]


def _doubtful(flat: Array, posterior: Array, rounding: Array, tolerated: Array) -> Mask:
    """Which members of a group have deviations that cannot be right, or may be far from right."""
    finite = np.where(np.isfinite(flat) & (flat > 0.0), flat, math.inf).min(axis=0)
    accepted = np.maximum(np.where(np.isfinite(finite), ACCURATE * finite, 0.0), 0.01 * tolerated)
    return np.asarray((rounding > accepted) | (flat < posterior * (1.0 - SLACK)).any(axis=0))


class _Effort:
    """How much work may still be done."""

    def __init__(self, left: float) -> None:
        self.left = left

    def spend(self, work: float, ahead: float = 0.0) -> bool:
        """Whether this work may be done, if so much more is bound to follow."""
        allowed = work + ahead <= self.left
        self.left -= work if allowed else 0.0
        return allowed


def _precisely(
    model: ExchangeModel,
    group: int,
    edges: Nodes,
    recorded: Nodes,
    prior: Array | None,
    rank: int,
    negligible: Array,
    effort: _Effort,
) -> tuple[Array, Array] | None:
    """Histories of the flat-prior and the posterior deviations of one group: ``(records, members)`` each."""
    events = [event for event in model.events(edges) if event.group == group]
    heard = sum(event.second < 0 for event in events)
    products = (1 if prior is None else 2) * heard * (2.0 * len(model.groups[group])) ** 2

    def histories(bits: int) -> Array | None:
        ahead = products * (bits / 333.0) ** 1.5 if bits == FEWEST_BITS else 0.0
        if not effort.spend(products * (bits / 500.0) ** 1.5, ahead):
            return None
        flat, resolved = _history(model, group, events, recorded, None, bits)
        if resolved != rank:
            return None
        return np.array([flat, flat if prior is None else _history(model, group, events, recorded, prior, bits)[0]])

    found = agreed(histories, negligible)
    return None if found is None else (found[0], found[1])


def _history(
    model: ExchangeModel, group: int, events: list[Event], recorded: Nodes, prior: Array | None, bits: int
) -> tuple[Array, int]:
    """Deviations of the private values at the recorded steps, and how many directions were resolved."""
    known = PreciseKnowledge(*model.start_rows(group, prior), bits=bits)
    half = len(model.groups[group])
    table = np.empty((len(recorded), half))
    row, latest = 0, None
    for event in events:
        while row < len(recorded) and recorded[row] < event.step:
            latest = known.std(slice(0, half)) if latest is None else latest
            table[row] = latest
            row += 1
        event.move(known, half)
        if event.second < 0:
            latest = None
    table[row:] = known.std(slice(0, half))
    return table, known.resolved
