"""What only an onlooker who sees every peer's state can know: whether anything was lost, invented or counted twice.

All of it in whole units, so that "nothing" means zero.

The numbering V2, V3 is that of ``docs/explanation/protocol.md``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..peer.protocol import Edge, PeerState
from ..peer.protocol.ledger import SEAL
from ..peer.protocol.units import Vector

__all__ = ["asymmetric_edges", "broken_invariants", "largest_error", "on_the_way", "true_mean", "unaccounted"]

States = Mapping[str, PeerState]


def true_mean(states: States) -> npt.NDArray[np.float64]:
    """The mean of the private values, in units; not whole in general."""
    return np.asarray(sum(state.value for state in states.values()) / len(states))


def largest_error(states: States) -> float:
    """Largest |estimate − true mean| over peers and coordinates, in units."""
    mean = true_mean(states)
    return max(float(abs(state.shown - mean).max()) for state in states.values())


def unaccounted(states: States) -> Vector:
    """Σ (x − c − u): zero whenever no reply is missing, and else what is :func:`on_the_way`."""
    return np.asarray(sum(s.shown - s.value - (0 if s.noise is None else s.noise) for s in states.values()))


def on_the_way(states: States) -> Vector:
    """Σ (register − copy of it): the steps that one end has made and the other has not copied yet."""
    total: Any = 0 * next(iter(states.values())).value
    for name, state in states.items():
        for other, edge in state.edges.items():
            twin = states[other].edges.get(name) if other in states else None
            total = total + _held(edge, "f") - _held(twin, "g")
    return np.asarray(total)


def asymmetric_edges(states: States, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the edges whose two flows do not cancel, or that are known at one end only."""
    return [(a, b) for a, b in pairs if not _cancel(*_ends(states, a, b))]


def broken_invariants(states: States, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """V2 and V3 on every edge whose two ends know each other's life; true at every instant, whatever fails."""
    broken = []
    for a, b in (way for pair in pairs for way in itertools.permutations(pair)):
        writer, copier = _ends(states, a, b)
        if writer is None or copier is None or writer.blank or copier.blank:
            continue
        if (writer.sid, writer.psid) != (copier.psid, copier.sid):
            continue
        if writer.s not in (copier.r, max(copier.r, SEAL) + 1, SEAL if copier.r == 0 else copier.r):
            broken.append(f"V2 {a}→{b}: register at {writer.s}, copy at {copier.r}")
        elif writer.s == copier.r and not np.array_equal(writer.f, copier.g):
            broken.append(f"V3 {a}→{b}: register and copy differ at {writer.s}")
    return broken


def _ends(states: States, a: str, b: str) -> tuple[Edge | None, Edge | None]:
    return tuple(states[one].edges.get(other) if one in states else None for one, other in ((a, b), (b, a)))  # type: ignore[return-value]


def _cancel(one: Edge | None, other: Edge | None) -> bool:
    return one is not None and other is not None and not np.any(one.flow + other.flow != 0)


def _held(edge: Edge | None, register: str) -> Any:
    return 0 if edge is None or edge.blank else getattr(edge, register)
