"""The last bits of what is shown: an attack that reads private values from floating-point messages, and not from ours.

A noisy double is a function of the random words behind it. For each *guess* of the private value one can ask whether
any words give the bits that were seen; if none do, the guess is wrong. More noise does not help.
"""

from __future__ import annotations

import itertools
import math
import os

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.noise import draw_if_needed
from sottovoce.peer.protocol.units import Unit
from sottovoce.peer.runtime.randomness import noise_from_digits, system_noise
from sottovoce.privacy.gaussian.account import Account

Floats = npt.NDArray[np.float64]
CANDIDATES = list(itertools.product((0, 1), (0, 1)))
"""Two yes/no answers in one message."""


# -- what peers did before: doubles -----------------------------------------------------------------


def old_normals(words: npt.NDArray[np.uint64]) -> Floats:
    """The pair made from two 53-bit words, as the first version of the peer made it."""
    radius = np.sqrt(-2.0 * np.log((words[..., 0] + np.uint64(1)) * 2.0**-53))
    angle = (2.0 * math.pi * 2.0**-53) * words[..., 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)


def old_message(answers: tuple[int, int], std: float, rng: np.random.Generator) -> Floats:
    """The first message of the first version: value plus noise, in floating point."""
    words = rng.integers(2**53, size=2, dtype=np.uint64)
    return np.array(answers, dtype=float) + old_normals(words) * std


def could_be(message: Floats, guess: tuple[int, int], std: float) -> bool:
    """Whether some pair of words gives exactly these bits with this guess: all pairs near the only place are tried."""
    cosine, sine = (message - np.array(guess)) / std
    squared = cosine**2 + sine**2
    first = round(math.exp(-squared / 2.0) * 2.0**53) - 1
    second = round((math.atan2(sine, cosine) % (2.0 * math.pi)) / (2.0 * math.pi) * 2.0**53)
    near = np.array(list(itertools.product(range(first - 12, first + 13), range(second - 6, second + 7))))
    near[:, 1] %= 2**53
    words = np.clip(near, 0, 2**53 - 1).astype(np.uint64)
    return bool((np.array(guess) + old_normals(words) * std == message).all(axis=1).any())


@pytest.mark.parametrize("std", [1.0, 3.0, 1000.0])
def test_floating_point_messages_give_answers_away(std: float) -> None:
    """The control, on the old messages: more than half of 60 pairs of answers are read exactly, at any noise."""
    rng = np.random.default_rng(int(std))
    read = 0
    for _ in range(60):
        truth = CANDIDATES[rng.integers(4)]
        message = old_message(truth, std, rng)
        left = [guess for guess in CANDIDATES if could_be(message, guess, std)]
        assert truth in left
        read += len(left) == 1
    assert read > 30


# -- what peers do: whole numbers -------------------------------------------------------------------


def messages(count: int, answers: npt.NDArray[np.int64], std: float, unit: Unit) -> npt.NDArray[np.int64]:
    """First messages of ``count`` peers, made by the peer's own functions and the system's generator."""
    state = PeerState(answers, Account(std, 0.5))
    return draw_if_needed(state, system_noise, unit).shown


def explained(noise: npt.NDArray[np.int64], size: float) -> npt.NDArray[np.int64]:
    """The noise that the likeliest random words for exactly this noise make: those in the middle of its share."""
    share = np.longdouble(1) * stats.norm.sf(np.maximum(abs(noise), 0.25) / size)
    digits = np.floor(share * 2.0**64)
    rest = np.floor((share * 2.0**64 - digits) * 2.0**64).astype(np.uint64)
    whole = digits.astype(np.uint64)
    first = (whole >> 48).astype(np.uint16) | (noise < 0).astype(np.uint16) << 15
    second, third = (whole >> 32).astype(np.uint16), whole.astype(np.uint32)
    return noise_from_digits(first, second, third, lambda _: rest[whole < 2**52], size)


def ruled_out(count: int, unit: Unit, std: float) -> int:
    """How many of four guesses about each pair of answers have no random words that explain the message."""
    ones = round(1 / unit.number)
    answers = np.frombuffer(os.urandom(2 * count), dtype=np.uint8).astype(np.int64) % 2 * ones
    shown = messages(2 * count, answers, std, unit)
    impossible = 0
    for guess in CANDIDATES:
        noise = shown - np.repeat(guess, count) * ones
        impossible += int((explained(noise, std / unit.number) != noise).reshape(2, -1).any(axis=0).sum())
    return impossible


@pytest.mark.parametrize(("unit", "std"), [("0.01", 1.0), ("0.000001", 1000.0), ("0.0000000003", 1.0)])
def test_whole_messages_rule_nothing_out(unit: str, std: float) -> None:
    """In 10⁴ messages every guess stays possible, also with the smallest unit that is allowed."""
    assert ruled_out(10_000, Unit(unit), std) == 0


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("unit", "std"), [("0.01", 1.0), ("0.0000000003", 1.0)])
def test_whole_messages_rule_nothing_out_ever(unit: str, std: float) -> None:
    """The same over 10⁵ messages, a hundred times."""
    assert sum(ruled_out(100_000, Unit(unit), std) for _ in range(100)) == 0


def test_the_rare_large_draws_rule_nothing_out_either() -> None:
    """Far out, where 63 digits alone would leave gaps of many units, every whole number can still be drawn."""
    size = 1.0 / 3e-10
    rng = np.random.default_rng(0)
    noise = np.rint(rng.choice([-1, 1], size=20_000) * rng.uniform(3.4, 9.0, size=20_000) * size).astype(np.int64)
    np.testing.assert_array_equal(explained(noise, size), noise)


def guesses(count: int, std: float, unit: Unit) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    ones = round(1 / unit.number)
    answers = np.frombuffer(os.urandom(count), dtype=np.uint8).astype(np.int64) % 2
    return answers, messages(count, answers * ones, std, unit)


@pytest.mark.parametrize("std", [1.0, 30.0])
def test_guessing_gains_nothing_beyond_the_account(std: float) -> None:
    """The best guess of a yes/no answer is right as often as Gaussian noise allows, Φ(1/2σ), over 10⁵ tries.

    Draws of the system differ every time: 6.5 standard deviations are left by chance once in 10¹⁰ runs.
    """
    unit = Unit("0.000001")
    answers, shown = guesses(100_000, std, unit)
    right = ((shown * unit.number > 0.5) == answers).mean()
    allowed = stats.norm.cdf(0.5 / std)
    assert abs(right - allowed) < 6.5 * math.sqrt(allowed * (1 - allowed) / len(answers))


@pytest.mark.parametrize("unit", ["0.0000000003", "0.000001"])
def test_the_last_digits_do_not_depend_on_the_answer(unit: str) -> None:
    """A chi-square test on the last five bits of 10⁵ messages, yes against no; by chance it fails once in 10¹⁰ runs."""
    answers, shown = guesses(100_000, 1.0, Unit(unit))
    counts = [np.bincount(shown[answers == answer] & 31, minlength=32) for answer in (0, 1)]
    assert stats.chi2_contingency(counts).pvalue > 1e-10
