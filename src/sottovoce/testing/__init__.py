"""Fakes and conformance suites that users may import.

What every method (:mod:`.methods`), every store (:mod:`.stores`) and every transport (:mod:`.transport`) must do; a
network in virtual time (:mod:`.simulated`), its transcript for an audit (:mod:`.transcripts`),
the real node in virtual time (:mod:`.virtual`), a network of them for tests of programs (:mod:`.local`), whole networks
of processes (:mod:`.stage`) on machines of their own (:mod:`.machines`). Each name is imported from its module when
first used: checking a method needs nothing of a peer.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .local import LocalNetwork
    from .methods import check_method
    from .simulated import Conditions, SimulatedNetwork, SimulatedPeer
    from .stores import StoreConformance
    from .transcripts import Transcript
    from .virtual import SeededPeer, VirtualClock, run_virtually

_HOME = {
    "Conditions": "simulated",
    "LocalNetwork": "local",
    "SeededPeer": "virtual",
    "SimulatedNetwork": "simulated",
    "SimulatedPeer": "simulated",
    "StoreConformance": "stores",
    "Transcript": "transcripts",
    "VirtualClock": "virtual",
    "check_method": "methods",
    "run_virtually": "virtual",
}

__all__ = [
    "Conditions",
    "LocalNetwork",
    "SeededPeer",
    "SimulatedNetwork",
    "SimulatedPeer",
    "StoreConformance",
    "Transcript",
    "VirtualClock",
    "check_method",
    "run_virtually",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
