"""What only an onlooker who sees every peer's state can know: whether anything was lost, invented or counted twice.

The numbering V2, V3 is that of ``docs/explanation/protocol.md``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..peer.protocol import Edge, PeerState
from ..peer.protocol.messages import Vector

__all__ = ["asymmetric_edges", "broken_invariants", "largest_error", "on_the_way", "true_mean", "unaccounted"]

States = Mapping[str, PeerState]


def true_mean(states: States) -> Vector:
    """The mean of the private values."""
    return np.asarray(np.mean([state.value for state in states.values()], axis=0))


def largest_error(states: States) -> float:
    """Largest |estimate − true mean| over peers and coordinates."""
    mean = true_mean(states)
    return max(float(abs(state.shown - mean).max()) for state in states.values())


def unaccounted(states: States) -> Vector:
    """Σ (x − c − u): zero but for rounding whenever no reply is missing, and else what is :func:`on_the_way`."""
    noise_free = (s.shown - s.value - (0.0 if s.noise is None else s.noise) for s in states.values())
    return np.asarray(sum(noise_free))


def on_the_way(states: States) -> Vector:
    """Σ (register − copy of it): the steps that one end has made and the other has not copied yet."""
    total: Any = 0.0 * true_mean(states)
    for name, state in states.items():
        for other, edge in state.edges.items():
            twin = states[other].edges.get(name) if other in states else None
            total = total + _held(edge, "f") - _held(twin, "g")
    return np.asarray(total)


def asymmetric_edges(states: States, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the edges whose two flows do not cancel bit for bit, or that are known at one end only."""
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
        if not copier.r <= writer.s <= copier.r + 1:
            broken.append(f"V2 {a}→{b}: register at {writer.s}, copy at {copier.r}")
        elif writer.s == copier.r and writer.f.tobytes() != copier.g.tobytes():
            broken.append(f"V3 {a}→{b}: register and copy differ at {writer.s}")
    return broken


def _ends(states: States, a: str, b: str) -> tuple[Edge | None, Edge | None]:
    return tuple(states[one].edges.get(other) if one in states else None for one, other in ((a, b), (b, a)))  # type: ignore[return-value]


def _cancel(one: Edge | None, other: Edge | None) -> bool:
    return one is not None and other is not None and not np.any(one.flow + other.flow != 0)


def _held(edge: Edge | None, register: str) -> Any:
    return 0.0 if edge is None or edge.blank else getattr(edge, register)
