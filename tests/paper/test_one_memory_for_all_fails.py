"""A negative test: noise memory belongs to a node. One memory for the whole network never finds the mean."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import sottovoce as sv
from sottovoce.methods.base import PairMethod
from sottovoce.testing.reference import run_plainly

COUNT, MEMORY = 1, 2


def shared_memory_update(nodes, i, j, draw_i, draw_j, step, parameters):
    """Algorithm 1 with v^{t−1} read from one place for everybody (row 0), as a public re-implementation has it."""
    remembered = nodes[0, MEMORY]
    for node, draw in ((i, draw_i), (j, draw_j)):
        t = nodes[node, COUNT]
        nodes[node, 0] += parameters[0] ** t * draw
        if t > 0:
            nodes[node, 0] -= parameters[0] ** (t - 1) * remembered
        nodes[node, COUNT] += 1
        nodes[0, MEMORY] = draw
    nodes[i, 0] = nodes[j, 0] = 0.5 * (nodes[i, 0] + nodes[j, 0])


class OneMemory(PairMethod):
    name: ClassVar[str] = "one-memory"
    num_fields: ClassVar[int] = 3
    update = staticmethod(shared_memory_update)

    def parameters(self, graph):
        return np.array([0.9])


def test_one_shared_noise_memory_does_not_return_to_the_mean():
    """All nodes agree in the end, on the wrong number; Algorithm 1 with the same draws agrees on the mean."""
    graph, values = sv.graphs.cycle(10), np.random.default_rng(1).random(10)
    offsets = []
    for seed in range(5):
        *_, nodes = run_plainly(graph, values, OneMemory(), 1500, seed)
        assert np.ptp(nodes[:, 0]) < 1e-6
        offsets.append(abs(nodes[:, 0].mean() - values.mean()))
        right = sv.simulate(graph, values, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9), num_steps=1500, seed=seed)
        assert abs(right.mean_offset) < 1e-9
    assert min(offsets) > 0.01
