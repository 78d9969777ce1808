"""The compiled driver and Algorithm 1 in plain Python are the same algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.testing.reference import algorithm_1, run_plainly


@st.composite
def connected_graphs(draw, max_nodes=9):
    """A random tree with random further edges."""
    n = draw(st.integers(2, max_nodes))
    edges = {(draw(st.integers(0, i - 1)), i) for i in range(1, n)}
    extra = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=8))
    edges |= {(min(e), max(e)) for e in extra if e[0] != e[1]}
    return sv.Graph.from_edges(sorted(edges))


@st.composite
def noisy_methods(draw, num_nodes):
    def some(low, high):
        one = st.floats(low, high)
        return draw(st.one_of(one, st.lists(one, min_size=num_nodes, max_size=num_nodes)))

    return sv.NoiseInsertion(noise_std=some(0, 5), noise_decay=some(0, 0.999))


@given(data=st.data(), graph=connected_graphs(), seed=st.integers(0, 2**64 - 1), replica=st.integers(0, 3))
@settings(max_examples=40)
def test_noise_insertion_step_by_step(data, graph, seed, replica):
    """After every step the values and the outstanding noise agree to rounding."""
    method = data.draw(noisy_methods(graph.num_nodes))
    c = np.array(data.draw(st.lists(st.floats(-100, 100), min_size=graph.num_nodes, max_size=graph.num_nodes)))
    num_steps = 70
    plain = list(algorithm_1(graph, c, method, num_steps, seed, replica=replica))
    tolerance = 1e-12 * (1 + np.abs(c).max() + 7 * np.max(method.noise_std))
    for step in (1, 2, 3, 5, 17, 64, 65, num_steps):
        run = sv.simulate(graph, c, method, num_steps=step, seed=seed, replicas=4)
        np.testing.assert_allclose(run.values[replica], plain[step - 1][0], rtol=0, atol=tolerance)
        np.testing.assert_allclose(run.outstanding_noise[replica], plain[step - 1][1], rtol=0, atol=tolerance)


@given(graph=connected_graphs(), seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_standard_gossip_step_by_step(graph, seed):
    """Without draws there is nothing to round differently: every bit agrees."""
    c = np.random.default_rng(seed).normal(size=graph.num_nodes)
    plain = list(run_plainly(graph, c, sv.StandardGossip(), 130, seed))
    for step in (1, 64, 65, 130):
        run = sv.simulate(graph, c, sv.StandardGossip(), num_steps=step, seed=seed)
        np.testing.assert_array_equal(run.values, plain[step - 1][:, 0])


@pytest.mark.parametrize("record", [[], [100], [0, 1, 2, 3, 190], 400])
@pytest.mark.parametrize("method", [sv.StandardGossip(), sv.NoiseInsertion(1.0, 0.9)], ids=lambda method: method.name)
def test_larger_networks_step_by_step(method, record):
    """Where nodes and edges of coming steps are brought from memory before: in pairs of replicas and of coordinates,
    with runs that end inside a window and with one, and records before, between and at all steps.
    """
    graph = sv.graphs.cycle(4200)
    c = np.random.default_rng(1).random((graph.num_nodes, 2))
    columns = [list(run_plainly(graph, c[:, k], method, 400, 5, replica=1, coordinate=k)) for k in (0, 1)]
    for steps in (1, 63, 64, 65, 128, 129, 192, 193, 400):
        where = [step for step in record if step <= steps] if isinstance(record, list) else steps
        run = sv.simulate(graph, c, method, num_steps=steps, seed=5, replicas=2, record=where)
        for k, column in enumerate(columns):
            np.testing.assert_allclose(run.tables[1, k], column[steps - 1], rtol=0, atol=1e-13 * method.uses_noise)


@pytest.mark.parametrize("decay", [0.0, 0.5, 0.99])
def test_first_noise_is_the_first_draw(decay):
    """On K₂ after one step both values are the mean plus half of both draws, for φ = 0 too."""
    run = sv.simulate(sv.graphs.complete(2), [1.0, 3.0], sv.NoiseInsertion(2.0, decay), num_steps=1, seed=9)
    draws = 2.0 * run.draws()[0]
    np.testing.assert_allclose(run.values, 2.0 + draws.sum() / 2)
    np.testing.assert_allclose(run.outstanding_noise, draws)


def test_with_no_decay_all_noise_is_gone_at_the_second_activation():
    """φ = 0: the second exchange withdraws everything, so K₂ is exact from step 2 on."""
    run = sv.simulate(sv.graphs.complete(2), [1.0, 3.0], sv.NoiseInsertion(2.0, 0.0), num_steps=2, seed=9)
    np.testing.assert_allclose(run.values, 2.0, atol=1e-15)
    np.testing.assert_array_equal(run.outstanding_noise, 0.0)
