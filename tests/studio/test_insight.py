"""What theory says beside a run, asked directly. (The pages' way to it, through processes, is in test_stream.)"""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.scenario.scenario import Scenario
from sottovoce.studio import insight
from sottovoce.studio.limits import Limits
from sottovoce.studio.reading import read_scenario

from .helpers import SMALL

LIMITS = Limits()


def problem(**changes: object) -> Scenario:
    return read_scenario(SMALL | changes, LIMITS)


def test_the_threshold_comes_with_the_connectivity_it_is_made_of() -> None:
    """On the ring of ten both are known in closed form."""
    answer = insight.threshold(sv.graphs.cycle(10))
    alpha = 2 - 2 * math.cos(2 * math.pi / 10)
    assert answer["algebraicConnectivity"] == pytest.approx(alpha)
    assert answer["low"] == answer["high"] == pytest.approx(math.sqrt(1 - alpha / 4))


def test_huge_graphs_get_a_sentence_instead_of_a_threshold() -> None:
    """Nobody waits minutes for a mark on a slider."""
    assert "up to" in insight.threshold(sv.graphs.cycle(insight.LARGEST_THRESHOLD + 1))["message"]


def test_expectation_and_bounds_stand_in_order() -> None:
    """The expectation lies below both proved bounds, and all start at one."""
    curves = insight.theory_curves(
        problem(), problem().methods[0], insight.threshold(problem().graph)["algebraicConnectivity"], LIMITS
    )
    expected = np.array(curves["expected"])
    for form in ("corrected", "sharpened"):
        assert (expected <= np.array(curves[form]) * (1 + 1e-9)).all()
    assert [curves[name][0] for name in ("expected", *insight.FORMS)] == pytest.approx([1.0] * 4)


@pytest.mark.parametrize(
    ("changes", "alpha", "limits", "words"),
    [
        ({"values": [2.0] * 10}, 1.0, LIMITS, "equal"),
        ({"values": [0.1] * 10}, 1.0, LIMITS, "equal"),
        ({"methods": ["synchronous"]}, 1.0, LIMITS, "do not cover"),
        ({}, None, LIMITS, "algebraic connectivity"),
        ({}, 1.0, Limits(exact_nodes=5), "up to 5 nodes"),
    ],
)
def test_where_theory_is_silent_it_says_so(
    changes: dict[str, object], alpha: float | None, limits: Limits, words: str
) -> None:
    """One sentence for the page each."""
    asked = problem(**changes)
    assert words in insight.theory_curves(asked, asked.methods[0], alpha, limits)["message"]


def test_the_cost_of_a_decay_is_that_of_the_exact_rates() -> None:
    """Over the slider: what each further digit costs, against the asymptotic rates of the theory."""
    graph = sv.graphs.random_geometric(30, seed=1)
    told = insight.threshold(graph)
    for entry in told["costs"]:
        rate = sv.theory.asymptotic_rate(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=entry["decay"]))
        exact = math.log(rate.gossip_rate) / math.log(rate.rate)
        assert entry["ratio"] == pytest.approx(exact, rel=2e-3)
        assert (entry["ratio"] > 1.0 + 1e-3) == (entry["decay"] > told["really"] + 1e-3)
    assert told["really"] < told["low"]


def test_the_expected_steps_are_those_of_the_exact_expectation() -> None:
    """Just there the expected error passes a millionth, for the method and for standard gossip."""
    asked = problem(methods=["noise-insertion:noise_std=1,noise_decay=0.95"])
    found = insight.cost(asked, asked.methods[0])
    assert found is not None
    scale = ((asked.private_values - asked.private_values.mean()) ** 2).sum() / 2
    for steps, method in ((found["steps"], asked.methods[0]), (found["standard"], sv.StandardGossip())):
        around = [round(0.99 * steps), round(1.01 * steps)]
        before, after = sv.theory.expected_error(asked.graph, asked.private_values, method, at=around) / scale
        assert before > 1e-6 > after
    assert found["ratio"] > 2.0
    assert "times as many" in found["text"]


def test_costs_are_silent_where_they_are_not_known() -> None:
    """Two nodes, large graphs, and methods outside the theory."""
    assert insight.threshold(sv.graphs.path(2))["costs"] == []
    large = problem(graph="cycle:200")
    assert insight.cost(large, large.methods[0]) is None
    assert "cost" not in insight.theory_curves(problem(), sv.PushSum(), 1.0, LIMITS)
