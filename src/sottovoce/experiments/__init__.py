"""Experiments: the published figures, comparisons, sweeps, speed. ``sv.compare`` and ``sv.sweep`` are at the top.

Names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bench import Measurement, measure
    from .compare import Comparison
    from .paper import Experiment, reproduce
    from .runs import Outcome
    from .spec import Audit, SweepSpec, Task, read_spec
    from .store import SweepStore
    from .sweep import SweepResult

_HOME = {
    "Audit": "spec",
    "Comparison": "compare",
    "Experiment": "paper",
    "Measurement": "bench",
    "Outcome": "runs",
    "SweepResult": "sweep",
    "SweepSpec": "spec",
    "SweepStore": "store",
    "Task": "spec",
    "measure": "bench",
    "read_spec": "spec",
    "reproduce": "paper",
}

__all__ = [
    "Audit",
    "Comparison",
    "Experiment",
    "Measurement",
    "Outcome",
    "SweepResult",
    "SweepSpec",
    "SweepStore",
    "Task",
    "measure",
    "read_spec",
    "reproduce",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
