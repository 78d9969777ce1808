"""What can be proved and computed about the methods: bounds, the exact expectation, duality, and a planner.

Formulas of one method stand beside the method in :mod:`sottovoce.methods`; here they are gathered by name. SciPy is
imported only where a function needs it.
"""

from __future__ import annotations

from ..foundation.extras import require
from ..methods.accelerated import Acceleration, acceleration
from ..methods.binary_oracle import (
    adaptive_binary_factor,
    best_binary_step,
    binary_oracle_bound,
    inverse_root_binary_bound,
)
from ..methods.gap_oracle import gap_oracle_bound, gap_oracle_moves
from ..methods.heavy_ball import heavy_ball_factor, heavy_ball_momentum
from ..methods.huang import huang_epsilon, huang_variance
from ..methods.laplace import laplace_error
from ..methods.mo_murray import mo_murray_disclosure, mo_murray_error, mo_murray_factor
from ..methods.muffliato import muffliato_acceleration, muffliato_loss, muffliato_summed_loss
from ..methods.nozari import nozari_epsilon, nozari_variance
from ..methods.pairwise_cancelling import cancelling_covariance, cancelling_mu
from ..methods.push_sum import push_sum_factor
from ..methods.seen import seen_share
from ..methods.standard import averaging_time, high_probability_steps
from ..methods.weights import consensus_factor
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
from .gossip.resolvent import proved_free_decay, rate_bounds
from .gossip.spectral import AsymptoticRate, asymptotic_rate, second_moment_rate
from .planner.planning import DecayCost, Plan, plan

require("scipy", by="theory")

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
    "muffliato_acceleration",
    "muffliato_loss",
    "muffliato_summed_loss",
    "noise_envelope",
    "nozari_epsilon",
    "nozari_variance",
    "outstanding_variance",
    "plan",
    "primal_value",
    "proved_free_decay",
    "push_sum_factor",
    "rate_bounds",
    "second_moment_rate",
    "seen_share",
    "slowest_nodes",
    "threshold_decay",
    "values_of_duals",
]
