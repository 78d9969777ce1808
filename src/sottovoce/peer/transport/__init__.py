"""Moving messages between peers: the interface (:mod:`.base`), memory for tests, gRPC for networks."""

from __future__ import annotations

from .base import CallFailed, Handler, Observer, Transport

__all__ = ["CallFailed", "Handler", "Observer", "Transport"]
