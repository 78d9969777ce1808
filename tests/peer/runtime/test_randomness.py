"""Noise from the operating system: Gaussian, fresh, and never from a seed."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sottovoce.peer
from sottovoce.peer.runtime import randomness
from sottovoce.peer.runtime.node import Peer
from sottovoce.peer.runtime.randomness import system_coins, system_noise

SIZES = [0.07, 0.6, 7.0, 400.0, 9000.0, 1e5, 1e6, 3e9]
"""One look-up, two looks and all digits, and the ends of each.

Draws are others in every run, so what is said of many holds but for chances of 10⁻⁹ and less.
"""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [400, 100_000])
def test_it_is_a_rounded_normal_number(size: float, count: int) -> None:
    """A chi-square test: equally likely shares of the line, or single whole numbers where those are few."""
    noise = system_noise(count, size)
    assert noise.dtype == np.int64
    ends = np.unique(np.rint(size * stats.norm.isf(np.arange(1, 64) / 64.0))) - 0.5
    expected = count * np.diff(stats.norm.cdf(np.concatenate([[-np.inf], ends, [np.inf]]) / size))
    seen = np.bincount(np.searchsorted(ends, noise), minlength=expected.size)
    likely = expected > 5.0
    shares = [np.append(one[likely], one[~likely].sum()) for one in (seen, expected)]
    surprise = ((shares[0] - shares[1]) ** 2 / np.maximum(shares[1], 1.0)).sum()
    assert stats.chi2.sf(surprise, max(likely.sum(), 1)) > 1e-12


@pytest.mark.parametrize("size", SIZES)
def test_one_number_is_made_like_many(size: float) -> None:
    """The way for a single number gives normal ones, too, and both signs."""
    noise = np.concatenate([system_noise(1, size) for _ in range(2000)])
    spread = (noise + np.random.default_rng(0).uniform(-0.5, 0.5, size=noise.size)) / size
    if size > 100.0:
        assert stats.kstest(spread, "norm").pvalue > 1e-10
    share = 2.0 * stats.norm.sf(0.5 / size)
    assert abs((noise != 0).mean() - share) < 6.0 * (share / noise.size) ** 0.5
    assert abs(np.sign(noise).sum()) < 6.0 * noise.size**0.5


@pytest.mark.parametrize("word", [0, 1, 2**128 - 1, 2**128 - 2, 12345 << 100])
def test_the_single_number_is_that_of_its_words(word: int) -> None:
    """The lowest bit is the sign, the others are the digits; all zeros and all ones are finite."""
    size = 2.0**32
    expected = size * stats.norm.isf(((word >> 1) + 1) * 2.0**-128) * (1 - 2 * (word & 1))
    assert abs(randomness._one(word, size) - expected) < 0.51 + abs(expected) * 2.0**-48


@pytest.mark.parametrize("count", [1, 2, 3, 1000, 5000])
def test_it_gives_as_many_as_asked_and_never_the_same(count: int) -> None:
    """Any length, odd ones too; two calls differ."""
    first, second = system_noise(count, 1e9), system_noise(count, 1e9)
    assert first.shape == second.shape == (count,)
    assert not np.array_equal(first, second)


def with_the_rest(monkeypatch: pytest.MonkeyPatch, filled: int) -> None:
    """From now on all digits that are asked for are zeros, or ones."""

    def words(kind: str, count: int) -> Any:
        return np.full(count, -filled, dtype=np.int64).astype(kind)

    monkeypatch.setattr(randomness, "_words", words)


@pytest.mark.parametrize("filled", [0, 1])
@pytest.mark.parametrize("size", [0.07, 0.6, 7.0, 33.3, 400.0, 8000.0])
def test_the_first_digits_decide_only_what_no_further_digit_changes(
    size: float, filled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All beginnings, with the least and with the greatest end: z falls, so what both give all others give."""
    with_the_rest(monkeypatch, filled)
    first = np.arange(2**16, dtype=np.uint16)
    expected = randomness._all_digits(first, np.full(first.shape, -filled).astype(np.uint16), size)
    np.testing.assert_array_equal(randomness._by_table(first, size), expected)


@pytest.mark.parametrize("filled", [0, 1])
@pytest.mark.parametrize("size", [3.0, 9000.0, 1e5, 1e6])
def test_the_second_digits_decide_only_what_no_further_digit_changes(
    size: float, filled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for every cell and 40 places in each, the ends among them; and they do decide nearly all."""
    with_the_rest(monkeypatch, filled)
    places = np.concatenate([[0, 1, 2**15, 2**16 - 2, 2**16 - 1], np.random.default_rng(0).integers(2**16, size=35)])
    cell = np.repeat(np.arange(2**15, dtype=np.uint16), places.size)
    second = np.tile(places, 2**15).astype(np.uint16)
    amount, unknown = randomness.second_guess(cell, second, size)
    known = np.ones(cell.size, dtype=bool)
    known[unknown] = False
    np.testing.assert_array_equal(amount[known], randomness._all_digits(cell[known], second[known], size))
    assert known.mean() > 0.97


@pytest.mark.parametrize(("size", "most"), [(0.5, 2.01), (100.0, 2.1), (5000.0, 3.0), (1e5, 4.1), (1e8, 8.1)])
def test_only_digits_that_matter_are_asked_for(size: float, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes from the operating system for each of 10⁵ numbers; what is asked for ahead is for later draws."""
    monkeypatch.setattr(randomness, "MANY", 10**9)
    asked = []

    def counted(count: int) -> bytes:
        asked.append(count)
        return system(count)

    system = os.urandom
    monkeypatch.setattr(os, "urandom", counted)
    system_noise(100_000, size)
    assert sum(asked) < most * 100_000


@pytest.mark.parametrize("count", [1, 7, 8, 100_000])
def test_coins_are_fair_bits(count: int) -> None:
    """As many as asked, only 0 and 1, and half of many are 1 (R44)."""
    coins = system_coins(count)
    assert coins.shape == (count,)
    assert coins.dtype == np.int64
    assert set(coins.tolist()) <= {0, 1}
    heads = sum(int(system_coins(count).sum()) for _ in range(max(1, 10_000 // count)))
    flips = count * max(1, 10_000 // count)
    assert abs(heads - flips / 2) < 3 * flips**0.5


def test_a_real_peer_draws_from_the_operating_system() -> None:
    """No module of the peer imports or calls NumPy's or Python's seeded generators."""
    assert Peer._draw(object()) is system_noise  # type: ignore[arg-type]
    assert Peer._coin(object()) is system_coins  # type: ignore[arg-type]
    for path in Path(sottovoce.peer.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not names & {"default_rng", "standard_normal", "Random", "RandomState", "gauss"}, path


@pytest.mark.parametrize("size", [100.0, 8000.0, 1e5, 3e6])
def test_only_as_many_are_asked_for_ahead_as_will_be_needed_again(size: float) -> None:
    """Lengths that depend on chance are not: the next draw has another."""
    source = randomness._AHEAD
    for _ in range(3):
        system_noise(300_000, size)
    assert 600_000 in source._ready
    system_noise(300_000, size)
    assert [length for length in source._ready if length % 2000] == []
