"""What can be proved and computed about the methods: bounds, the exact expectation, duality, and a planner.

Each name is imported from its module when first used; SciPy only where a function needs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bounds import (
        contraction_factor,
        corollary_bound,
        error_bound,
        noise_envelope,
        outstanding_variance,
        slowest_nodes,
        threshold_decay,
    )
    from .exact import ExpectedError, expected_error, expected_error_split
    from .spectral import AsymptoticRate, asymptotic_rate, second_moment_rate

_HOME = {
    "bounds": (
        "contraction_factor",
        "corollary_bound",
        "error_bound",
        "noise_envelope",
        "outstanding_variance",
        "slowest_nodes",
        "threshold_decay",
    ),
    "exact": ("ExpectedError", "expected_error", "expected_error_split"),
    "spectral": ("AsymptoticRate", "asymptotic_rate", "second_moment_rate"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "AsymptoticRate",
    "ExpectedError",
    "asymptotic_rate",
    "contraction_factor",
    "corollary_bound",
    "error_bound",
    "expected_error",
    "expected_error_split",
    "noise_envelope",
    "outstanding_variance",
    "second_moment_rate",
    "slowest_nodes",
    "threshold_decay",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
