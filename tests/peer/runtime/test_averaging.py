"""One average as a program asks for it: what is refused before it is contributed, and how the answer is read."""

from __future__ import annotations

import asyncio
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import InvalidParameter, InvalidValues
from sottovoce.peer.runtime.asking import check_same
from sottovoce.peer.runtime.averaging import Question
from sottovoce.peer.store.base import TopicRecord
from sottovoce.privacy import Release
from sottovoce.testing import LocalNetwork, run_virtually

NAMES = ["ada", "bob", "cyd"]
CONFIG = LocalNetwork(NAMES).config("ada")


@pytest.mark.parametrize(
    "weight", [-61.77, "61.77 kg", 0.0, float("nan"), float("inf"), [61.77], True, 10**400, 6177e3]
)
def test_a_bad_weight_is_refused_and_not_shown(weight: Any) -> None:
    """A weight tells of whom a value is about: how many patients, how much money."""
    with pytest.raises(InvalidParameter, match="weight must be a positive number") as refused:
        Question.of(1.0, weight, CONFIG)
    assert "61" not in str(refused.value)


def test_a_weight_beside_a_release_is_not_shown() -> None:
    """It is refused, whatever it is."""
    agreed = Release(epsilon=2.0, delta=1e-6, low=0.0, high=10.0, unit="0.000001", honest=3)

    async def call() -> None:
        async with LocalNetwork(NAMES) as net:
            with pytest.raises(InvalidParameter, match="weight must be left out") as refused:
                await net["ada"].average(1.0, topic="t", weight=61.77, release=agreed)
            assert "61" not in str(refused.value)

    run_virtually(call())


@pytest.mark.parametrize("weight", [2, np.float32(2.0), np.int64(2), Fraction(2)])
def test_a_weight_may_be_any_real_number(weight: Any) -> None:
    """Those of numpy, too."""
    assert np.array_equal(Question.of(3.0, weight, CONFIG).vector, Question.of(3.0, 2.0, CONFIG).vector)


def test_a_weight_that_is_rounded_to_nothing_is_refused() -> None:
    """It would weigh nothing; one of a single unit does."""
    with pytest.raises(
        InvalidParameter, match=r"weight must be larger: in units of 0\.000001 it would be rounded to 0"
    ):
        Question.of(1.0, 1e-12, CONFIG)
    assert Question.of(1.0, 1e-6, CONFIG).vector.tolist() == [1, 1]


def test_the_message_says_whether_it_is_the_weight_or_the_product() -> None:
    """And counts the coordinates of the value, not those of what is contributed."""
    with pytest.raises(InvalidValues, match=r"coordinate 1 of the private value, times the weight, lies outside"):
        Question.of([1.0, 100.0], 11.0, CONFIG)
    with pytest.raises(InvalidValues, match="coordinate 1 of the private value is not a finite number"):
        Question.of([1.0, float("inf")], 11.0, CONFIG)


@pytest.mark.parametrize("weight", [None, 2.0])
@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"w": np.ones((2, 3)), "b": [1.0, math.nan]}, r"value\['b'\]\[1\] is not a finite number"),
        ({"w": np.array([[1.0, 1.0], [math.nan, 1.0]]), "b": 1.0}, r"value\['w'\]\[1, 0\] is not a finite number"),
        ([{"x": 1.0}, (2.0, np.array(1e9))], r"value\[1\]\[1\](, times the weight,)? lies outside"),
        (np.full((2, 2), 1e9), r"value\[0, 0\](, times the weight,)? lies outside the declared range"),
    ],
)
def test_a_bad_number_in_a_tree_is_found_by_its_place(value: Any, where: str, weight: float | None) -> None:
    """A model has many arrays; the number itself is not told."""
    with pytest.raises(InvalidValues, match=f"^{where}"):
        Question.of(value, weight, CONFIG)


def test_a_value_that_is_too_long_with_its_weight_is_told_so() -> None:
    """It has as many numbers as a value may have, and was told that it has one more."""
    config = LocalNetwork(NAMES, longest_topic=3).config("ada")
    assert len(Question.of([1.0] * 3, None, config).vector) == 3
    with pytest.raises(InvalidParameter, match="at most longest_topic = 3 numbers, its weight included, got 4"):
        Question.of([1.0] * 3, 2.0, config)


def weighted(values: list[float], weights: list[float]) -> list[Any]:
    """What becomes of three weighted calls."""

    async def calls() -> list[Any]:
        async with LocalNetwork(NAMES) as net:
            three = zip(net, values, weights, strict=True)
            waiting = [net[name].average(v, topic="t", weight=w, timeout=60.0) for name, v, w in three]
            return await asyncio.gather(*waiting, return_exceptions=True)

    return run_virtually(calls())


