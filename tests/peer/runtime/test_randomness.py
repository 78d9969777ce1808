"""Noise from the operating system: Gaussian, fresh, and never from a seed."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import sottovoce.peer
from sottovoce.peer.runtime.node import Peer
from sottovoce.peer.runtime.randomness import _one_normal, normal_from_bytes, system_coins, system_normal


def test_it_is_standard_normal() -> None:
    """100,000 numbers pass a Kolmogorov–Smirnov test, and halves made from the same words are uncorrelated."""
    numbers = system_normal(100_000)
    assert stats.kstest(numbers, "norm").pvalue > 1e-6
    assert abs(np.corrcoef(numbers[:50_000], numbers[50_000:])[0, 1]) < 0.025


@pytest.mark.parametrize("count", [1, 2, 3, 1000])
def test_it_gives_as_many_as_asked_and_never_the_same(count: int) -> None:
    """Any length, odd ones too; two calls differ."""
    first, second = system_normal(count), system_normal(count)
    assert first.shape == second.shape == (count,)
    assert not np.array_equal(first, second)
    assert np.isfinite(first).all()


def test_one_number_is_made_like_many() -> None:
    """The shortcut for a single number gives what the transformation of arrays gives, to rounding."""
    for seed in range(50):
        words = np.random.default_rng(seed).integers(0, 2**64, size=3, dtype=np.uint64)
        expected = normal_from_bytes(words.tobytes())[0]
        assert _one_normal(*map(int, words)) == pytest.approx(expected, rel=1e-12)


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


def test_extreme_bytes_give_finite_numbers() -> None:
    """All zeros and all ones are the corners of the transformation."""
    for byte in (b"\x00", b"\xff"):
        assert np.isfinite(normal_from_bytes(byte * 48)).all()


def test_a_real_peer_draws_from_the_operating_system() -> None:
    """No module of the peer imports or calls NumPy's or Python's seeded generators."""
    assert Peer._draw(object()) is system_normal  # type: ignore[arg-type]
    assert Peer._coin(object()) is system_coins  # type: ignore[arg-type]
    for path in Path(sottovoce.peer.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not names & {"default_rng", "standard_normal", "Random", "RandomState", "gauss"}, path
