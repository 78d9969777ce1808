"""The methods: one file each, named as in the literature."""

from __future__ import annotations

from .accelerated import AcceleratedGossip
from .base import BlockMethod, Method, PairMethod, PushMethod, RoundMethod
from .binary_oracle import BinaryOracle
from .block import BlockGossip
from .gap_oracle import GapOracle
from .heavy_ball import HeavyBallGossip
from .huang import Huang
from .manitara_hadjicostis import ManitaraHadjicostis
from .mo_murray import MoMurray
from .noise_insertion import NoiseInsertion
from .nozari import Nozari
from .pairwise_cancelling import PairwiseCancelling
from .push_sum import PushSum
from .standard import StandardGossip
from .synchronous import SynchronousAveraging

__all__ = [
    "AcceleratedGossip",
    "BinaryOracle",
    "BlockGossip",
    "BlockMethod",
    "GapOracle",
    "HeavyBallGossip",
    "Huang",
    "ManitaraHadjicostis",
    "Method",
    "MoMurray",
    "NoiseInsertion",
    "Nozari",
    "PairMethod",
    "PairwiseCancelling",
    "PushMethod",
    "PushSum",
    "RoundMethod",
    "StandardGossip",
    "SynchronousAveraging",
]
