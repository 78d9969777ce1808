from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods.push_sum import WEIGHT

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """s ← K s, w ← K w with half of each column on the diagonal and half at the target; x = s/w."""
    s, w = replay.values, np.ones(replay.graph.num_nodes)
    yield s / w
    for step in replay.steps():
        K = 0.5 * np.eye(len(w))
        for i, target in enumerate(replay.targets(step)):
            K[target, i] += 0.5
        s, w = K @ s, K @ w
        yield s / w


def test_equation():
    """Compiled runs follow the equation."""
    assert_equation(sv.PushSum(), equation)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("including_self", [True, False])
def test_push_sum_factor(n, including_self):
    """Enumerating all targets of one round, E Φ⁺ is the factor times Φ, exactly: ½ − 1/(4n) with self.

    Φ = Σ_ij (v_ij − w_i/n)². The lemma as published has ½ − 1/(2n).
    """
    share = np.random.default_rng(7).random((n, n))
    share /= share.sum(axis=0)

    def potential(v):
        return float(np.sum((v - v.sum(axis=1, keepdims=True) / n) ** 2))

    after = []
    for targets in product(range(n), repeat=n):
        if not including_self and any(source == target for source, target in enumerate(targets)):
            continue
        kept = 0.5 * share
        for source, target in enumerate(targets):
            kept[target] += 0.5 * share[source]
        after.append(potential(kept))
    factor = sv.theory.push_sum_factor(n, including_self=including_self)
    assert np.mean(after) == pytest.approx(factor * potential(share), abs=1e-15)


def test_guarantee_is_for_complete_graphs():
    """Elsewhere the limit is exact and no rate is known."""
    assert sv.PushSum().guarantee(sv.graphs.complete(5)).factor == pytest.approx(0.45)
    assert sv.PushSum().guarantee(GRAPH) == sv.methods.Guarantee(None, 0.0)


@pytest.mark.parametrize("graph", [GRAPH, sv.graphs.star(9), sv.graphs.path(6)], ids=lambda g: g.name)
def test_estimates_converge_although_weights_do_not(graph):
    """s/w → c̄ on irregular graphs too, Σ w = n stays, and w itself does not become 1."""
    values = np.random.default_rng(2).random(graph.num_nodes)
    run = sv.simulate(graph, values, sv.PushSum(), num_steps=800, seed=3, replicas=5)
    np.testing.assert_allclose(run.values, values.mean(), atol=1e-9)
    weights = run.tables[:, 0, :, WEIGHT]
    np.testing.assert_allclose(weights.sum(axis=1), graph.num_nodes, rtol=1e-13)
    assert np.abs(weights - 1).max() > 0.1


def test_mass_is_counted_in_sums_not_in_estimates():
    """The sum of the estimates changes while the conserved mass stays."""
    run = sv.simulate(GRAPH, VALUES, sv.PushSum(), num_steps=2, seed=3)
    assert abs(run.mean_offset) > 1e-3
    assert run.mass_error.max() < 1e-14
