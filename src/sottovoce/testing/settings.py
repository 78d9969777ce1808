"""Protocol settings for tests and demonstrations, so that each says only what it is about."""

from __future__ import annotations

from typing import Any

from ..peer.protocol.settings import Settings

__all__ = ["some_settings"]


def some_settings(name: str = "ada", **fields: Any) -> Settings:
    """Settings of a small network in units of 10⁻⁶; nothing in it is a recommendation.

    Examples
    --------
    >>> some_settings(rate=3.0).rate
    3.0
    """
    usual: dict[str, Any] = {
        "diameter": 1,
        "unit": "0.000001",
        "low": -1000.0,
        "high": 1000.0,
        "noise_std": 1.0,
        "noise_decay": 0.5,
        "seal_std": 1.0,
        "members": 64,
        "max_degree": 20,
        "min_open_edges": 1,
    }
    return Settings(name=name, **(usual | fields))
