"""The flows of a noisy run, replayed from its seed, give the engine's values."""

from __future__ import annotations

import numpy as np

import sottovoce as sv
from sottovoce.testing.reference import algorithm_1


def test_flows_and_outstanding_noise_are_the_values() -> None:
    """x = c + u + Aᵀy for a compiled run: fired edges from the seed, fresh noise from the plain reference."""
    graph = sv.graphs.random_geometric(15, seed=2)
    values = np.random.default_rng(1).random(15)
    method = sv.NoiseInsertion(1.0, np.linspace(0.0, 0.95, 15))
    run = sv.simulate(graph, values, method, num_steps=120, seed=6, threads=1, progress=False)
    fired = run.fired_edges()
    states = algorithm_1(graph, values, method, 120, 6)
    fresh = np.array([owed[graph.edges[edge]] for edge, (_, owed) in zip(fired, states, strict=True)])
    flows = sv.theory.edge_duals(graph, values, fired, fresh)
    np.testing.assert_allclose(
        sv.theory.values_of_duals(graph, values, flows) + run.outstanding_noise, run.values, atol=1e-12
    )
