"""What privacy costs in time at equal accuracy."""

from __future__ import annotations

import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.privacy import frontier


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
    assert [row["method"] for row in found.rows()].count("noise-insertion") == 2
    # Laplace noise that stays is at most a few times the accuracy, so that neighbours know the values well.
    laplace = [p for p in found.points if p.method in ("nozari", "huang")]
    assert [(p.method, p.noise_decay) for p in laplace] == [("nozari", 0.5), ("nozari", 0.9), ("huang", 0.9)]
    for point in laplace:
        assert point.steps is not None
        assert point.epsilon is not None
        assert point.epsilon > 10.0
        assert point.worst_std <= point.neighbour_std < short.neighbour_std


def test_unreached_accuracy_is_said() -> None:
    """A choice that does not get there within the steps allowed says so."""
    found = frontier(sv.graphs.cycle(6), noise_stds=[1.0], noise_decays=[0.99], accuracy=1e-6, max_steps=50, runs=1)
    assert all(point.steps is None for point in found.points)
    assert found.efficient() == []


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
