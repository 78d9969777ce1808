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
