"""Edge-transitive graphs: closed forms against the second moments of any graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import Unsupported
from sottovoce.theory.gossip.edge_transitive import edge_transitive, symmetric_error, symmetric_rate

SYMMETRIC = st.one_of(
    st.builds(sv.graphs.cycle, st.integers(3, 14)),
    st.builds(sv.graphs.complete, st.integers(2, 8)),
    st.builds(sv.graphs.star, st.integers(2, 9)),
    st.builds(lambda side: sv.graphs.torus(side, side), st.integers(3, 4)),
    st.builds(sv.graphs.hypercube, st.integers(1, 4)),
    st.builds(
        lambda a, b: sv.Graph.from_networkx(nx.complete_bipartite_graph(a, b)), st.integers(1, 5), st.integers(2, 5)
    ),
)


@given(SYMMETRIC, st.integers(0, 2**32 - 1))
def test_the_spectrum_is_that_of_the_matrix(graph: sv.Graph, seed: int) -> None:
    """Eigenvalues with multiplicity, and the energy of two columns of values in every eigenspace."""
    values = np.random.default_rng(seed).normal(size=(graph.num_nodes, 2))
    found = edge_transitive(graph, values)
    levels, vectors = np.linalg.eigh(sv.graphs.laplacian(graph).toarray() / graph.num_edges)
    repeated = np.repeat(found.eigenvalues, found.multiplicities.astype(int))
    np.testing.assert_allclose(repeated, levels[1:], atol=1e-12)
    energy = ((vectors.T @ values) ** 2).sum(axis=1)
    for level in np.unique(found.eigenvalues.round(9)):
        here, there = np.abs(found.eigenvalues - level) < 1e-8, np.abs(levels - level) < 1e-8
        assert found.energies[here].sum() == pytest.approx(energy[there].sum(), abs=1e-10)


@given(SYMMETRIC, st.integers(0, 2**32 - 1))
def test_the_error_equals_the_second_moments(graph: sv.Graph, seed: int) -> None:
    """With σ_i and φ_i that differ and may be zero, step by step and far ahead."""
    rng = np.random.default_rng(seed)
    n = graph.num_nodes
    std, decay = rng.random((2, n)) * (rng.random((2, n)) > 0.3)
    method, values = sv.NoiseInsertion(std, decay), rng.normal(size=(n, 2))
    at = np.array([300, 0, 1, 2, 17, 64, 65, 128, 200])
    exact = sv.theory.expected_error(graph, values, method, at=at, algorithm="steps")
    np.testing.assert_allclose(symmetric_error(graph, values, method, at=at), exact, rtol=1e-9, atol=1e-200)


@given(SYMMETRIC)
def test_the_rate_is_the_largest_eigenvalue_of_the_second_moments(graph: sv.Graph) -> None:
    """The root of the secular equation against the Lanczos process."""
    assert symmetric_rate(graph) == pytest.approx(sv.theory.second_moment_rate(graph), abs=1e-12)


def test_a_million_nodes() -> None:
    """C₁₀⁶: the gap lies between α_p/2 and α_p, and the error falls by exactly that rate once it has settled."""
    ring = sv.graphs.cycle(10**6)
    alpha = sv.algebraic_connectivity(ring) / ring.num_edges
    gap = edge_transitive(ring).gap
    assert alpha / 2 < gap <= alpha
    values = np.random.default_rng(1).random(10**6)
    near, far = symmetric_error(ring, values, sv.StandardGossip(), at=[int(40 / gap), int(60 / gap)])
    assert np.log(near / far) == pytest.approx((int(60 / gap) - int(40 / gap)) * gap, rel=1e-9)


def test_bounds_hold_on_a_large_torus() -> None:
    """10⁴ nodes, beyond the second moments of any graph: exact ≤ sharpened ≤ corrected over eight decades of k."""
    graph = sv.graphs.torus(100, 100)
    values, method = np.random.default_rng(2).random(10**4), sv.NoiseInsertion.largest_free(graph, noise_std=1.0)
    at = np.unique(np.geomspace(1, 1e8, 40).astype(np.int64))
    exact = symmetric_error(graph, values, method, at=at)
    for form in ("sharpened", "corrected"):
        bound = sv.theory.error_bound(graph, values, method, at=at, form=form)  # type: ignore[arg-type]
        assert (exact <= bound * (1 + 1e-9)).all()


@pytest.mark.parametrize("graph", [sv.graphs.path(4), sv.graphs.torus(3, 4), sv.graphs.grid(3, 3)], ids=repr)
def test_other_graphs_are_refused(graph: sv.Graph) -> None:
    """A torus with unequal sides has two kinds of edges."""
    with pytest.raises(Unsupported, match="square torus"):
        symmetric_rate(graph)
