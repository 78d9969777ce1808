"""Methods by name, as command lines, sweep files and web addresses give them."""

from __future__ import annotations

import inspect

from ..errors import InvalidParameter
from .accelerated import AcceleratedGossip
from .base import Method
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

__all__ = ["METHODS", "parse_method"]

_ALL: tuple[type[Method], ...] = (
    StandardGossip,
    NoiseInsertion,
    BinaryOracle,
    GapOracle,
    HeavyBallGossip,
    AcceleratedGossip,
    BlockGossip,
    PushSum,
    SynchronousAveraging,
    MoMurray,
    ManitaraHadjicostis,
    Nozari,
    Huang,
    PairwiseCancelling,
)

METHODS: dict[str, type[Method]] = {cls.name: cls for cls in _ALL}
"""Name on the command line → class."""


def parse_method(text: str) -> Method:
    """Read ``name`` or ``name:parameter=value,…``; values are numbers or words.

    Examples
    --------
    >>> parse_method("noise-insertion:noise_std=1,noise_decay=0.9")
    NoiseInsertion(noise_std=1, noise_decay=0.9)
    >>> parse_method("standard")
    StandardGossip()
    """
    name, _, rest = text.partition(":")
    if name not in METHODS:
        raise InvalidParameter(f"method must be one of {', '.join(METHODS)}, got {name!r}")
    named: dict[str, float | str] = {}
    for part in rest.split(",") if rest else []:
        key, _, value = part.partition("=")
        named[key.strip()] = _number_or_word(value.strip())
    signature = inspect.signature(METHODS[name])
    try:
        signature.bind(**named)
    except TypeError as error:
        raise InvalidParameter(
            f"method {text!r}: {error}; {name} takes {', '.join(signature.parameters) or 'nothing'}"
        ) from None
    return METHODS[name](**named)


def _number_or_word(text: str) -> float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
