"""What k steps show to everyone but one node: how often the nodes speak, and what is then still hidden.

Everyone but node i, pooling all they know, has T messages of i with independent noise of deviation σφ^t each
(:func:`sottovoce.methods.noise_insertion.information`).
"""

from __future__ import annotations

import numpy as np

from ...foundation.arguments import Array
from ...methods.noise_insertion import information
from .response import Groups

__all__ = ["hidden_std_left", "messages", "variance_to_hide"]


def messages(groups: Groups, num_steps: float, probability: float | None) -> Array:
    """``(groups,)`` how often a node speaks: the expected number, or what it stays within with this probability."""
    if probability is None:
        return np.ceil(num_steps * groups.chance)
    import scipy.stats

    return np.asarray(scipy.stats.binom.ppf(probability, np.round(num_steps), groups.chance), dtype=np.float64)


def hidden_std_left(groups: Groups, variance: Array, num_steps: float, probability: float | None) -> float:
    """The standard deviation of the most exposed node against everyone else, with these σ²."""
    known = information(np.sqrt(variance), groups.decay, messages(groups, num_steps, probability))
    with np.errstate(divide="ignore"):
        return float(np.min(1.0 / np.sqrt(known)))


def variance_to_hide(groups: Groups, hidden_std: float, num_steps: float, probability: float | None) -> Array:
    """``(groups,)`` the smallest σ² that leave this much hidden: hidden² Σ_{t<T} φ^{−2t}; may be infinite."""
    return hidden_std**2 * information(1.0, groups.decay, messages(groups, num_steps, probability))
