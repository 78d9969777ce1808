"""The rule by which the GPU keeps the sequential order, tested where there is no GPU."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.testing.claims import passes


@given(
    nodes=st.integers(2, 12),
    seed=st.integers(0, 2**32),
    size=st.integers(1, 60),
)
def test_passes_keep_the_order_at_every_node(nodes, seed, size):
    """Every step is in exactly one pass, no pass touches a node twice, and steps at a node keep their order."""
    rng = np.random.default_rng(seed)
    ends = np.array([rng.choice(nodes, 2, replace=False) for _ in range(size)])
    cut = passes(ends, nodes)
    assert sorted(np.concatenate(cut).tolist()) == list(range(size))
    turn = np.empty(size, dtype=int)
    for number, steps in enumerate(cut):
        touched = ends[steps].ravel()
        assert len(set(touched.tolist())) == len(touched)
        turn[steps] = number
    for node in range(nodes):
        mine = np.flatnonzero((ends == node).any(axis=1))
        assert np.all(np.diff(turn[mine]) > 0)


def test_a_run_in_passes_is_the_sequential_run_bit_for_bit():
    """Applying passes in shuffled order with the method's own update gives the engine's values exactly."""
    graph = sv.graphs.random_geometric(200, seed=1)
    c = np.random.default_rng(0).random(200)
    method = sv.NoiseInsertion(1.0, 0.9)
    run = sv.simulate(graph, c, method, num_steps=3000, seed=5)
    fired, draws = run.fired_edges(), run.draws()
    nodes, parameters = method.initial(graph, c), method.parameters(graph)
    rng = np.random.default_rng(1)
    for first in range(0, 3000, 12):  # batches of n/16
        for steps in passes(graph.edges[fired[first : first + 12]], graph.num_nodes):
            for step in rng.permutation(steps) + first:
                i, j = graph.edges[fired[step]].tolist()
                sv.NoiseInsertion.update(nodes, i, j, draws[step, 0], draws[step, 1], int(step), parameters)
    np.testing.assert_array_equal(nodes[:, 0], run.values)
