"""Running a method on a graph: the engine, its result, and the plain reference they answer to."""

from __future__ import annotations

from ..foundation.extras import require
from .changing import Stage
from .engine import resume, simulate
from .replay import fired_edges
from .solution import Solution, Status

require("numba", "scipy", by="simulation")

__all__ = ["Solution", "Stage", "Status", "fired_edges", "resume", "simulate"]
