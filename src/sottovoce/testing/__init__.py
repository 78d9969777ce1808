"""Fakes and conformance suites that users may import.

A network in virtual time (:mod:`.simulated`), the real node in virtual time (:mod:`.virtual`), what every store
(:mod:`.stores`) and every transport (:mod:`.transport`) must do.
"""

from __future__ import annotations

from .simulated import Conditions, SimulatedNetwork, SimulatedPeer
from .stores import StoreConformance
from .virtual import SeededPeer, VirtualClock, run_virtually

__all__ = [
    "Conditions",
    "SeededPeer",
    "SimulatedNetwork",
    "SimulatedPeer",
    "StoreConformance",
    "VirtualClock",
    "run_virtually",
]
