from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """x ← W (x + offsets): fresh ones in the first L_i rounds, then their sum back at once, then none."""
    x, W, n = replay.values, method.mixing(replay.graph).toarray(), replay.graph.num_nodes
    std, length = (np.broadcast_to(p, n) for p in (method.noise_std, method.num_rounds))
    yield x
    offsets = [np.zeros(n)]
    for k in replay.steps():
        fresh = np.where(k < length, std * replay.draws(method, k), 0.0)
        offsets.append(np.where(k == length, -np.sum(offsets, axis=0), fresh))
        x = W @ (x + offsets[-1])
        yield x


@pytest.mark.parametrize("rounds", [5, [1, 2, 3, 4, 5, 6, 7, 8]], ids=["alike", "per node"])
def test_equation(rounds):
    """Compiled runs follow the equation, with one length or one per node."""
    assert_equation(sv.ManitaraHadjicostis(noise_std=1.0, num_rounds=rounds), equation)


def test_offsets_are_taken_back_and_the_average_is_exact():
    """After round L + 1 nothing is outstanding; before, the mean is off; in the end every value is the average."""
    method = sv.ManitaraHadjicostis(noise_std=2.0, num_rounds=10)
    noisy = sv.simulate(GRAPH, VALUES, method, num_steps=10, seed=1)
    assert np.abs(noisy.outstanding_noise).min() > 1e-3
    assert abs(noisy.mean_offset) > 0.01
    clean = noisy.resume(1)
    assert (clean.outstanding_noise == 0).all()
    assert abs(clean.mean_offset) < 1e-14
    np.testing.assert_allclose(clean.resume(600).values, VALUES.mean(), atol=1e-12)


@pytest.mark.parametrize("graph", [sv.graphs.cycle(7), sv.graphs.star(6), sv.graphs.complete(5)], ids=lambda g: g.name)
@pytest.mark.parametrize("weights", ["metropolis", "max-degree"])
def test_every_run_is_exact_on_every_graph(graph, weights):
    """20 runs each end at the average, whatever was added on the way."""
    values = np.random.default_rng(8).random(graph.num_nodes)
    method = sv.ManitaraHadjicostis(noise_std=3.0, num_rounds=4, weights=weights)
    run = sv.simulate(graph, values, method, num_steps=500, seed=6, replicas=20, record=1)
    np.testing.assert_allclose(run.values, values.mean(), atol=1e-11)


def test_every_node_may_have_its_own_length():
    """Node i's outstanding noise is a sum of L_i draws until its own round L_i + 1."""
    rounds = np.array([1, 2, 3, 4, 5, 6, 7, 8])
    method = sv.ManitaraHadjicostis(noise_std=np.full(8, 0.5), num_rounds=rounds)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=5, seed=2)
    draws = 0.5 * run.draws()
    expected = [draws[:, i].sum() if rounds[i] >= 5 else 0.0 for i in range(8)]
    np.testing.assert_allclose(run.outstanding_noise, expected, atol=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_heard_is_disclosed(seed):
    """Two curious nodes learn exactly the values of those whom they hear together with all their neighbours."""
    graph = sv.graphs.erdos_renyi(8, 0.35, seed=seed)
    view = sv.privacy.CuriousNodes([0, 1 + seed])
    method = sv.ManitaraHadjicostis(noise_std=1.0, num_rounds=3)
    report = sv.privacy.audit(graph, method, 30, view, prior_std=None)
    assert report.disclosed.tolist() == sv.privacy.disclosed_by_broadcast(graph, view).tolist()
