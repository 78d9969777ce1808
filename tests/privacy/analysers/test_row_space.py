"""The row-space attack on noise-free gossip."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import Unsupported
from sottovoce.privacy import CuriousNodes, WireTap, audit, reconstruct, recoverable

from ...agreement.exact_gaussian import Transcript


@given(seed=st.integers(0, 10_000), nodes=st.integers(2, 6), count=st.integers(0, 12))
def test_row_space_is_exact(seed: int, nodes: int, count: int) -> None:
    """Arithmetic modulo primes decides as rational arithmetic does."""
    rng = np.random.default_rng(seed)
    graph = sv.graphs.cycle(nodes) if nodes > 2 else sv.graphs.complete(2)
    edges = rng.integers(0, graph.num_edges, count)
    exchanges = [tuple(graph.edges[e].tolist()) for e in edges]
    zero = [Fraction(0)] * nodes
    exact = np.array(Transcript(nodes, exchanges, zero, zero, {0}).flat_std()) if count else np.full(nodes - 1, np.inf)
    assert recoverable(graph, edges, CuriousNodes([0]))[1:].tolist() == (exact == 0).tolist()


def test_row_space_agrees_with_the_audit_of_standard_gossip() -> None:
    """A value that the flat-prior audit reports as disclosed is in the row space."""
    graph = sv.graphs.random_geometric(30, seed=4)
    edges = np.random.default_rng(8).integers(0, graph.num_edges, 900)
    view = CuriousNodes([0, 7, 15])
    report = audit(graph, sv.StandardGossip(), edges, view, None)
    exact = recoverable(graph, edges, view)
    assert exact.sum() > 8
    assert (exact[report.posterior_std == 0]).all()
    # The audit takes weights below its rank tolerance for none, so it may find fewer.
    assert (report.posterior_std == 0).sum() >= exact.sum() - 5


def test_a_hundred_nodes() -> None:
    """At n = 100 the recovered values are the private values, and what is not recoverable is not claimed."""
    graph = sv.graphs.random_geometric(100, seed=1)
    values = np.random.default_rng(0).normal(size=100)
    run = sv.simulate(graph, values, sv.StandardGossip(), num_steps=3_000, seed=3)
    result = reconstruct(run, CuriousNodes(range(0, 100, 10)))
    found = np.isfinite(result.estimate)
    assert found.sum() > 30
    assert not found[~result.recoverable].any()
    assert np.abs(result.estimate - values)[found] == pytest.approx(0, abs=1e-6)
    assert (result.amplification[found] < 1e9).all()


def test_vectors_and_taps() -> None:
    """Vector data are recovered coordinate by coordinate; a tap on the first exchange gives both ends away."""
    graph = sv.graphs.path(3)
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    run = sv.simulate(graph, values, sv.StandardGossip(), num_steps=1, seed=2)
    assert run.fired_edges().tolist() == [0]
    result = reconstruct(run, WireTap([0]))
    assert np.array_equal(result.estimate[:2], values[:2])
    assert np.isnan(result.estimate[2]).all()
    assert "2 of 3" in repr(result)


def test_noise_is_refused() -> None:
    """Under noise the row-space attack is the wrong one, and says which is right."""
    run = sv.simulate(
        sv.graphs.path(3), np.zeros(3), sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5), num_steps=3, seed=1
    )
    with pytest.raises(Unsupported, match="use attack"):
        reconstruct(run, CuriousNodes([0]))


def test_noise_of_size_zero_is_no_noise() -> None:
    """What counts is what the method states, not its name: σ = 0 is reconstructed like standard gossip."""
    silent = sv.NoiseInsertion(noise_std=0.0, noise_decay=0.5)
    runs = [
        sv.simulate(sv.graphs.path(3), [1.0, 5.0, 3.0], m, num_steps=20, seed=2) for m in (silent, sv.StandardGossip())
    ]
    found, expected = (reconstruct(run, CuriousNodes([0])).estimate for run in runs)
    assert np.array_equal(found, expected)
