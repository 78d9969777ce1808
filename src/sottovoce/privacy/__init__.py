"""What an observer learns: views, audits, attacks, and the account a node keeps by itself.

Names are imported when first used, so that :mod:`.account` and :mod:`.gdp`, which need nothing but the
standard library, stay cheap for a networked peer.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .account import Account
    from .gdp import compose, delta, epsilon, largest_mu
    from .posterior import audit
    from .report import Report
    from .view import CuriousNodes, EveryoneBut, Pooled, View, WireTap

_HOME = {
    "Account": "account",
    "CuriousNodes": "view",
    "EveryoneBut": "view",
    "Pooled": "view",
    "Report": "report",
    "View": "view",
    "WireTap": "view",
    "audit": "posterior",
    "compose": "gdp",
    "delta": "gdp",
    "epsilon": "gdp",
    "largest_mu": "gdp",
}

__all__ = [
    "Account",
    "CuriousNodes",
    "EveryoneBut",
    "Pooled",
    "Report",
    "View",
    "WireTap",
    "audit",
    "compose",
    "delta",
    "epsilon",
    "largest_mu",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
