"""The methods: one file each, named as in the literature.

A file says everything particular to its method: parameters, update, what is released, what is proved, what it needs to
know, the settings people use, and the formulas of the literature. A new file in this folder is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil

# In the order in which tables and menus show them.
from .standard import StandardGossip  # isort: skip
from .noise_insertion import NoiseInsertion  # isort: skip
from .budgeted import BudgetedNoiseInsertion  # isort: skip
from .sealed import SealedGossip  # isort: skip
from .binary_oracle import BinaryOracle  # isort: skip
from .gap_oracle import GapOracle  # isort: skip
from .heavy_ball import HeavyBallGossip  # isort: skip
from .accelerated import AcceleratedGossip  # isort: skip
from .block import BlockGossip  # isort: skip
from .push_sum import PushSum  # isort: skip
from .synchronous import SynchronousAveraging  # isort: skip
from .mo_murray import MoMurray  # isort: skip
from .manitara_hadjicostis import ManitaraHadjicostis  # isort: skip
from .nozari import Nozari  # isort: skip
from .huang import Huang  # isort: skip
from .pairwise_cancelling import PairwiseCancelling  # isort: skip
from .incremental import IncrementalAveraging  # isort: skip
from .state_decomposition import StateDecomposition  # isort: skip
from .muffliato import Muffliato  # isort: skip
from .modular import ModularMasks  # isort: skip
from .zip_noise import ZipNoise  # isort: skip
from .pdmm import AsynchronousPdmm, Pdmm  # isort: skip
from .flow_updating import FlowUpdating  # isort: skip
from .base import VALUE, BlockMethod, Guarantee, Method, NeighbourMethod, PairMethod, PushMethod, RoundMethod
from .registry import METHODS, our_methods, register

__all__ = [
    "METHODS",
    "VALUE",
    "AcceleratedGossip",
    "AsynchronousPdmm",
    "BinaryOracle",
    "BlockGossip",
    "BlockMethod",
    "BudgetedNoiseInsertion",
    "FlowUpdating",
    "GapOracle",
    "Guarantee",
    "HeavyBallGossip",
    "Huang",
    "IncrementalAveraging",
    "ManitaraHadjicostis",
    "Method",
    "MoMurray",
    "ModularMasks",
    "Muffliato",
    "NeighbourMethod",
    "NoiseInsertion",
    "Nozari",
    "PairMethod",
    "PairwiseCancelling",
    "Pdmm",
    "PushMethod",
    "PushSum",
    "RoundMethod",
    "SealedGossip",
    "StandardGossip",
    "StateDecomposition",
    "SynchronousAveraging",
    "ZipNoise",
    "register",
]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f".{_module.name}", __name__)
globals().update(our_methods())
__all__ += [name for name in our_methods() if name not in __all__]
