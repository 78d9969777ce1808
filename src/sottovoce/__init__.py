"""sottovoce: private average consensus by gossip under noise that is later withdrawn.

The public names, nothing else. Everything heavier than NumPy is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import errors, graphs
from ._version import __version__
from .graphs import Graph, algebraic_connectivity
from .methods import (
    AcceleratedGossip,
    AsynchronousPdmm,
    BinaryOracle,
    BlockGossip,
    BudgetedNoiseInsertion,
    FlowUpdating,
    GapOracle,
    HeavyBallGossip,
    Huang,
    IncrementalAveraging,
    ManitaraHadjicostis,
    Method,
    ModularMasks,
    MoMurray,
    Muffliato,
    NoiseInsertion,
    Nozari,
    PairwiseCancelling,
    Pdmm,
    PushSum,
    SealedGossip,
    StandardGossip,
    StateDecomposition,
    SynchronousAveraging,
    ZipNoise,
)
from .methods.registry import our_methods

if TYPE_CHECKING:
    from . import experiments, methods, peer, plotting, privacy, simulation, statistics, testing, theory
    from .experiments.compare import compare
    from .experiments.ensemble import ensemble
    from .experiments.sweep import sweep
    from .simulation import Solution, Stage, Status, simulate

_LAZY = {
    "Solution": "simulation",
    "Stage": "simulation",
    "sweep": "experiments.sweep",
    "Status": "simulation",
    "compare": "experiments.compare",
    "ensemble": "experiments.ensemble",
    "simulate": "simulation",
}
_SUBPACKAGES = {
    "experiments",
    "methods",
    "peer",
    "plotting",
    "privacy",
    "simulation",
    "statistics",
    "testing",
    "theory",
}

__all__ = [
    "AcceleratedGossip",
    "AsynchronousPdmm",
    "BinaryOracle",
    "BlockGossip",
    "BudgetedNoiseInsertion",
    "FlowUpdating",
    "GapOracle",
    "Graph",
    "HeavyBallGossip",
    "Huang",
    "IncrementalAveraging",
    "ManitaraHadjicostis",
    "Method",
    "MoMurray",
    "ModularMasks",
    "Muffliato",
    "NoiseInsertion",
    "Nozari",
    "PairwiseCancelling",
    "Pdmm",
    "PushSum",
    "SealedGossip",
    "Solution",
    "Stage",
    "StandardGossip",
    "StateDecomposition",
    "Status",
    "SynchronousAveraging",
    "ZipNoise",
    "__version__",
    "algebraic_connectivity",
    "compare",
    "ensemble",
    "errors",
    "experiments",
    "graphs",
    "methods",
    "peer",
    "plotting",
    "privacy",
    "simulate",
    "simulation",
    "statistics",
    "sweep",
    "testing",
    "theory",
]
# A method that has just been added to the folder of methods is not in the lists above.
globals().update(our_methods())
__all__ += [name for name in our_methods() if name not in __all__]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    if name in _SUBPACKAGES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
