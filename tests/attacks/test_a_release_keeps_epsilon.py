"""Promise: a release tells nobody more than its ε. The attempt: guess a member's value from many releases.

The attacker knows every other value and all shares but those of the two honest members, and must decide whether the
value is at the one end of the range or at the other. The best test is a threshold; here it lies 2.4 deviations of the
noise above the lower end, which is chosen before anything is drawn. From how often it is right and wrong, with exact
confidence bounds, follows an ε below which the truth cannot lie, but for one case in a thousand.

A member that takes part sees more than the mean: contributions, covered by seals alone. What that is worth to it is
tried in the same way, with seals that are small beside the noise and with large ones.
"""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from scipy import stats

from sottovoce.privacy import Release, ReleaseCost, sealed_std

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
    return proved(wrong, right)


def proved(wrong: int, right: int, tries: int = TRIES) -> float:
    """The ε below which the truth cannot lie, from how often an attack was wrong and right."""
    most_wrong = stats.beta.ppf(CONFIDENCE, wrong + 1, tries - wrong)
    least_right = stats.beta.ppf(1.0 - CONFIDENCE, right, tries - right + 1)
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


MEMBERS = 5
EDGES = list(itertools.combinations(range(MEMBERS), 2))


def known_by_a_member(seal_std: float) -> tuple[float, float]:
    """What a curious member proves of a neighbour's value, and the ε that how-to/private-release computes for it."""
    release = Release(epsilon=2.0, delta=0.01, low=0.0, high=1.0, unit="0.001", honest=MEMBERS - 1)
    below, seals = random.Random(5).randrange, np.random.default_rng(5)
    honest = [(a - 1, b - 1) for a, b in EDGES if a > 0]  # member 0 is the curious one
    incidence = np.zeros((MEMBERS - 1, len(honest)))
    for place, (a, b) in enumerate(honest):
        incidence[a, place], incidence[b, place] = 1.0, -1.0
    covariance = release.share_std**2 * np.eye(MEMBERS - 1) + seal_std**2 * incidence @ incidence.T
    best = np.linalg.inv(covariance)[0]
    threshold = THRESHOLD * math.sqrt(best[0])
    found = []
    for end in (release.low, release.high):
        noise = [[release.contribution(0.5, below=below).value - 0.5 for _ in best] for _ in range(TRIES // 4)]
        drawn = seals.normal(0.0, seal_std, (TRIES // 4, len(honest))).round(3)
        seen = np.array(noise) + drawn @ incidence.T
        seen[:, 0] += end
        found.append(int((seen @ best > threshold).sum()))
    left = float(sealed_std(EDGES, MEMBERS, [0], seal_std=seal_std, prior_std=release.share_std)[1])
    rho = 0.5 / release.share_std**2 * (1.0 - (left / release.share_std) ** 2)
    assert rho == pytest.approx(0.5 * best[0])
    return proved(*found, tries=TRIES // 4), ReleaseCost(rho).epsilon(release.delta)


def test_seals_smaller_than_the_noise_do_not_keep_members_to_epsilon() -> None:
    """They see each contribution nearly as it is: more than the ε of the mean, and not more than is computed."""
    attacked, computed = known_by_a_member(0.01)
    assert 2.0 < attacked <= computed


def test_seals_larger_than_the_noise_keep_members_to_epsilon() -> None:
    """Then what they see beyond the sum tells little: the ε that is computed is that of the mean."""
    attacked, computed = known_by_a_member(100.0)
    assert 0.5 < attacked <= computed == pytest.approx(2.0, rel=1e-2)
