"""The privacy meter's numbers against ``sv.privacy``, for every kind of observer and of value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.scenario.scenario import Scenario
from sottovoce.studio import meter
from sottovoce.studio.believing import centre_of, yardstick
from sottovoce.studio.limits import Limits
from sottovoce.studio.observing import Observer, read_observer
from sottovoce.studio.playing import Playback
from sottovoce.studio.reading import read_scenario

from .helpers import NOISY, SMALL
from .test_verdicts import read

LIMITS = Limits()
ONE = Observer(nodes=(0,))


def problem(**changes: Any) -> Scenario:
    return read_scenario(SMALL | changes, LIMITS)


def fired(asked: Scenario) -> Any:
    return Playback(asked, drawn=True).all_fired()


def believed(asked: Scenario, observer: Observer, prior: float | None, step: int) -> list[dict[str, Any] | None]:
    return meter.guesses(asked, fired(asked)[:step], observer, prior, centre_of(asked), step)


CASES: dict[str, tuple[dict[str, Any], Observer, float | None]] = {
    "large mean": ({"values": [292.5 + 0.3 * k for k in range(10)]}, ONE, 0.9),
    "very large mean": ({"values": [1e7 + 0.1 * k for k in range(10)]}, Observer(nodes=(4,)), 0.3),
    "tiny scale": (
        {"values": [1e-9 * k for k in range(10)], "methods": ["noise-insertion:noise_std=2e-9,noise_decay=0.9"]},
        ONE,
        3e-9,
    ),
    "yes or no": ({"values": [0, 1, 1, 0, 1, 0, 0, 1, 0, 1]}, ONE, 0.5),
    "several": ({}, Observer(nodes=(2, 6)), None),
    "everyone but one": ({}, Observer(but=3), 0.3),
    "a tapped wire": ({}, Observer(edges=((0, 1), (4, 5))), 0.3),
}


@pytest.mark.parametrize("name", CASES)
def test_guess_and_deviation_are_those_of_the_attack_and_the_audit(name: str) -> None:
    """At step 60, and what is written is what was computed, rounded by its own uncertainty."""
    changes, observer, prior = CASES[name]
    asked = problem(**changes)
    run = sv.simulate(asked.graph, asked.private_values, asked.methods[0], num_steps=60, seed=3)
    view = observer.view()
    report = sv.privacy.audit(asked.graph, asked.methods[0], run.fired_edges(), view, prior)
    attack = sv.privacy.attack(run, view, prior, prior_mean=centre_of(asked))
    found = believed(asked, observer, prior, 60)[0]
    assert found is not None
    assert found["std"] == pytest.approx(report.posterior_std, rel=1e-9)
    np.testing.assert_allclose(found["estimate"], attack.estimate, rtol=1e-9)
    for node, kind in enumerate(found["kind"]):
        if kind == "partly" and name != "yes or no":
            guess, std = read(found["text"][node])
            assert abs(guess - attack.estimate[node]) <= 0.51 * report.posterior_std[node]
            assert std == pytest.approx(report.posterior_std[node], rel=0.34)
            assert found["words"][node] == found["text"][node]
    own = [node for node, kind in enumerate(found["kind"]) if kind == "own"]
    assert own == np.flatnonzero(view.observers(asked.graph)).tolist()


def test_a_yes_or_no_is_told_by_how_often_the_guess_is_right() -> None:
    """As the report counts it; and what is known is the right one."""
    asked = problem(values=[0, 1, 1, 0, 1, 0, 0, 1, 0, 1])
    run = sv.simulate(asked.graph, asked.private_values, sv.StandardGossip(), num_steps=60, seed=3)
    report = sv.privacy.audit(asked.graph, sv.StandardGossip(), run.fired_edges(), ONE.view(), 0.5, candidates=[0, 1])
    standard = believed(asked, ONE, 0.5, 60)[-1]
    assert standard is not None
    assert standard["right"] == pytest.approx(report.guess_probability())
    known = [node for node, kind in enumerate(standard["kind"]) if kind == "known"]
    assert known
    for node in known:
        assert standard["text"][node].startswith(f"{asked.private_values[node]:g}, right in 100 %")


def test_what_the_answer_alone_tells() -> None:
    """The posterior given the mean and one's own value, against a dense calculation; the guess is the others' mean."""
    asked = problem()
    told = meter.privacy_history(asked, fired(asked), ONE, 0.3)
    honest = 9
    covariance = 0.09 * (np.eye(honest) - np.ones((honest, honest)) / honest)  # given the sum of all nine
    assert told["answer"]["std"] == pytest.approx(math.sqrt(covariance[0, 0]))
    assert told["answer"]["estimate"] == pytest.approx(asked.private_values[1:].mean())
    assert told["before"] == 0.3
    last = meter.privacy_history(asked, fired(asked), Observer(but=3), 0.3)["answer"]
    assert last["std"] == 0.0
    assert "no method can hide" in last["sentence"]


def test_a_known_sum_is_never_nothing_learned() -> None:
    """Whoever of a ring is not known is in a sum that is: every infinite deviation is told as a sum."""
    asked = problem(methods=["standard"])
    observer = Observer(nodes=(4,))
    hidden = np.isinf(
        sv.privacy.audit(asked.graph, asked.methods[0], fired(asked), observer.view(), None).posterior_std
    )
    lane = believed(asked, observer, None, 200)[-1]
    assert lane is not None
    assert hidden.any()
    covered = {node for each in lane["sums"] for node in each["nodes"]}
    assert covered >= set(np.flatnonzero(hidden).tolist())
    assert "hidden" not in lane["kind"]
    assert "sums" in lane["sentence"]


def test_sums_that_are_called_known_are_right() -> None:
    """The best estimates of their values, each uncertain, add up to the true sum, to the last digits."""
    asked = problem(methods=["standard"])
    lane = believed(asked, Observer(nodes=(4,)), 0.3, 200)[-1]
    assert lane is not None
    totals = [each for each in lane["sums"] if each["total"]]
    assert totals
    for each in totals:
        estimates = [lane["estimate"][node] for node in each["nodes"]]
        assert min(lane["std"][node] for node in each["nodes"]) > 0.1
        assert sum(estimates) == pytest.approx(float(asked.private_values[each["nodes"]].sum()), rel=1e-9)


def test_exactly_known_is_relative_to_the_scale() -> None:
    """Noise of 1e-9 on values of size 1e-9 hides as much as noise of 1 on values of size 1."""
    small = problem(values=[1e-9 * k for k in range(10)], methods=["noise-insertion:noise_std=1e-9,noise_decay=0.9"])
    large = problem(values=[1.0 * k for k in range(10)] + [], methods=["noise-insertion:noise_std=1,noise_decay=0.9"])
    kinds = []
    for asked, prior in ((small, 3e-9), (large, 3.0)):
        stick = yardstick(asked, ONE, prior)
        report = sv.privacy.audit(asked.graph, asked.methods[0], fired(asked), ONE.view(), prior)
        kinds.append([stick.kind(float(std), known=False) for std in report.posterior_std])
    assert kinds[0] == kinds[1]
    assert "partly" in kinds[0]


def test_knowledge_grows_and_standard_gossip_gives_more_away() -> None:
    """Row by row, no deviation rises, and from ``knownFrom`` on a value is known."""
    asked = problem()
    answer = meter.privacy_history(asked, fired(asked), ONE, 0.3)
    noisy, standard = (np.array(lane["std"]) for lane in answer["lanes"])
    for history in (noisy, standard):
        assert (np.diff(history, axis=0) <= 1e-12).all()
    assert standard[-1].sum() < noisy[-1].sum()
    steps, lane = np.array(answer["steps"]), answer["lanes"][-1]
    known = [node for node, step in enumerate(lane["knownFrom"]) if step is not None]
    assert known
    for node in known:
        assert (standard[steps >= lane["knownFrom"][node], node] <= 3e-7).all()
        assert (standard[steps < lane["knownFrom"][node], node] > 3e-7).all()
    assert lane["verdict"]["known"] == len(known)
    assert lane["verdict"]["sentence"].startswith(f"Knows {len(known)} of 9 values exactly")


def test_long_histories_are_thinned_and_keep_their_end() -> None:
    """Evenly, with the last exchange that was heard kept."""
    asked = problem(graph="star:4", num_steps=5000)
    steps = meter.heard_steps(asked, fired(asked), ONE)
    assert len(steps) <= meter.HISTORY_POINTS
    assert steps[-1] == 5000  # the centre of a star takes part in every exchange


def test_methods_without_an_analysis_say_so() -> None:
    """Push-sum is run, compared, and not analysed; Laplace noise gets linear estimates, and its note says so."""
    asked = problem(methods=["push-sum", "huang:noise_scale=1,noise_decay=0.9,mixing_share=0.5", NOISY])
    push, laplace, noisy, _ = meter.privacy_history(asked, fired(asked), ONE, 0.3)["lanes"]
    assert not push["analysed"]
    assert "not analysed" in push["message"]
    assert laplace["note"].endswith("best linear estimates")
    assert not laplace["exact"]
    assert len(laplace["std"]) == len(laplace["steps"]) > 0
    assert "std" in noisy
    assert believed(asked, ONE, 0.3, 20)[0] is None


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"node": 4}, Observer(nodes=(4,))),
        ({"node": None}, None),
        ({"observer": None}, None),
        ({"observer": {"nodes": [6, 2, 6]}}, Observer(nodes=(2, 6))),
        ({"observer": {"but": 3}}, Observer(but=3)),
        ({"observer": {"edges": [[1, 0], [0, 1]]}}, Observer(edges=((0, 1),))),
    ],
)
def test_observers_are_read_as_they_are_meant(said: dict[str, Any], meant: Observer | None) -> None:
    """And say themselves as they were asked."""
    found = read_observer(said, sv.graphs.cycle(10))
    assert found == meant
    if found is not None:
        assert read_observer({"observer": found.asked()}, sv.graphs.cycle(10)) == meant


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"observer": {"nodes": list(range(10))}}, "somebody out"),
        ({"observer": {"nodes": []}}, "at least one"),
        ({"observer": {"edges": [[0, 5]]}}, "not connected"),
        ({"observer": {"but": 10}}, "node must be"),
        ({"observer": "all"}, "observer must be"),
        ({"observer": {"nodes": [0], "but": 1}}, "observer must be"),
    ],
)
def test_observers_that_cannot_be_are_refused(said: dict[str, Any], words: str) -> None:
    """With a sentence."""
    with pytest.raises(sv.errors.InvalidParameter, match=words):
        read_observer(said, sv.graphs.cycle(10))


def test_runs_too_long_to_follow_are_found() -> None:
    """The limit is on nodes × nodes × steps, and on steps."""
    assert not meter.is_too_large(problem(), LIMITS)
    assert meter.is_too_large(problem(num_steps=10**6), LIMITS)
    assert meter.is_too_large(problem(), Limits(work=10))
