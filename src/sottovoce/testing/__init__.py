"""Fakes and conformance suites that users may import: a simulated network, and what every store must do."""

from __future__ import annotations

from .simulated import Conditions, SimulatedNetwork, SimulatedPeer
from .stores import StoreConformance

__all__ = ["Conditions", "SimulatedNetwork", "SimulatedPeer", "StoreConformance"]
