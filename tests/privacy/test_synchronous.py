"""Privacy of synchronous and differentially private methods: formulas of the literature and exact inference."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.privacy import CuriousNodes, audit_rounds
from sottovoce.privacy import synchronous as sync

FIVE = np.array([[2, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 0, 1], [0, 0, 0, 3, 1], [1, 0, 1, 1, 1]]) / 4
GRAPH = sv.Graph.from_edges([(0, 1), (0, 4), (1, 2), (2, 4), (3, 4)])


def test_each_formula_exists_once() -> None:
    """What is found here and in the theory is the function beside the method, with the method's parameter names."""
    for name in ("cancelling_mu", "huang_epsilon", "mo_murray_disclosure", "nozari_epsilon"):
        assert getattr(sync, name) is getattr(sv.theory, name)
        assert getattr(sync, name).__module__.startswith("sottovoce.methods.")
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
