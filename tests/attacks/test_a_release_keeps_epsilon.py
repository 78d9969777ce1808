"""Promise: a release tells nobody more than its ε. The attempt: guess a member's value from many releases.

The attacker knows every other value and all shares but those of the two honest members, and must decide whether the
value is at the one end of the range or at the other. The best test is a threshold; here it lies 2.4 deviations of the
noise above the lower end, which is chosen before anything is drawn. From how often it is right and wrong, with exact
confidence bounds, follows an ε below which the truth cannot lie, but for one case in a thousand.
"""

from __future__ import annotations

import math
import random

import pytest
from scipy import stats

from sottovoce.privacy import Release

RELEASE = Release(epsilon=2.0, delta=0.01, low=0.0, high=1.0, unit="0.001", honest=2)
TRIES = 20_000
CONFIDENCE = 0.9995
THRESHOLD = 2.4


@pytest.fixture(scope="module")
def noise() -> list[float]:
    """The noise of two honest members together, twice as often as there are tries."""
    below = random.Random(11).randrange
    ends = (RELEASE.low, RELEASE.high)
    return [sum(RELEASE.contribution(end, below=below).value - end for end in ends) for _ in range(2 * TRIES)]


def least_epsilon(noise: list[float], strength: float) -> float:
    """A lower bound on ε by the attack. ``strength`` weakens the noise, to see that the attack can succeed."""
    threshold = THRESHOLD * strength * math.sqrt(RELEASE.honest) * RELEASE.share_std
    wrong = sum(RELEASE.low + strength * drawn > threshold for drawn in noise[:TRIES])
    right = sum(RELEASE.high + strength * drawn > threshold for drawn in noise[TRIES:])
    most_wrong = stats.beta.ppf(CONFIDENCE, wrong + 1, TRIES - wrong)
    least_right = stats.beta.ppf(1.0 - CONFIDENCE, right, TRIES - right + 1)
    return math.log((least_right - RELEASE.delta) / most_wrong)


def test_no_attack_finds_more_than_the_claim(noise: list[float]) -> None:
    """The lower bound stays below the claim of ε = 2; it is above 1, so that the attack is not a weak one."""
    assert 1.0 < least_epsilon(noise, 1.0) <= RELEASE.epsilon_reached(RELEASE.honest) <= RELEASE.epsilon


def test_the_attack_notices_half_the_noise(noise: list[float]) -> None:
    """With half the noise the same attack proves that the claim is false."""
    assert least_epsilon(noise, 0.5) > RELEASE.epsilon


def test_the_attack_notices_a_missing_share(noise: list[float]) -> None:
    """With one honest member instead of two the bound rises, and stays below the ε that is said to be reached then."""
    alone = least_epsilon(noise, math.sqrt(0.5))
    assert least_epsilon(noise, 1.0) < alone <= RELEASE.epsilon_reached(1)
