"""Who is exposed to whom."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.privacy import CuriousNodes, audit, exposure

NOISE = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8)


def test_exposure_is_one_audit_per_observer() -> None:
    """Row a of the matrix is the audit with observer a, and the edges are those of ``simulate``."""
    graph = sv.graphs.random_regular(6, 3, seed=1)
    who = exposure(graph, NOISE, num_steps=50, seed=4)
    edges = sv.simulate(graph, np.zeros(6), NOISE, num_steps=50, seed=4).fired_edges()
    for node in range(6):
        assert np.array_equal(who.posterior_std[node], audit(graph, NOISE, edges, CuriousNodes([node])).posterior_std)
    assert np.array_equal(np.diag(who.posterior_std), np.zeros(6))
    assert np.array_equal(exposure(graph, NOISE, edges).posterior_std, who.posterior_std)


def test_exposure_names_the_best_informed() -> None:
    """On a star the centre knows every leaf best; leaves are each other's strangers."""
    who = exposure(sv.graphs.star(5), NOISE, num_steps=60, seed=1)
    assert who.most_knowing[1:].tolist() == [0, 0, 0, 0]
    assert who.closest[1:] == pytest.approx(who.posterior_std[0, 1:])
    assert (who.variance_leaked >= -1e-12).all()
    assert "most exposed is node" in repr(who)


def test_exposure_covers_rounds() -> None:
    """Row a is the audit of the same rounds with observer a, for whatever an audit covers."""
    graph, method = sv.graphs.star(4), sv.Huang(noise_scale=1.0, noise_decay=0.9)
    who = exposure(graph, method, num_steps=5)
    for node in range(4):
        assert np.array_equal(who.posterior_std[node], audit(graph, method, 5, CuriousNodes([node])).posterior_std)
    assert np.array_equal(exposure(graph, method, 5).posterior_std, who.posterior_std)


def test_bad_input_is_refused() -> None:
    """Either edges or a number of steps, and a prior."""
    graph = sv.graphs.cycle(4)
    with pytest.raises(InvalidParameter, match="either fired_edges, or num_steps"):
        exposure(graph, NOISE)
    with pytest.raises(InvalidParameter, match="no flat prior"):
        exposure(graph, NOISE, num_steps=3, prior_std=None)  # type: ignore[arg-type]
