"""Privacy of synchronous and differentially private methods: published numbers and independent ways to them."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, NumericalFailure
from sottovoce.privacy import CuriousNodes, audit_rounds
from sottovoce.privacy import synchronous as sync

FIVE = np.array([[2, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 0, 1], [0, 0, 0, 3, 1], [1, 0, 1, 1, 1]]) / 4
GRAPH = sv.Graph.from_edges([(0, 1), (0, 4), (1, 2), (2, 4), (3, 4)])


def test_each_formula_exists_once() -> None:
    """What is found here is the theory's own function, with the parameter names of the methods."""
    for name in ("cancelling_mu", "huang_epsilon", "mo_murray_disclosure", "nozari_epsilon"):
        assert getattr(sync, name) is getattr(sv.theory, name)
    for function, method in (
        (sync.nozari_epsilon, sv.Nozari),
        (sync.huang_epsilon, sv.Huang),
        (sync.cancelling_mu, sv.PairwiseCancelling),
        (sync.mo_murray_disclosure, sv.MoMurray),
    ):
        asked = {name for name in inspect.signature(function).parameters if name.startswith(("noise", "pair", "own"))}
        assert asked <= set(inspect.signature(method).parameters)


@pytest.mark.parametrize(("decay", "rounds"), [(0.5, 60), (0.9, 250)])
def test_recursion_equals_exact_inference(decay: float, rounds: int) -> None:
    """The Riccati limit and the filter run round by round agree, and σ scales both."""
    covariance = sync.mo_murray_disclosure(FIVE, 4, decay, noise_std=2.0)
    method = sv.MoMurray(noise_std=2.0, noise_decay=decay, weights=FIVE)
    history = audit_rounds(GRAPH, method, CuriousNodes([4]), None, num_rounds=rounds).history
    assert history[-1] ** 2 == pytest.approx(np.diag(covariance), abs=1e-9)
    assert np.isinf(history[0, :4]).all()


def test_a_recursion_that_does_not_settle_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is then an error, not the last iterate."""
    monkeypatch.setattr("sottovoce.theory.hiding.MOST_ROUNDS", 3)
    with pytest.raises(NumericalFailure, match="did not settle to 1e-13"):
        sync.mo_murray_disclosure(FIVE, 4, 0.9)


def test_laplace_methods() -> None:
    """ε of Nozari et al. and Huang et al.: formula values, the best choice, one draw, the least protected, refusals."""
    assert sync.nozari_epsilon(2.0, 0.3) == sync.nozari_epsilon(2.0, 0.0) == pytest.approx(0.5)
    assert sync.nozari_epsilon(1.0, 0.8, 0.6) == pytest.approx(2.0)
    assert sync.nozari_epsilon([1.0, 4.0], 0.8, [0.6, 1.0]) == pytest.approx(2.0)
    assert sync.nozari_epsilon(0.0, 0.5) == np.inf
    assert sync.huang_epsilon(1.0, 0.8, 0.6) == pytest.approx(2.0)
    for function in (sync.nozari_epsilon, sync.huang_epsilon):
        with pytest.raises(InvalidParameter, match=r"noise_decay must be in .* = \(0.4, 1\), got 0.3"):
            function(1.0, 0.3, 0.6)
        with pytest.raises(InvalidParameter, match="noise_scale"):
            function(-1.0, 0.9, 0.6)
        with pytest.raises(InvalidParameter, match="sensitivity"):
            function(1.0, 0.9, 0.6, sensitivity=-1.0)


def test_laplace_epsilon_bounds_the_likelihood_ratio() -> None:
    """For Nozari's method ε is the largest log-likelihood ratio of two neighbouring values, summed over rounds."""
    b, q, s, shift = 1.5, 0.8, 0.7, 0.4
    # Two runs with the same messages: the shift of x decays by (1 − s)… per round, and η must make up for it.
    gaps = np.array([shift * abs(1 - s) ** k for k in range(400)])
    total = np.sum(gaps / (b * q ** np.arange(400)))
    assert sync.nozari_epsilon(b, q, s, sensitivity=shift) == pytest.approx(total, rel=1e-9)


def test_pairwise_cancelling() -> None:
    """On a complete honest graph large pair noise leaves what the own noises leave of the sum: μ → Δ/(s_η√n)."""
    graph = sv.graphs.complete(10)
    mu = sync.cancelling_mu(graph, 1e4, 1.0)
    assert mu == pytest.approx(1 / np.sqrt(10), rel=1e-4)
    assert np.isinf(sync.cancelling_mu(graph, 1.0)).all()


def test_pairwise_cancelling_needs_an_honest_neighbour() -> None:
    """A node whose neighbours are all curious is protected by its own noise alone."""
    mu = sync.cancelling_mu(sv.graphs.path(4), 100.0, 2.0, curious=[1])
    assert mu[0] == pytest.approx(0.5)
    assert mu[1] == 0.0
    assert (mu[2:] < 0.5).all()


def test_one_draw_then_averaging() -> None:
    """On the path of three, two rounds give node 0 all of node 2's noisy value; summing messages would say a third."""
    laplacian = np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]])
    W = np.eye(3) - laplacian / 3
    exact = sync.one_draw_information(W, 0, noise_std=1.0, num_rounds=2)
    assert exact[1:] == pytest.approx([1.0, 1.0])
    row = W[1]
    assert row[2] ** 2 / (row @ row) == pytest.approx(1 / 3)
    assert sync.one_draw_information(W, 0, noise_std=2.0, num_rounds=1)[1:] == pytest.approx([0.25, 0.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: sync.mo_murray_disclosure(np.eye(3) * 2, 0, 0.9),
        lambda: sync.mo_murray_disclosure(FIVE, 0, 1.0),
        lambda: sync.mo_murray_disclosure(FIVE, 7, 0.9),
        lambda: sync.mo_murray_disclosure(np.ones((2, 3)), 0, 0.9),
        lambda: sync.cancelling_mu(sv.graphs.path(3), -1.0, 1.0),
        lambda: sync.cancelling_mu(sv.graphs.path(3), 1.0, 1.0, curious=[3]),
        lambda: sync.one_draw_information(FIVE, 7, noise_std=1.0, num_rounds=1),
        lambda: sync.one_draw_information(FIVE, 0, noise_std=0.0, num_rounds=1),
    ],
)
def test_bad_input_is_refused(call: object) -> None:
    """Matrices that are not doubly stochastic and parameters outside their range are refused."""
    with pytest.raises(InvalidParameter):
        call()  # type: ignore[operator]
