"""What can be proved and computed about the methods: bounds, the exact expectation, duality, and a planner.

Each name is imported from its module when first used; SciPy only where a function needs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .gossip.bounds import (
        contraction_factor,
        corollary_bound,
        error_bound,
        noise_envelope,
        outstanding_variance,
        slowest_nodes,
        threshold_decay,
    )
    from .gossip.counts import CountProbability, count_limits, count_probability, largest_count, most_steps
    from .gossip.duality import (
        dual_gap,
        dual_value,
        duals_of_values,
        edge_duals,
        incidence,
        primal_value,
        values_of_duals,
    )
    from .gossip.exact import ExpectedError, expected_error, expected_error_split
    from .gossip.spectral import AsymptoticRate, asymptotic_rate, second_moment_rate
    from .guarantees import (
        Acceleration,
        acceleration,
        adaptive_binary_factor,
        averaging_time,
        best_binary_step,
        binary_oracle_bound,
        gap_oracle_bound,
        gap_oracle_moves,
        heavy_ball_factor,
        heavy_ball_momentum,
        high_probability_steps,
        inverse_root_binary_bound,
        push_sum_factor,
    )
    from .hiding import (
        cancelling_covariance,
        cancelling_mu,
        huang_epsilon,
        mo_murray_disclosure,
        nozari_epsilon,
        seen_share,
    )
    from .planner.planning import DecayCost, Plan, plan
    from .rounds import (
        consensus_factor,
        huang_variance,
        laplace_error,
        mo_murray_error,
        mo_murray_factor,
        nozari_variance,
    )

_HOME = {
    "gossip.bounds": (
        "contraction_factor",
        "corollary_bound",
        "error_bound",
        "noise_envelope",
        "outstanding_variance",
        "slowest_nodes",
        "threshold_decay",
    ),
    "gossip.counts": ("CountProbability", "count_limits", "count_probability", "largest_count", "most_steps"),
    "gossip.exact": ("ExpectedError", "expected_error", "expected_error_split"),
    "gossip.spectral": ("AsymptoticRate", "asymptotic_rate", "second_moment_rate"),
    "gossip.duality": (
        "dual_gap",
        "dual_value",
        "duals_of_values",
        "edge_duals",
        "incidence",
        "primal_value",
        "values_of_duals",
    ),
    "guarantees": (
        "Acceleration",
        "acceleration",
        "adaptive_binary_factor",
        "averaging_time",
        "best_binary_step",
        "binary_oracle_bound",
        "gap_oracle_bound",
        "gap_oracle_moves",
        "heavy_ball_factor",
        "heavy_ball_momentum",
        "high_probability_steps",
        "inverse_root_binary_bound",
        "push_sum_factor",
    ),
    "rounds": (
        "consensus_factor",
        "huang_variance",
        "laplace_error",
        "mo_murray_error",
        "mo_murray_factor",
        "nozari_variance",
    ),
    "hiding": (
        "cancelling_covariance",
        "cancelling_mu",
        "huang_epsilon",
        "mo_murray_disclosure",
        "nozari_epsilon",
        "seen_share",
    ),
    "planner.planning": ("DecayCost", "Plan", "plan"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Acceleration",
    "AsymptoticRate",
    "CountProbability",
    "DecayCost",
    "ExpectedError",
    "Plan",
    "acceleration",
    "adaptive_binary_factor",
    "asymptotic_rate",
    "averaging_time",
    "best_binary_step",
    "binary_oracle_bound",
    "cancelling_covariance",
    "cancelling_mu",
    "consensus_factor",
    "contraction_factor",
    "corollary_bound",
    "count_limits",
    "count_probability",
    "dual_gap",
    "dual_value",
    "duals_of_values",
    "edge_duals",
    "error_bound",
    "expected_error",
    "expected_error_split",
    "gap_oracle_bound",
    "gap_oracle_moves",
    "heavy_ball_factor",
    "heavy_ball_momentum",
    "high_probability_steps",
    "huang_epsilon",
    "huang_variance",
    "incidence",
    "inverse_root_binary_bound",
    "laplace_error",
    "largest_count",
    "mo_murray_disclosure",
    "mo_murray_error",
    "mo_murray_factor",
    "most_steps",
    "noise_envelope",
    "nozari_epsilon",
    "nozari_variance",
    "outstanding_variance",
    "plan",
    "primal_value",
    "push_sum_factor",
    "second_moment_rate",
    "seen_share",
    "slowest_nodes",
    "threshold_decay",
    "values_of_duals",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
