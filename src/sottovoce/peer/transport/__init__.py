"""Moving messages between peers: the interface (:mod:`.base`), their bytes (:mod:`.codec`), gRPC over mutual TLS."""

from __future__ import annotations

from .base import CallFailed, Handler, Observer, Transport

__all__ = ["CallFailed", "Handler", "Observer", "Transport"]
