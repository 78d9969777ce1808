"""Circulant graphs without a list of edges: the bits of the graph with one."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.graphs.circulant import Circulant
from sottovoce.simulation import team

RING = Circulant.random(999, 6, seed=1)
VALUES = np.random.default_rng(0).random(999)
NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)


@pytest.mark.parametrize("method", [sv.StandardGossip(), NOISY], ids=lambda method: method.name)
def test_computed_edges_give_the_bits_of_stored_ones(method):
    """Values, errors, firing edges and activations are those of ``to_graph()``."""
    runs = [sv.simulate(g, VALUES, method, num_steps=5000, seed=2, replicas=2) for g in (RING, RING.to_graph())]
    np.testing.assert_array_equal(runs[0].values, runs[1].values)
    np.testing.assert_array_equal(runs[0].squared_error, runs[1].squared_error)
    np.testing.assert_array_equal(runs[0].fired_edges(replica=1), runs[1].fired_edges(replica=1))
    np.testing.assert_array_equal(runs[0].activations, runs[1].activations)


def test_vectors_find_the_same_edges():
    """Coordinates side by side, likewise."""
    values = np.outer(VALUES, np.arange(1, 41))
    runs = [sv.simulate(g, values, sv.StandardGossip(), num_steps=999, seed=2) for g in (RING, RING.to_graph())]
    np.testing.assert_array_equal(runs[0].values, runs[1].values)


def test_a_team_computes_edges_too(monkeypatch):
    """Several threads on one run find the same edges."""
    monkeypatch.setattr(team, "LEAST_NODES", 2)
    monkeypatch.setattr(team, "LEAST_STEPS", 1)
    runs = [sv.simulate(RING, VALUES, NOISY, num_steps=9000, seed=2, threads=threads) for threads in (1, 2)]
    np.testing.assert_array_equal(runs[0].tables, runs[1].tables)


def test_every_edge_has_the_ends_of_the_stored_graph():
    """Edge by edge, the wrapped ones included."""
    np.testing.assert_array_equal(RING.ends(np.arange(RING.num_edges)), RING.to_graph().edges)


def test_a_run_is_saved_with_its_offsets(tmp_path):
    """It is loaded as what it was and goes on as if it had never stopped."""
    run = sv.simulate(RING, VALUES, NOISY, num_steps=100, seed=2)
    run.save(tmp_path / "run.npz")
    loaded = sv.Solution.load(tmp_path / "run.npz")
    assert loaded.graph == RING
    np.testing.assert_array_equal(loaded.resume(100).values, run.resume(100).values)


@pytest.mark.parametrize(
    ("method", "more"),
    [
        (sv.SealedGossip(seal_std=1.0), {}),
        (sv.BinaryOracle(step_size="adaptive"), {}),
        (sv.SynchronousAveraging(), {}),
        (sv.HeavyBallGossip(momentum=0.3), {}),
        (NOISY, {"edge_probabilities": np.full(RING.num_edges, 1.0 / RING.num_edges)}),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_what_needs_a_list_of_edges_is_refused(method, more):
    """With one sentence that says what to do."""
    with pytest.raises(sv.errors.Unsupported, match=r"has no list of edges.*to_graph\(\)"):
        sv.simulate(RING, VALUES, method, num_steps=10, seed=1, **more)


def test_too_many_edges_are_refused():
    """The choice of an edge is exact for fewer than 2³² of them."""
    from sottovoce.simulation import engine

    with pytest.raises(sv.errors.InvalidGraph, match=r"fewer than 2\^32 edges"):
        engine._check_circulant(Circulant.random(10**9, 32, seed=1), NOISY, one_by_one=True)
