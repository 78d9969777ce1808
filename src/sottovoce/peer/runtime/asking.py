"""What a call for an average must say: checked before anything is contributed, because that cannot be taken back."""

from __future__ import annotations

import math
import numbers

import numpy as np

from ...errors import InvalidParameter
from ..protocol.terms import LONGEST_NAME
from ..protocol.units import Vector
from ..store.base import TopicRecord

__all__ = ["as_float", "check_patience", "check_same", "check_secret"]


def as_float(given: object) -> float:
    """A real number of any kind as a float: not a number if it is none, infinite if no float can hold it.

    Examples
    --------
    >>> as_float(np.float32(2.0)), as_float(10**400), as_float("2"), as_float(True)
    (2.0, inf, nan, nan)
    """
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        return math.nan
    try:
        return float(given)
    except OverflowError:
        return math.inf


def check_patience(patience: object) -> float | None:
    """A time-out as a float; refuse one that is no time.

    Raises
    ------
    InvalidParameter
        Neither a finite number of at least 0 nor ``None``.
    """
    if patience is None:
        return None
    seconds = as_float(patience)
    if not 0 <= seconds < math.inf:
        raise InvalidParameter(f"timeout must be a finite number of seconds, at least 0, or None, got {patience!r:.80}")
    return seconds


def check_secret(secret: object) -> None:
    """Refuse a secret without a name.

    Raises
    ------
    InvalidParameter
        Not printable text of a bounded length.
    """
    if not isinstance(secret, str) or not 1 <= len(secret) <= LONGEST_NAME or not secret.isprintable():
        raise InvalidParameter(f"secret must be printable text of 1 to {LONGEST_NAME} characters, got {secret!r:.80}")


def check_same(
    record: TopicRecord, contributed: Vector | None, value: Vector, *, shape: str, missing: str, secret: str
) -> None:
    """Refuse to change what was contributed, what its numbers are or tell of, or the rule for who is missing.

    Parameters
    ----------
    record
        Of the first call for the same topic.
    contributed
        What it contributed; ``None``: the topic has ended and that is not kept, nor is anything by which a value could
        be recognised: whoever has the disk could try values until one fits. Then any value of this shape is as good.
    value, shape, missing, secret
        What this call says.

    Raises
    ------
    InvalidParameter
        Something else than the first one.
    """
    if len(value) != record.dimension or (record.shape and shape != record.shape):
        began, asked = f"{record.dimension} numbers", f"{len(value)}"
        if record.shape:
            began, asked = f"shape {record.shape}", shape
        raise InvalidParameter(f"topic {record.name!r} was begun here with {began}, got {asked}; take another topic")
    if contributed is not None and not np.array_equal(contributed, value):
        raise InvalidParameter(
            f"topic {record.name!r} has another contribution of this peer already; a contribution cannot be changed"
        )
    if record.missing != missing:
        raise InvalidParameter(f"missing must be {record.missing!r} for topic {record.name!r}, got {missing!r}")
    if record.secret != secret:
        raise InvalidParameter(f"secret must be {record.secret!r} for topic {record.name!r}, got {secret!r}")
