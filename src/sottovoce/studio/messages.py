"""What travels between a page and the server: reading a page's commands, writing JSON and binary frames.

From the page, JSON objects with a ``type``, one of :data:`COMMANDS`. To the page, JSON and, for speed,
binary *frames*: four bytes with the length of a JSON header, the header, padding to a multiple of
eight, then float64 arrays in the order the header numbers them (little-endian throughout).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidParameter
from ..foundation.arguments import Array, number

__all__ = ["COMMANDS", "pack", "parse", "speed_of", "write"]

COMMANDS = ("setup", "play", "pause", "step", "seek", "speed", "watch", "guess", "live")
"""What a page may ask for."""


def pack(header: dict[str, Any], arrays: list[Array]) -> bytes:
    """One binary frame."""
    text = json.dumps(_finite(header), allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([len(text).to_bytes(4, "little"), text, *(a.astype("<f8", copy=False).tobytes() for a in arrays)])


def write(message: dict[str, Any]) -> str:
    """One JSON message."""
    return json.dumps(_finite(message), allow_nan=False)


def parse(text: str) -> dict[str, Any]:
    """A page's message: an object whose ``type`` is a command."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidParameter("a message must be JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise InvalidParameter("a message must be an object with a type")
    if message["type"] not in COMMANDS:
        raise InvalidParameter(f"type must be one of {', '.join(COMMANDS)}")
    return message


def speed_of(message: Mapping[str, Any]) -> float:
    """Steps a second; null is as fast as can be watched."""
    speed = message.get("speed")
    return 1e12 if speed is None else number("speed", speed, low=0.1, high=1e12, why="steps a second")


def _finite(value: Any) -> Any:
    """Infinities as words and NaN as null, which JSON can carry."""
    if isinstance(value, dict):
        return {key: _finite(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
