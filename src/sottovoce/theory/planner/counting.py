"""What k steps of withdrawn noise show to everyone but one node, at all nodes at once.

Everyone but node i, pooling all they know, has T_i messages of i with independent noise of deviation σφ^t each
(:func:`sottovoce.methods.noise_insertion.information`). How often the nodes speak is random, and jointly so
(:mod:`..gossip.counts`): a promise for all nodes takes limits that all keep together.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...foundation.arguments import Array
from ...graphs.chances import Chances
from ...methods.budgeted import affordable_draws
from ...methods.noise_insertion import information
from ..gossip.counts import count_limits, most_steps

__all__ = ["hidden_left", "longest_hiding"]


def hidden_left(chances: Chances, std: Array, decay: Array, num_steps: int, probability: float | None) -> float:
    """The deviation that everyone else together is left with of *every* value, in this share of runs.

    Without a probability: of the most exposed value if every node speaks as often as expected, which is no promise.
    """
    if num_steps == 0:
        return math.inf
    if probability is None:
        counts = np.ceil(num_steps * chances.nodes)
    else:
        counts = _limits(chances, num_steps, probability)
    with np.errstate(divide="ignore"):
        return float(np.min(1.0 / np.sqrt(information(std, decay, counts))))


@lru_cache(maxsize=8)
def _limits(chances: Chances, num_steps: int, probability: float) -> Array:
    return count_limits(chances.graph, num_steps, probability, edge_probabilities=chances.edge_probabilities)


def longest_hiding(chances: Chances, std: Array, decay: Array, hidden_std: float, probability: float | None) -> float:
    """The most steps after which every value is still hidden by ``hidden_std``, in this share of runs; may be infinite.

    Without a probability: in every run, though one node should take part in each step.
    """
    draws = affordable_draws(std, decay, hidden_std)
    if probability is None:
        return float(draws[chances.nodes > 0].min())
    return most_steps(chances.graph, draws, probability, edge_probabilities=chances.edge_probabilities)
