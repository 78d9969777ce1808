"""What is said beside a run, asked directly. (The pages' way to it, through processes, is in test_stream.)"""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.scenario.scenario import Scenario
from sottovoce.studio import insight
from sottovoce.studio.limits import Limits
from sottovoce.studio.playing import Playback
from sottovoce.studio.reading import read_scenario

from .helpers import NOISY, SMALL

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


def test_knowledge_grows_and_standard_gossip_gives_more_away() -> None:
    """Row by row, no deviation rises, and under standard gossip the observer knows at least as much in all."""
    asked = problem()
    fired = Playback(asked, drawn=True).all_fired()
    answer = insight.privacy_history(asked, fired, 0, 0.3)
    noisy, standard = (np.array(lane["std"]) for lane in answer["lanes"])
    for history in (noisy, standard):
        assert (np.diff(history, axis=0) <= 1e-12).all()
    assert standard[-1].sum() < noisy[-1].sum()
    assert (standard[-1][1:] == 0).any()


def test_long_histories_are_thinned_and_keep_their_end() -> None:
    """Evenly, with the last exchange of the observer kept."""
    asked = problem(graph="star:4", num_steps=5000)
    fired = Playback(asked, drawn=True).all_fired()
    steps = insight.heard_steps(asked, fired, 0)
    assert len(steps) <= insight.HISTORY_POINTS
    assert steps[-1] == 5000  # the centre of a star takes part in every exchange


def test_guesses_are_right_where_they_are_certain() -> None:
    """A value that standard gossip gave away is guessed exactly."""
    asked = problem()
    fired = Playback(asked, drawn=True).all_fired()
    known = np.array(insight.privacy_history(asked, fired, 0, 0.3)["lanes"][-1]["std"][-1]) == 0
    guesses = insight.guesses(asked, 0, 0.3, 0.5, asked.num_steps)
    assert guesses[-1] is not None
    assert np.array(guesses[-1])[known] == pytest.approx(asked.private_values[known])


def test_methods_without_an_audit_say_so() -> None:
    """Push-sum is run, compared, and not audited; Laplace noise gets linear estimates, and its note says so."""
    asked = problem(methods=["push-sum", "huang:noise_scale=1,noise_decay=0.9,mixing_share=0.5", NOISY])
    fired = Playback(asked, drawn=True).all_fired()
    push, laplace, noisy, _ = insight.privacy_history(asked, fired, 0, 0.3)["lanes"]
    assert "no privacy meter" in push["message"]
    assert "not analysed" in push["message"]
    assert laplace["note"].endswith("best linear estimates")
    assert len(laplace["std"]) == len(laplace["steps"]) > 0
    assert "std" in noisy


def test_runs_too_long_to_audit_get_a_sentence() -> None:
    """The limit is on nodes × nodes × steps, and on steps."""
    assert insight.too_large_to_audit(problem(), LIMITS) is None
    assert "too large" in str(insight.too_large_to_audit(problem(num_steps=10**6), LIMITS))
    assert "too large" in str(insight.too_large_to_audit(problem(), Limits(work=10)))
