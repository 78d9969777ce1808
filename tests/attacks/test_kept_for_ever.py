"""Promise: what a report says stays hidden for ever does, whatever fires later, and sealed edges keep their theorem.

The attempts are long runs after any beginning, hostile schedules that drain the noise, and coalitions.
"""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.privacy import CuriousNodes, audit, sealed_std

METHODS = [
    sv.NoiseInsertion(noise_std=1.0, noise_decay=0.7),
    sv.NoiseInsertion(noise_std=1.0, noise_decay=0.0),
    sv.BudgetedNoiseInsertion.with_draws(2, hidden_std=0.3, noise_decay=0.6),
    sv.SealedGossip(seal_std=0.8, noise_std=0.5, noise_decay=0.6),
    sv.SealedGossip(seal_std=2.0),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.label())
@pytest.mark.parametrize("seed", range(4))
def test_no_later_exchange_takes_it_away(method, seed):
    """What was promised after a short beginning holds after 150 more exchanges, half of them with the observer."""
    rng = np.random.default_rng(seed)
    graph = [sv.graphs.cycle(5), sv.graphs.complete(4), sv.graphs.star(5), sv.graphs.path(5)][seed]
    view = CuriousNodes([int(rng.integers(graph.num_nodes))])
    begun = rng.integers(0, graph.num_edges, 6)
    own = np.flatnonzero(view.heard_edges(graph))
    later = np.where(rng.random(150) < 0.5, rng.choice(own, 150), rng.integers(0, graph.num_edges, 150))
    promised = audit(graph, method, begun, view).kept_std
    left = audit(graph, method, np.concatenate([begun, later]), view, steps=[156]).posterior_std
    assert (left >= promised * (1 - 1e-7)).all()


def test_everybody_but_two_attains_it():
    """All others together end at what the first unheard meeting left: the statement cannot be sharper."""
    graph, rng = sv.graphs.complete(5), np.random.default_rng(1)
    method, view = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.6), CuriousNodes([2, 3, 4])
    report = audit(graph, method, rng.integers(0, 10, 400), view)
    assert report.posterior_std[:2] == pytest.approx(report.kept_std[:2], rel=1e-6)


@pytest.mark.parametrize("graph", [sv.graphs.complete(4), sv.graphs.complete(6)], ids=["K4", "K6"])
def test_seals_are_attained_by_whoever_hears_everyone_first(graph):
    """Without noise, the observer that calls everybody before they meet knows c + Bm, and never more."""
    method, view = sv.SealedGossip(seal_std=0.8), CuriousNodes([0])
    own = np.flatnonzero(view.heard_edges(graph))
    later = np.random.default_rng(0).integers(0, graph.num_edges, 200)
    report = audit(graph, method, np.concatenate([own, later]), view)
    least = sealed_std(graph.edges, graph.num_nodes, [0], seal_std=0.8, prior_std=1.0)
    assert report.posterior_std == pytest.approx(least, rel=1e-7)
    assert report.kept_std == pytest.approx(least, rel=1e-7)


def test_sealed_attacks_have_the_error_that_the_audit_says():
    """χ² of the best unbiased estimates in 120 sealed runs with different schedules and seals."""
    graph, values = sv.graphs.cycle(5), np.random.default_rng(5).normal(size=5)
    method = sv.SealedGossip(seal_std=1.0, noise_std=0.5, noise_decay=0.7)
    run = sv.simulate(graph, values, method, num_steps=30, seed=9, replicas=120)
    found = sv.privacy.attack(run, CuriousNodes([0]), prior_std=None)
    scores = found.standard_score[np.isfinite(found.std) & (found.std > 0)]
    assert len(scores) > 100
    assert abs(float((scores**2).mean()) - 1.0) < 0.4
