from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.privacy.schedules import exposure_quantile, quantile_interval

NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8)
TRIANGLE = sv.graphs.complete(3)


@pytest.mark.parametrize("seed", range(6))
def test_small_graphs_go_through_all_schedules(seed):
    """Random graphs, chances, σ and φ per node (zero too): mean and quantiles are those of the full list of audits."""
    rng = np.random.default_rng(seed)
    graph = [sv.graphs.path(3), TRIANGLE, sv.graphs.star(4), sv.graphs.cycle(4)][seed % 4]
    n, m, steps = graph.num_nodes, graph.num_edges, 3
    chances = rng.dirichlet(np.ones(m))
    method = sv.NoiseInsertion(noise_std=rng.choice([0.0, 0.5, 2.0], n), noise_decay=rng.choice([0.0, 0.5, 0.9], n))
    size = 1 + seed % 2
    found = exposure_quantile(
        graph, method, num_steps=steps, size=size, probability=0.8, prior_std=2.0, edge_probabilities=chances
    )
    assert found.exact
    left, weights = [], []
    for fired in itertools.product(range(m), repeat=steps):
        least = math.inf
        for node in range(n):
            near = graph.neighbours_of(node).tolist()
            for members in itertools.combinations(near, min(size, len(near))):
                report = sv.privacy.audit(graph, method, list(fired), sv.privacy.CuriousNodes(members), 2.0)
                least = min(least, report.posterior_std[node])
        left.append(least)
        weights.append(math.prod(chances[list(fired)]))
    left, weights = np.array(left), np.array(weights)
    assert found.mean == pytest.approx(weights @ left, rel=1e-9, abs=1e-12)
    assert weights[left >= found.std * (1 - 1e-9)].sum() >= 0.8 - 1e-9
    more = left[left > found.std * (1 + 1e-9) + 1e-12]
    assert more.size == 0 or weights[left >= more.min()].sum() < 0.8 + 1e-9
    assert found.kept(found.std * (1 - 1e-9))[0] >= 0.8 - 1e-9


def test_two_nodes_have_no_luck():
    """On K₂ every schedule is the same: the closed form, whatever the probability."""
    found = exposure_quantile(sv.graphs.complete(2), NOISY, num_steps=5, prior_std=3.0)
    expected = (1 / 9 + sum(0.8 ** (-2 * t) for t in range(5))) ** -0.5
    assert found.exact
    assert found.std == found.mean == pytest.approx(expected)


def test_the_triangle_of_the_threat_model():
    """Prior ± 10, node 0 curious: over random schedules the more exposed node is left with ± 0.99 in the median and
    ± 0.36 in nine of ten runs, where the schedule that is kind leaves ± 7.07.
    """
    options = {"num_steps": 60, "coalitions": [[0]], "nodes": [1, 2], "prior_std": 10.0, "schedules": 300, "seed": 1}
    found = exposure_quantile(TRIANGLE, NOISY, probability=0.5, **options)
    more_often = replace(found, probability=0.9)  # of the same schedules
    assert not found.exact
    assert found.std == pytest.approx(0.99, abs=0.01)
    assert more_often.std == pytest.approx(0.36, abs=0.02)
    assert found.left.max() == pytest.approx(10 / math.sqrt(2), rel=1e-3)


def test_drawn_schedules_agree_with_all_of_them(monkeypatch):
    """Where both are possible, the intervals of the draws contain the exact mean, quantile and share."""
    options = {"num_steps": 5, "probability": 0.8, "prior_std": 2.0}
    exact = exposure_quantile(TRIANGLE, NOISY, **options)
    monkeypatch.setattr("sottovoce.privacy.schedules.MOST_AUDITS", 0)
    drawn = exposure_quantile(TRIANGLE, NOISY, schedules=200, seed=3, confidence=0.999, **options)
    assert exact.exact
    assert not drawn.exact
    for low, high, truth in (
        (*drawn.std_interval, exact.std),
        (*drawn.mean_interval, exact.mean),
        (*drawn.kept(0.5), exact.kept(0.5)[0]),
    ):
        assert low <= truth * (1 + 1e-9)
        assert truth <= high * (1 + 1e-9)
    assert drawn.std_interval[0] <= drawn.std <= drawn.std_interval[1]


def test_intervals_keep_their_confidence():
    """Of 2 000 samples from a law with atoms, the interval misses the quantile in at most 10 %, as stated."""
    rng = np.random.default_rng(0)
    values, chances = np.array([0.1, 0.4, 0.7, 1.0]), np.array([0.04, 0.11, 0.35, 0.5])
    truth = 0.4  # P(D ≥ 0.4) = 0.96 ≥ 0.9, P(D ≥ 0.7) = 0.85
    missed = 0
    for _ in range(2000):
        low, high = quantile_interval(rng.choice(values, p=chances, size=80), 0.9, 0.9)
        missed += not low <= truth <= high
    assert missed <= 0.1 * 2000 + 5 * math.sqrt(2000 * 0.09)


def test_more_colluders_leave_less():
    """Pairs of neighbours never leave more than single ones, schedule by schedule."""
    graph = sv.graphs.cycle(4)
    one = exposure_quantile(graph, NOISY, num_steps=4, size=1)
    two = exposure_quantile(graph, NOISY, num_steps=4, size=2)
    assert (two.left <= one.left * (1 + 1e-9)).all()
    assert two.std <= one.std


def test_too_small_a_sample_promises_nothing():
    """Ten schedules cannot support 99 %: the lower limit is zero and the upper one open."""
    assert quantile_interval(np.ones(10), 0.99, 0.95)[0] == 0.0
    assert quantile_interval(np.ones(10), 0.01, 0.95)[1] == math.inf


def test_what_cannot_be_asked_is_refused():
    """Methods in rounds have no schedule; a flat prior has no exposure; each error says so."""
    with pytest.raises(errors.Unsupported, match="rounds"):
        exposure_quantile(TRIANGLE, sv.MoMurray(1.0, 0.5), num_steps=2)
    with pytest.raises(errors.InvalidParameter, match="flat prior"):
        exposure_quantile(TRIANGLE, NOISY, num_steps=2, prior_std=None)
    with pytest.raises(errors.InvalidParameter, match="coalitions"):
        exposure_quantile(TRIANGLE, NOISY, num_steps=2, nodes=[0], coalitions=[[0]])
    with pytest.raises(errors.Unsupported, match="coalitions of 8"):
        exposure_quantile(sv.graphs.complete(20), NOISY, num_steps=2, size=8)
