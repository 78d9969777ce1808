"""The round-by-round audit and closed forms give one number, however long the observer listens."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.privacy import audit_rounds


@pytest.mark.parametrize("num_rounds", [10, 60, 200])
@pytest.mark.parametrize("own", [0.0, 0.3])
def test_masks_hide_as_much_after_many_rounds_as_after_n(num_rounds, own):
    """On a cycle one neighbour hears all masked values within n rounds: c | c + mask, mask ~ N(0, s_η²I + s_Δ²L_H).

    More rounds repeat what is known; rounding errors must not pass for information.
    """
    graph, prior = sv.graphs.cycle(10), 0.3
    method = sv.PairwiseCancelling(pair_noise_std=1.0, own_noise_std=own)
    report = audit_rounds(graph, method, sv.privacy.CuriousNodes([0]), prior, num_rounds=num_rounds)
    honest = sv.graphs.laplacian(sv.graphs.path(9)).toarray()
    seen = (prior**2 + own**2) * np.eye(9) + honest
    expected = np.sqrt(prior**2 - prior**4 * np.linalg.inv(seen).diagonal())
    np.testing.assert_allclose(report.posterior_std[1:], expected, rtol=1e-6)


def test_published_example_of_mo_and_murray():
    """With a nearly flat prior, long listening gives the published long-run deviations of the five-node example."""
    W = np.array([[2, 1, 0, 0, 1], [1, 2, 1, 0, 0], [0, 1, 2, 0, 1], [0, 0, 0, 3, 1], [1, 0, 1, 1, 1]]) / 4
    graph = sv.Graph.from_edges([(0, 1), (0, 4), (1, 2), (2, 4), (3, 4)])
    method = sv.MoMurray(noise_std=1.0, noise_decay=0.9, weights=W)
    report = audit_rounds(graph, method, sv.privacy.CuriousNodes([4]), None, num_rounds=150)
    np.testing.assert_allclose(report.posterior_std[:3] ** 2, [0.372179, 1.488716, 0.372179], atol=2e-4)
    assert report.disclosed.tolist() == [False, False, False, True, True]
