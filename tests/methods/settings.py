"""A graph, values, and settings of every registered method, for claims that hold for all of them."""

from __future__ import annotations

import numpy as np

import sottovoce as sv
from sottovoce.methods import METHODS

GRAPH = sv.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6), (6, 7)], name="kite chain")
VALUES = np.random.default_rng(5).random(GRAPH.num_nodes)

FURTHER: list[sv.Method] = [
    sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8),
    sv.BudgetedNoiseInsertion(noise_std=np.linspace(0.1, 1.0, 8), noise_decay=[0.0, *[0.8] * 7], hidden_std=0.1),
    sv.SealedGossip(seal_std=3.0, noise_std=[0.0, *[1.0] * 7], noise_decay=0.8),
    sv.BinaryOracle(step_size=0.03),
    sv.BinaryOracle(step_size="2/t"),
    sv.BinaryOracle(step_size="L/4"),
    sv.HeavyBallGossip(momentum=0.4, relaxation=1.2),
    sv.MoMurray(noise_std=1.0, noise_decay=0.7, weights="max-degree"),
    sv.Nozari(noise_scale=0.5, noise_decay=0.6, noise_share=0.8),
    sv.PairwiseCancelling(pair_noise_std=3.0, own_noise_std=0.1),
    sv.IncrementalAveraging(noise_std=2.0, num_parts=3, own_noise_std=0.1),
    sv.Muffliato(noise_std=0.5, acceleration=1.5),
    sv.ModularMasks(largest=100.0),
    sv.ZipNoise(noise_std=0.5, noise_decay=1.0),
]
"""Beside the customary settings, where a method has another branch."""

SETTINGS = {m.label(): m for m in [*(m for cls in METHODS.values() for m in cls.customary(GRAPH)), *FURTHER]}


def off_average(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """‖x − mean‖² along an axis."""
    return ((values - values.mean(axis=axis, keepdims=True)) ** 2).sum(axis=axis)
