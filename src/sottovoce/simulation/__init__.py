"""Running a method on a graph: the engine, its result, and the plain reference they answer to."""

from __future__ import annotations

from .engine import resume, simulate
from .solution import Solution, Status

__all__ = ["Solution", "Status", "resume", "simulate"]