@pytest.mark.parametrize(
    "weights", [[1.0, 2.0, 3.0], [0.01, 0.001, 0.003], [0.0015, 0.0002, 1e-6], [300.0, 1e-6, 200.0]]
)
def test_the_bound_holds_for_the_quotient(weights: list[float]) -> None:
    """Small weights give a wide bound, and the weighted mean is within it."""
    values = [1.0, 2.0, 3.0]
    exact = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
    for answer in weighted(values, weights):
        assert abs(answer.mean - exact) <= answer.plus_minus
    assert weighted(values, [100.0, 100.0, 100.0])[0].plus_minus < 2e-5


def test_the_bound_holds_for_arrays_of_32_bits() -> None:
    """Near 1000 they hold four digits behind the point, and a network may agree to within fewer."""
    values = [999.1, 998.3, 997.7]

    async def calls() -> list[Any]:
        async with LocalNetwork(NAMES, tolerance=1e-5) as net:
            three = [{"w": np.array([value], dtype=np.float32), "b": value} for value in values]
            return await asyncio.gather(
                *(net[name].average(tree, topic="t") for name, tree in zip(net, three, strict=True))
            )

    exact = sum(Fraction(str(float(np.float32(value)))) for value in values) / 3
    for answer in run_virtually(calls()):
        assert answer.mean["w"].dtype == np.float32
        assert abs(Fraction(float(answer.mean["w"][0])) - exact) <= Fraction(answer.plus_minus)


def test_weights_that_may_be_nothing_give_no_answer() -> None:
    """Their mean is smaller than its error: the quotient could be anything."""
    for answer in weighted([1.0, 2.0, 3.0], [1e-6, 1e-6, 1e-6]):
        assert isinstance(answer, InvalidParameter)
        assert "multiply all weights by the same number" in str(answer)


CLOSED: list[tuple[Any, dict[str, Any], Any, dict[str, Any], str]] = [
    (1.0, {}, [1.0, 2.0], {}, r"begun here with shape \(\), got \(2,\); take another topic"),
    (1.0, {}, {"x": 1.0, "y": 2.0}, {}, "got tree"),
    (1.0, {}, 1.0, {"weight": 2.0}, r"got weighted \(\)"),
    (1.0, {"weight": 2.0}, [2.0, 2.0], {}, r"with shape weighted \(\), got \(2,\)"),
    ([1.0, 2.0, 3.0, 4.0], {}, {"x": 1.0, "y": 2.0}, {}, "begun here with shape"),
    ([1.0, 2.0, 3.0, 4.0], {}, np.ones((2, 2)), {}, r"got \(2, 2\)"),
    ({"a": 1.0, "b": 2.0}, {}, {"a": 1.0, "c": 2.0}, {}, "got tree"),
    (1.0, {}, 1.0, {"missing": "drop"}, "missing must be 'wait' for topic 't', got 'drop'"),
    (1.0, {}, 1.0, {"missing": "bogus"}, "missing must be 'wait' for topic 't', got 'bogus'"),
]


@pytest.mark.parametrize("ended", [False, True], ids=["open", "ended"])
@pytest.mark.parametrize(("value", "how", "other", "otherwise", "words"), CLOSED)
def test_a_topic_is_not_read_in_another_shape(
    value: Any, how: Any, other: Any, otherwise: Any, words: str, ended: bool
) -> None:
    """Open or ended, asked for as something else it gives no numbers that stand for something else."""

    async def ask() -> None:
        async with LocalNetwork(NAMES) as net:
            calls = [
                net[name].average(value, topic="t", timeout=60.0, **how) for name in (NAMES if ended else NAMES[:1])
            ]
            if ended:
                await asyncio.gather(*calls)
                await net["ada"].quiet(60.0)
                await asyncio.sleep(5.0)
                assert net["ada"].topics() == {"t": "closed"}
            else:
                open_ended = asyncio.ensure_future(calls[0])
                await asyncio.sleep(1.0)
            with pytest.raises(InvalidParameter, match=words):
                await net["ada"].average(other, topic="t", timeout=5.0, **otherwise)
            if not ended:
                open_ended.cancel()

    run_virtually(ask())


def test_an_ended_topic_gives_its_answer_whatever_the_value() -> None:
    """The contribution is deleted with the ledgers, and nothing is kept that tells a right value from a wrong one."""

    async def ask() -> None:
        async with LocalNetwork(NAMES) as net:
            first = (await asyncio.gather(*(net[name].average(1.0, topic="t") for name in NAMES)))[0]
            with pytest.raises(InvalidParameter, match="cannot be changed"):
                await net["ada"].average(100.0, topic="t")
            await asyncio.sleep(20.0)
            assert await net["ada"].average(100.0, topic="t") == first

    run_virtually(ask())


def test_a_topic_of_before_shapes_were_kept_is_compared_by_its_length() -> None:
    """Its record says how many numbers there are, and no more."""
    record = TopicRecord("t", 2, "wait", "s", ended=1)
    check_same(record, None, np.zeros(2, dtype=np.int64), shape="weighted ()", missing="wait", secret=record.secret)
    with pytest.raises(InvalidParameter, match="begun here with 2 numbers, got 1;"):
        check_same(record, None, np.zeros(1, dtype=np.int64), shape="()", missing="wait", secret=record.secret)
