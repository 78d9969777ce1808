"""The numbers of the guided first minute are those of the engine, the theory and the audit."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.scenario.values import uniform
from sottovoce.studio import guide as told

from .helpers import Studio

VALUES = uniform(10, 1)
NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)
SEALED = sv.SealedGossip(seal_std=3.0, noise_std=1.0, noise_decay=0.9)


STORY = json.loads(told.FILE.read_text(encoding="utf-8"))
"""What pages are told."""


def same(kept: Any, now: Any) -> bool:
    """Equal to the last bit; for what solvers give, to nine digits."""
    if isinstance(kept, dict):
        return kept.keys() == now.keys() and all(same(kept[key], now[key]) for key in kept)
    if isinstance(kept, list):
        return len(kept) == len(now) and all(map(same, kept, now))
    return bool(kept == (pytest.approx(now, rel=1e-9, abs=1e-12) if isinstance(kept, float) else now))


def test_the_kept_numbers_are_what_is_computed_today() -> None:
    """The file is the story as the package tells it now: runs bit by bit, audits and expectations to nine digits."""
    now = told.guide()
    for part in ("privateValues", "trueMean", "run", "exchanges"):
        assert STORY[part] == now[part]
    assert STORY["sealed"]["values"] == now["sealed"]["values"]
    assert same(STORY, now)


def run(method: sv.Method, num_steps: int) -> sv.Solution:
    return sv.simulate(sv.graphs.cycle(10), VALUES, method, num_steps=num_steps, seed=1)


def test_every_pictured_moment_is_one_of_the_run() -> None:
    """Values and outstanding noise at each pictured step, for both methods."""
    story = STORY
    for part, method in ((story["run"], NOISY), (story["sealed"], SEALED)):
        for step, values, noise in list(zip(part["steps"], part["values"], part["outstanding"], strict=True))[1::9]:
            at = run(method, step)
            assert values == at.values.tolist()
            assert noise == at.outstanding_noise.tolist()


def test_in_the_end_all_ten_hold_the_same_four_digits() -> None:
    """The closing sentence is true of both runs: every node shows the true mean, 0.4632."""
    story = STORY
    assert f"{story['trueMean']:.4f}" == "0.4632"
    for part in ("run", "sealed"):
        assert {f"{value:.4f}" for value in story[part]["values"][-1]} == {"0.4632"}


def test_an_exchange_adds_up_to_the_last_bit() -> None:
    """Held, less what is taken back, plus what is added, is said; both keep the average; the next one takes it back."""
    mine = None
    for exchange in STORY["exchanges"]:
        one, other = exchange["sides"]
        for side in (one, other):
            assert side["said"] == side["held"] + (side["added"] - side["takenBack"])
            assert side["after"] == 0.5 * (one["said"] + other["said"])
        if mine is not None:
            assert one["takenBack"] == mine["added"]
            assert one["held"] == mine["after"]
        mine = one
    assert STORY["exchanges"][0]["sides"][0]["held"] == VALUES[0]


def test_what_the_neighbour_knows_is_the_audit() -> None:
    """± with and without noise are ``sv.privacy.audit``'s, and the guess without noise is the truth."""
    heard = STORY["heard"]
    fired = run(NOISY, told.NUM_STEPS).fired_edges()
    for name, method in (("noisy", NOISY), ("plain", sv.StandardGossip())):
        report = sv.privacy.audit(sv.graphs.cycle(10), method, fired, sv.privacy.CuriousNodes([1]), prior_std=0.29)
        assert heard[name]["std"] == pytest.approx(report.posterior_std[0], rel=1e-9)
    assert heard["plain"]["mean"] == pytest.approx(VALUES[0], abs=1e-12)


def test_the_answer_alone_is_gaussian_conditioning() -> None:
    """The closed form agrees with conditioning on the sum of the others by matrices."""
    mean, std = told.answer_alone(VALUES, observer=3, belief=(0.5, 0.29))
    covariance = 0.29**2 * np.eye(9)
    ones = np.ones(9)
    gain = covariance @ ones / (ones @ covariance @ ones)
    total = VALUES.sum() - VALUES[3]
    assert mean == pytest.approx(0.5 + gain[0] * (total - 4.5), rel=1e-12)
    assert std == pytest.approx(np.sqrt((covariance - np.outer(gain, ones @ covariance))[0, 0]), rel=1e-12)


def test_nobody_knows_more_than_the_guide_says() -> None:
    """The least hidden pair is the least over all observers; seals leave the unlucky node what the text says."""
    sealed = STORY["sealed"]
    fired = run(SEALED, told.NUM_STEPS).fired_edges()
    least = {"sealed": np.inf, "noisy": np.inf}
    for observer in range(10):
        for name, method in (("sealed", SEALED), ("noisy", NOISY)):
            view = sv.privacy.CuriousNodes([observer])
            std = sv.privacy.audit(sv.graphs.cycle(10), method, fired, view, prior_std=0.29).posterior_std
            least[name] = min(least[name], np.delete(std, observer).min())
    assert sealed["leastHidden"] == pytest.approx(least["sealed"], rel=1e-12)
    assert sealed["unlucky"]["noisy"] == pytest.approx(least["noisy"], rel=1e-12)
    assert sealed["unlucky"]["sealed"] >= sealed["leastHidden"] > sealed["unlucky"]["noisy"]


def test_seals_cancel_in_the_sum() -> None:
    """What nodes begin with under seals is where the sealed run begins, and has the same sum."""
    sealed = STORY["sealed"]
    assert sum(sealed["start"]) == pytest.approx(VALUES.sum(), abs=1e-12)
    first = run(SEALED, 1)
    talking = sv.graphs.cycle(10).edges[first.fired_edges()[0]]
    silent = np.setdiff1d(np.arange(10), talking)
    assert np.array(sealed["start"])[silent] == pytest.approx(first.values[silent], abs=1e-12)


def test_the_price_is_the_exact_expectation() -> None:
    """Steps to a millionth, from ``expected_error``; a larger decay costs more and hides more."""
    price = STORY["price"]
    scale = ((VALUES - VALUES.mean()) ** 2).sum() / 2
    expected = sv.theory.expected_error(sv.graphs.cycle(10), VALUES, NOISY, 600) / scale
    chosen = next(choice for choice in price["choices"] if choice["decay"] == 0.9)
    assert chosen["reached"] == np.flatnonzero(expected <= 1e-6)[0]
    for name in ("reached", "knows"):
        amounts = [price["standard"][name], *(choice[name] for choice in price["choices"])]
        assert amounts == sorted(amounts)


def test_a_page_gets_the_story(server: Studio) -> None:
    """As one JSON object of moderate size, the same as computed here."""
    answer = server.get("/api/guide")
    assert answer.status_code == 200
    assert answer.json() == STORY
    assert len(answer.content) < 200_000
