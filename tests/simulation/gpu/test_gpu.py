"""The GPU runs the same algorithm with the same numbers. Where there is no device these tests are skipped, visibly."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.graphs.circulant import Circulant
from sottovoce.simulation.gpu import has_noise, require_gpu
from sottovoce.simulation.random.streams import block
from sottovoce.testing.reference import algorithm_1, run_plainly


def device_missing() -> str:
    try:
        require_gpu()
    except errors.SottovoceError as error:
        return str(error)
    return ""


needs_gpu = pytest.mark.skipif(bool(device_missing()), reason=device_missing() or "there is a device")
NOISY = sv.NoiseInsertion(noise_std=1.5, noise_decay=0.93)


@pytest.mark.skipif(not device_missing(), reason="there is a device")
def test_without_a_device_the_error_says_what_to_do():
    """``device='gpu'`` on a machine without one is a clear error, not a crash."""
    with pytest.raises((errors.MissingDependency, errors.Unsupported), match="device='gpu' needs"):
        sv.simulate(sv.graphs.cycle(5), np.zeros(5), NOISY, num_steps=5, device="gpu")


def test_unknown_device_is_refused():
    """Only the CPU and the GPU are known."""
    with pytest.raises(errors.InvalidParameter, match="device must be 'cpu' or 'gpu'"):
        sv.simulate(sv.graphs.cycle(5), np.zeros(5), NOISY, num_steps=5, device="abacus")


def other_update(nodes, i, j, draw_i, draw_j, step, parameters):
    pass


def test_the_device_runs_updates_not_classes():
    """A method with the update of Algorithm 1 runs there, whatever its class; a subclass with another does not."""
    same = type(
        "Same",
        (sv.methods.PairMethod,),
        {"name": "same", "num_fields": 4, "update": staticmethod(sv.NoiseInsertion.update)},
    )
    assert has_noise(same())
    assert not has_noise(sv.StandardGossip())
    changed = type("Changed", (sv.NoiseInsertion,), {"update": staticmethod(other_update)})
    for method in (changed(1.0, 0.9), sv.GapOracle(gap=0.1), sv.PushSum()):
        with pytest.raises(errors.Unsupported, match=f"not {method.name}"):
            has_noise(method)


@needs_gpu
@pytest.mark.parametrize(
    "graph", [sv.graphs.cycle(10), sv.graphs.random_geometric(100, seed=1), sv.graphs.random_geometric(500, seed=1)],
    ids=["shared", "shared RGG(100)", "global memory"],
)  # fmt: skip
def test_ensemble_equals_reference(graph):
    """Every replica follows Algorithm 1 in plain Python, per-node noise included; mass is conserved."""
    n = graph.num_nodes
    c = np.random.default_rng(0).random(n)
    method = sv.NoiseInsertion(np.linspace(0, 2, n), np.linspace(0.0, 0.99, n))
    run = sv.simulate(graph, c, method, num_steps=333, seed=7, replicas=70, record=[0, 100, 333], device="gpu")
    for replica in (0, 1, 69):
        x, u = list(algorithm_1(graph, c, method, 333, 7, replica=replica))[-1]
        np.testing.assert_allclose(run.values[replica], x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(run.outstanding_noise[replica], u, rtol=0, atol=1e-12)
    assert run.steps.tolist() == [0, 100, 333]
    assert run.mass_error.max() < 1e-12


@needs_gpu
def test_standard_gossip_bit_for_bit():
    """Without noise there is nothing to round differently."""
    graph, c = sv.graphs.cycle(10), np.random.default_rng(0).random(10)
    run = sv.simulate(graph, c, sv.StandardGossip(), num_steps=500, seed=7, replicas=40, device="gpu")
    nodes = list(run_plainly(graph, c, sv.StandardGossip(), 500, 7, replica=39))[-1]
    np.testing.assert_array_equal(run.values[39], nodes[:, 0])


@needs_gpu
@pytest.mark.parametrize("replicas", [1, 64])
def test_gpu_equals_cpu_bit_for_bit(replicas):
    """No fused multiply-adds and the same polynomials: noise and all, the compiled CPU kernel gives the same bits."""
    graph, c = sv.graphs.random_geometric(100, seed=1), np.random.default_rng(0).random(100)
    runs = [
        sv.simulate(graph, c, NOISY, num_steps=20_000, seed=7, replicas=replicas, record=[0, 20_000], device=device)
        for device in ("cpu", "gpu")
    ]
    np.testing.assert_array_equal(runs[0].values, runs[1].values)
    np.testing.assert_array_equal(runs[0].outstanding_noise, runs[1].outstanding_noise)
    np.testing.assert_allclose(runs[0].relative_error, runs[1].relative_error, rtol=1e-14)
    if replicas > 1:
        np.testing.assert_array_equal(runs[1].resume(500).values, runs[0].resume(500).values)


@needs_gpu
def test_vector_data_shares_edges():
    """Coordinates of a replica see the same edges: with no noise equal columns stay equal, with noise they part."""
    graph, c = sv.graphs.cycle(10), np.random.default_rng(0).random(10)
    both = np.stack([c, c], axis=1)
    plain = sv.simulate(graph, both, sv.StandardGossip(), num_steps=200, seed=3, replicas=5, device="gpu").values
    np.testing.assert_array_equal(plain[..., 0], plain[..., 1])
    noisy = sv.simulate(graph, both, NOISY, num_steps=200, seed=3, replicas=5, device="gpu")
    assert not np.allclose(noisy.outstanding_noise[..., 0], noisy.outstanding_noise[..., 1])
    alone = sv.simulate(graph, c, NOISY, num_steps=200, seed=3, replicas=5, device="gpu")
    np.testing.assert_array_equal(noisy.values[..., 0], alone.values)


@needs_gpu
@pytest.mark.parametrize("weighted", [False, True])
def test_one_run_in_passes_equals_reference(weighted):
    """Batches worked off by claims keep the sequential order exactly, on a stored graph; unequal edges too."""
    graph = sv.graphs.random_geometric(300, seed=2)
    c = np.random.default_rng(0).random(300)
    p = np.arange(1.0, graph.num_edges + 1)
    probabilities = p / p.sum() if weighted else None
    run = sv.simulate(
        graph, c, NOISY, num_steps=4000, seed=5, record=[0, 1000, 4000], device="gpu", edge_probabilities=probabilities
    )
    assert run.mass_error.max() < 1e-11
    here = sv.simulate(graph, c, NOISY, num_steps=4000, seed=5, edge_probabilities=probabilities)
    np.testing.assert_array_equal(run.values, here.values)
    np.testing.assert_array_equal(run.outstanding_noise, here.outstanding_noise)
    if not weighted:
        x, u = list(algorithm_1(graph, c, NOISY, 4000, 5))[-1]
        np.testing.assert_allclose(run.values, x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(run.outstanding_noise, u, rtol=0, atol=1e-12)


@needs_gpu
def test_implicit_graph_equals_its_stored_form():
    """A circulant run without an edge list is the run of the same graph with one, and of the plain reference."""
    from sottovoce.simulation.gpu.huge import HugeRun

    implicit = Circulant.random(999, 6, seed=1)
    run = HugeRun(implicit, NOISY, 11)
    start = run.values()
    for node in (0, 998):
        words = block(11, 0, node, purpose=1)
        assert start[node] == ((words[0] | words[1] << 32) >> 11) * 2.0**-53
    run.advance(5000)
    x, u = list(algorithm_1(implicit.to_graph(), start, NOISY, 5000, 11))[-1]
    np.testing.assert_allclose(run.values(), x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.outstanding_noise(), u, rtol=0, atol=1e-12)
    assert run.activations().sum() == 2 * 5000
    stored = sv.simulate(implicit.to_graph(), start, NOISY, num_steps=5000, seed=11, device="gpu")
    np.testing.assert_array_equal(stored.values, run.values())


@needs_gpu
@pytest.mark.parametrize("method", [NOISY, sv.StandardGossip()], ids=["noise", "plain"])
@pytest.mark.parametrize("num_nodes", [6, 100, 500])
def test_an_ensemble_records_and_stops_where_the_cpu_does(method, num_nodes):
    """Every replica at its own step; errors and masses recorded on the way, nothing after it."""
    graph = sv.graphs.cycle(num_nodes) if num_nodes == 6 else sv.graphs.random_geometric(num_nodes, seed=1)
    c = np.random.default_rng(0).random(num_nodes)
    here, there = (
        sv.simulate(graph, c, method, num_steps=200_000, seed=3, replicas=50, stop_at=1e-4, record=300, device=device)
        for device in ("cpu", "gpu")
    )
    assert here.status == there.status == "stopped at error"
    np.testing.assert_array_equal(here.steps_done, there.steps_done)
    np.testing.assert_array_equal(here.values, there.values)
    np.testing.assert_array_equal(here.steps, there.steps)
    np.testing.assert_allclose(here.relative_error, there.relative_error, rtol=1e-12)
    np.testing.assert_allclose(here.mass_error, there.mass_error, atol=1e-11)


@needs_gpu
def test_what_is_near_enough_from_the_start_does_not_move():
    """A wanted error above the first one stops every replica at step 0, on both devices."""
    graph, c = sv.graphs.cycle(10), np.random.default_rng(0).random(10)
    runs = [
        sv.simulate(graph, c, NOISY, num_steps=100, seed=3, replicas=5, stop_at=2.0, device=device)
        for device in ("cpu", "gpu")
    ]
    assert [run.num_steps for run in runs] == [0, 0]
    np.testing.assert_array_equal(runs[0].steps, runs[1].steps)
    np.testing.assert_allclose(runs[0].relative_error, runs[1].relative_error)


@needs_gpu
def test_records_of_many_launches_are_those_of_one(monkeypatch):
    """Short launches, few rows each: the same errors, at every step."""
    from sottovoce.simulation.gpu import ensemble

    graph, c = sv.graphs.random_geometric(30, seed=1), np.random.default_rng(0).random(30)
    runs = []
    for limit in (2**33, 7 * 40):
        monkeypatch.setattr(ensemble, "LAUNCH", limit)
        monkeypatch.setattr(ensemble, "ROWS", limit // 2)
        runs.append(sv.simulate(graph, c, NOISY, num_steps=500, seed=3, replicas=40, record=500, device="gpu"))
    assert runs[0].steps.tolist() == list(range(501))
    np.testing.assert_array_equal(runs[0].relative_error, runs[1].relative_error)
    np.testing.assert_array_equal(runs[0].values, runs[1].values)


@needs_gpu
def test_edge_noise_is_each_replicas_own():
    """Sealed gossip starts every replica elsewhere; the device starts where the CPU does."""
    graph, c = sv.graphs.random_geometric(30, seed=1), np.random.default_rng(0).random(30)
    method = sv.SealedGossip(seal_std=3.0, noise_std=1.0, noise_decay=0.9)
    for replicas in (1, 8):
        here, there = (
            sv.simulate(graph, c, method, num_steps=700, seed=3, replicas=replicas, device=device)
            for device in ("cpu", "gpu")
        )
        np.testing.assert_array_equal(here.values, there.values)
        np.testing.assert_allclose(here.relative_error, there.relative_error, rtol=1e-12)


@needs_gpu
def test_one_huge_run_stops_at_the_first_look():
    """Looks are n/2 steps apart whatever is recorded; the run stops at the first that is small enough."""
    graph, c = sv.graphs.random_geometric(300, seed=2), np.random.default_rng(0).random(300)
    every = sv.simulate(graph, c, NOISY, num_steps=60_000, seed=5, record=np.arange(0, 60_001, 150))
    first = int(every.steps[np.argmax(every.relative_error <= 1e-3)])
    for record in (3, 700):
        run = sv.simulate(graph, c, NOISY, num_steps=60_000, seed=5, stop_at=1e-3, record=record, device="gpu")
        assert (run.num_steps, run.status) == (first, "stopped at error")
        assert run.steps[-1] == first
        assert run.relative_error[-1] <= 1e-3


@needs_gpu
def test_vectors_that_should_stop_are_refused():
    """Each coordinate is a thread of its own: none knows the error of the whole."""
    with pytest.raises(errors.Unsupported, match="takes one number per node, not vectors"):
        sv.simulate(sv.graphs.cycle(5), np.ones((5, 2)), NOISY, num_steps=5, replicas=2, stop_at=0.1, device="gpu")
