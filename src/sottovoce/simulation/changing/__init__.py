"""Networks that change: links, clocks, failures, lost messages and private values, stage by stage."""

from __future__ import annotations

from .stages import Stage

__all__ = ["Stage"]
