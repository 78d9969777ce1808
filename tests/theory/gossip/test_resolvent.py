"""The resolvent bound: it holds, it encloses the true rate, and the sparse way is never bolder than the dense one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.graphs.chances import Chances
from sottovoce.theory.gossip import resolvent as room
from sottovoce.theory.gossip.edge_transitive import symmetric_error
from sottovoce.theory.gossip.resolvent import proved_free_decay, rate_bounds, resolvent, resolvent_bound

from ...graphs.strategies import connected_graphs


def random_case(graph: sv.Graph, seed: int) -> tuple[np.ndarray | None, sv.NoiseInsertion, np.ndarray]:
    """Edge probabilities (or none), σ_i and φ_i of which some are zero, and two columns of values (or equal ones)."""
    rng = np.random.default_rng(seed)
    n = graph.num_nodes
    chances = rng.dirichlet(np.ones(graph.num_edges)) if seed % 2 else None
    std, decay = rng.random((2, n)) * (rng.random((2, n)) > 0.3)
    return chances, sv.NoiseInsertion(std, decay), rng.normal(size=(n, 2)) * rng.integers(0, 2)


@pytest.mark.parametrize("dense", [1500, 0], ids=["eigenvectors", "moments"])
@given(graph=connected_graphs(max_nodes=10), seed=st.integers(0, 2**32 - 1))
def test_it_bounds_the_exact_expectation(dense: int, graph: sv.Graph, seed: int) -> None:
    """By both ways, near and far, on graphs with any weights and noise."""
    chances, method, values = random_case(graph, seed)
    at = np.array([0, 1, 2, 5, 20, 100, 500])
    exact = sv.theory.expected_error(graph, values, method, at=at, edge_probabilities=chances, algorithm="steps")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "_DENSE", dense)
        bound = resolvent_bound(graph, values, method, at=at, edge_probabilities=chances)
    assert (exact <= bound * (1 + 1e-9) + 1e-200).all()


@given(connected_graphs(max_nodes=12), st.integers(0, 2**32 - 1))
def test_it_encloses_the_true_rate(graph: sv.Graph, seed: int) -> None:
    """ρ² ≤ lower ≤ rate ≤ upper ≤ ρ, and what the moments show is at most what the eigenvectors show."""
    probabilities, _, _ = random_case(graph, seed)
    chances = Chances(graph, probabilities)
    rate = sv.theory.second_moment_rate(graph, edge_probabilities=probabilities)
    low, high = rate_bounds(graph, edge_probabilities=probabilities)
    rho = 1 - chances.contraction_gap
    assert rho**2 - 1e-12 <= low <= rate + 1e-9
    assert rate - 1e-9 <= high <= rho + 1e-8
    assert resolvent(chances, dense=False).gap <= resolvent(chances, dense=True).gap * (1 + 1e-8)


@given(connected_graphs(max_nodes=12), st.integers(0, 2**32 - 1))
def test_moments_bound_every_edge(graph: sv.Graph, seed: int) -> None:
    """At the s of the moments no b_eᵀZb_e, computed from the matrix, exceeds its bound; nor does cᵀZc."""
    probabilities, _, _ = random_case(graph, seed)
    chances = Chances(graph, probabilities)
    found = resolvent(chances, dense=False)
    levels, vectors = np.linalg.eigh(chances.laplacian.toarray())
    matrix = vectors[:, 1:] * (levels[1:] / (levels[1:] - found.gap)) @ vectors[:, 1:].T
    rows = sv.theory.incidence(graph).toarray()
    assert (np.einsum("ei,ij,ej->e", rows, matrix, rows) <= found.edges * (1 + 1e-7)).all()
    values = np.random.default_rng(seed).normal(size=(graph.num_nodes, 1))
    values -= values.mean()
    assert float(values[:, 0] @ matrix @ values[:, 0]) <= found.start(values) * (1 + 1e-7)


@pytest.mark.parametrize(
    ("graph", "ratio"), [(sv.graphs.cycle(10), 1.0), (sv.graphs.random_geometric(100, seed=1), 0.993)], ids=repr
)
def test_how_close_it_comes(graph: sv.Graph, ratio: float) -> None:
    """Proved gap over true gap: exact on edge-transitive graphs, 0.993 on RGG(100), where ρ has one half."""
    true = 1 - sv.theory.second_moment_rate(graph)
    assert resolvent(Chances(graph)).gap / true == pytest.approx(ratio, abs=5e-4)
    assert Chances(graph).contraction_gap / true < 0.53


def test_free_decays_are_free() -> None:
    """Just below the first the real rate is gossip's; just above the second it is the noise's."""
    graph = sv.graphs.random_geometric(30, seed=2)
    real, proved = proved_free_decay(graph)
    assert (real <= proved).all()
    below = sv.NoiseInsertion(1.0, np.maximum(real - 1e-6, 0.0))
    above = sv.NoiseInsertion(1.0, proved + 1e-6)
    assert sv.theory.asymptotic_rate(graph, below).regime == "gossip"
    assert sv.theory.asymptotic_rate(graph, above).regime == "noise"


def test_a_large_torus() -> None:
    """10⁴ nodes by moments: above the exact error everywhere and below the sharpened bound by orders of magnitude."""
    graph = sv.graphs.torus(100, 100)
    values, method = np.random.default_rng(3).random(10**4), sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)
    at = np.array([1, 1000, 10**6, 2 * 10**8])
    exact = symmetric_error(graph, values, method, at=at)
    bound = resolvent_bound(graph, values, method, at=at)
    assert (exact <= bound).all()
    assert bound[-1] < 1e-6 * sv.theory.error_bound(graph, values, method, at=at, form="sharpened")[-1]
    assert resolvent(Chances(graph)).certified


def test_pieces_and_weak_links() -> None:
    """Edges that leave the graph in pieces prove no contraction; a link of 10⁻¹² keeps its digits."""
    pieces = resolvent(Chances(sv.graphs.cycle(6), [0.25, 0.25, 0.0, 0.25, 0.25, 0.0]))
    assert (pieces.gap, pieces.start(np.arange(6.0) - 2.5)) == (0.0, 17.5)
    barbell = sv.graphs.barbell(4)
    weights = np.where((barbell.edges == (3, 4)).all(axis=1), 1e-12, 1.0)
    chances = Chances(barbell, weights / weights.sum())
    assert 0.5 * chances.alpha < resolvent(chances).gap < chances.alpha


def test_every_step_and_chosen_steps_agree() -> None:
    """All k = 0..3000 at once equal the closed form at chosen k."""
    graph, rng = sv.graphs.random_geometric(50, seed=1), np.random.default_rng(2)
    method, values = sv.NoiseInsertion(rng.random(50), rng.random(50)), rng.random(50)
    at = [0, 1, 63, 64, 3000]
    every = resolvent_bound(graph, values, method, 3000)
    np.testing.assert_allclose(every[at], resolvent_bound(graph, values, method, at=at), rtol=1e-11)
