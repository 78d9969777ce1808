"""Who is exposed to whom, and what privacy costs in time."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.privacy import CuriousNodes, audit, exposure, frontier

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


def test_frontier_orders_the_methods() -> None:
    """At equal accuracy standard gossip is fastest and hides nothing from the first caller; noise costs time."""
    found = frontier(
        sv.graphs.cycle(6), noise_stds=[1.0], noise_decays=[0.5, 0.9], accuracy=0.02, max_steps=600, runs=2, seed=1
    )
    by_name = {(p.method, p.noise_decay): p for p in found.points}
    plain, once = by_name["standard", 0.0], by_name["one-shot noise", 1.0]
    short, long = by_name["noise-insertion", 0.5], by_name["noise-insertion", 0.9]
    assert plain.worst_std == 0.0
    assert plain.steps is not None
    assert long.steps is not None
    assert short.steps is not None
    assert plain.steps <= short.steps < long.steps
    assert plain.neighbour_std < once.neighbour_std < short.neighbour_std < long.neighbour_std
    # One draw of s that is never withdrawn: a first caller knows the value to about s.
    assert once.worst_std == pytest.approx(once.noise_std, rel=1e-3)
    assert found.efficient()[-1] == long
    assert len(found.rows()) == 4


def test_unreached_accuracy_is_said() -> None:
    """A choice that does not get there within the steps allowed says so."""
    found = frontier(sv.graphs.cycle(6), noise_stds=[1.0], noise_decays=[0.99], accuracy=1e-6, max_steps=50, runs=1)
    assert all(point.steps is None for point in found.points)
    assert found.efficient() == []


def test_bad_input_is_refused() -> None:
    """Either edges or a number of steps, and a prior."""
    graph = sv.graphs.cycle(4)
    with pytest.raises(InvalidParameter, match="either fired_edges, or num_steps"):
        exposure(graph, NOISE)
    with pytest.raises(InvalidParameter, match="no flat prior"):
        exposure(graph, NOISE, num_steps=3, prior_std=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"accuracy": -1.0}, r"accuracy must be .*, got -1"),
        ({"accuracy": "fine"}, "accuracy"),
        ({"prior_std": 0.0}, "prior_std"),
        ({"max_steps": 0}, "max_steps must be a whole number ≥ 1, got 0"),
        ({"runs": 1.5}, "runs must be a whole number ≥ 1, got 1.5"),
    ],
)
def test_an_impossible_frontier_is_refused(wish: dict[str, object], message: str) -> None:
    """What cannot be asked of a frontier is named before anything runs."""
    wishes: dict[str, object] = {"noise_stds": [1.0], "noise_decays": [0.5], "accuracy": 0.1} | wish
    with pytest.raises(InvalidParameter, match=message):
        frontier(sv.graphs.cycle(4), **wishes)  # type: ignore[arg-type]
