"""One setting of every method, for claims that hold for all of them."""

from __future__ import annotations

import numpy as np

import sottovoce as sv
from sottovoce.methods import METHODS

SETTINGS: dict[str, sv.Method] = {
    "standard": sv.StandardGossip(),
    "noise-insertion": sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8),
    "budgeted": sv.BudgetedNoiseInsertion(noise_std=[0.1, *[1.0] * 7], noise_decay=[*[0.8] * 7, 0.0], hidden_std=0.1),
    "sealed": sv.SealedGossip(seal_std=3.0),
    "sealed under noise": sv.SealedGossip(seal_std=3.0, noise_std=[0.0, *[1.0] * 7], noise_decay=0.8),
    "binary-oracle constant": sv.BinaryOracle(step_size=0.03),
    "binary-oracle a/t": sv.BinaryOracle(step_size="2/t"),
    "binary-oracle a/sqrt(t)": sv.BinaryOracle(step_size="0.3/sqrt(t)"),
    "binary-oracle adaptive": sv.BinaryOracle(step_size="adaptive"),
    "binary-oracle L/4": sv.BinaryOracle(step_size="L/4"),
    "gap-oracle": sv.GapOracle(gap=0.05),
    "heavy-ball": sv.HeavyBallGossip(momentum=0.4, relaxation=1.2),
    "accelerated": sv.AcceleratedGossip(),
    "block": sv.BlockGossip(block_size=4),
    "push-sum": sv.PushSum(),
    "synchronous": sv.SynchronousAveraging(),
    "mo-murray": sv.MoMurray(noise_std=1.0, noise_decay=0.7, weights="max-degree"),
    "manitara-hadjicostis": sv.ManitaraHadjicostis(noise_std=1.0, num_rounds=5),
    "nozari": sv.Nozari(noise_scale=0.5, noise_decay=0.6, noise_share=0.8),
    "huang": sv.Huang(noise_scale=0.5, noise_decay=0.7, mixing_share=0.6),
    "pairwise-cancelling": sv.PairwiseCancelling(pair_noise_std=3.0, own_noise_std=0.1),
}

assert {method.name for method in SETTINGS.values()} == set(METHODS), "a method without a setting is not tested"

GRAPH = sv.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6), (6, 7)], name="kite chain")
VALUES = np.random.default_rng(5).random(GRAPH.num_nodes)


def off_average(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """‖x − mean‖² along an axis."""
    return ((values - values.mean(axis=axis, keepdims=True)) ** 2).sum(axis=axis)
