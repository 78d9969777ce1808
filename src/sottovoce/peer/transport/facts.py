"""What a call says about itself beside its message: whose it is, what time it is there, how long it is waited for."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grpc import aio

if TYPE_CHECKING:
    Context = aio.ServicerContext[bytes, bytes]

__all__ = ["clock", "facts", "names", "patience"]

_CLOCK, _PATIENCE = "sottovoce-clock", "sottovoce-patience"


def facts(now: float, patience: float) -> tuple[tuple[str, str], ...]:
    """What a stream begins with: the caller's time, and how many seconds its first message may take to be answered."""
    return (_CLOCK, f"{now:.0f}"), (_PATIENCE, f"{patience:.3f}")


def clock(context: Context) -> int | None:
    """The caller's time in seconds since 1970; ``None``: it has not said."""
    value = _said(context, _CLOCK)
    return int(value) if value.isdecimal() and len(value) < 16 else None


def patience(context: Context, waited: float) -> float:
    """Seconds that a caller has left for its first answer, ``waited`` seconds after it called; infinite if not said."""
    left: float | None = context.time_remaining()
    found = math.inf if left is None else left
    with contextlib.suppress(ValueError):
        found = min(found, float(_said(context, _PATIENCE)) - waited)
    return found


def names(context: Context) -> Sequence[str]:
    """The names in the caller's certificate."""
    entries = context.auth_context().get("x509_subject_alternative_name", ())
    return [entry.decode("utf-8", "replace") for entry in entries]


def _said(context: Context, key: str) -> str:
    values = (value for name, value in context.invocation_metadata() or () if name == key)
    found = next(values, "")
    return found if isinstance(found, str) else ""
