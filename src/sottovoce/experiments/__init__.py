"""Experiments: the published figures, comparisons, ensembles, sweeps, speed.

``sv.compare``, ``sv.ensemble`` and ``sv.sweep`` are at the top.

Names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bench import Measurement, measure
    from .compare import Comparison
    from .ensemble import Ensemble
    from .paper import Experiment, reproduce
    from .provenance import Provenance
    from .runs import Outcome
    from .spec import Audit, SweepSpec, Task, read_spec
    from .spread import Part, Spread
    from .store import SweepStore
    from .sweep import SweepResult

_HOME = {
    "Audit": "spec",
    "Comparison": "compare",
    "Ensemble": "ensemble",
    "Experiment": "paper",
    "Measurement": "bench",
    "Outcome": "runs",
    "Part": "spread",
    "Provenance": "provenance",
    "Spread": "spread",
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
    "Ensemble",
    "Experiment",
    "Measurement",
    "Outcome",
    "Part",
    "Provenance",
    "Spread",
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
