"""Computation stays bounded: pages take turns, slices are short, what nobody waits for stops."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time

import pytest

from sottovoce.errors import Unsupported
from sottovoce.studio.thinking import Thinkers
from sottovoce.studio.turns import Turns

from .helpers import Visitor


def served(asked: list[str]) -> list[str]:
    """In which order one place is given to pages that all wait at once."""
    order: list[str] = []

    async def one(turns: Turns, page: str) -> None:
        async with turns.turn(page):
            order.append(page)
            await asyncio.sleep(0)

    async def main() -> None:
        turns = Turns(1)
        async with turns.turn("first"):
            waiting = [asyncio.ensure_future(one(turns, page)) for page in asked]
            await asyncio.sleep(0)
        await asyncio.gather(*waiting)

    asyncio.run(main())
    return order


def test_a_page_that_asks_for_much_waits_behind_one_that_asks_for_little() -> None:
    """However much came first: one thing of every page in each round."""
    assert served([*"aaaa", *"bb", "c"]) == ["a", "b", "c", "a", "b", "a", "a"]


def test_a_place_is_not_lost_when_whoever_waits_goes_away() -> None:
    """Cancelled before its turn, or in the very moment in which it comes."""

    async def main() -> None:
        for moment in range(4):
            turns = Turns(1)
            await turns.take("holder")
            waiter = asyncio.ensure_future(turns.take("gone"))
            await asyncio.sleep(0)
            if moment % 2:
                turns.give_back()
            waiter.cancel()
            await asyncio.gather(waiter, return_exceptions=True)
            if not moment % 2:
                turns.give_back()
            await asyncio.wait_for(turns.take("next"), 60)

    asyncio.run(main())


def test_a_question_that_takes_too_long_is_given_up() -> None:
    """With a sentence, and the next one is answered by a fresh process."""

    async def main() -> int:
        thinkers = Thinkers(1, deadline=200.0)
        await thinkers.think(abs, -1)  # the process has started
        thinkers._deadline = 0.3
        with pytest.raises(Unsupported, match="given up"):
            await thinkers.think(time.sleep, 600)
        thinkers._deadline = 200.0
        answer = await thinkers.think(abs, -2)
        thinkers.close()
        return answer

    assert asyncio.run(main()) == 2


def test_a_process_that_died_meanwhile_is_replaced() -> None:
    """Killed by the system between two questions: the next question is answered, and so is the one after it."""

    async def main() -> list[int]:
        thinkers = Thinkers(1)
        first = await thinkers.think(os.getpid)
        os.kill(first, signal.SIGKILL)
        (pool,) = thinkers._large.all
        while not pool._broken:  # as soon as its manager has seen it
            await asyncio.sleep(0.01)
        found = [first, await thinkers.think(os.getpid), await thinkers.think(os.getpid)]
        thinkers.close()
        return found

    first, second, third = asyncio.run(main())
    assert first != second == third


def test_processes_are_warm_before_anybody_asks() -> None:
    """The one for small questions first; then the others, and whatever was to come after it."""
    called = threading.Event()
    thinkers = Thinkers(1)
    thinkers.warm_up(then=called.set)
    assert called.wait(200)

    async def loaded() -> bool:
        return "sottovoce.studio.meter" in await thinkers.think(_modules)

    assert asyncio.run(loaded())
    thinkers.close()


def _modules() -> list[str]:
    return list(sys.modules)


def test_small_questions_do_not_wait_for_large_ones() -> None:
    """All processes for large questions are busy, and a small one is answered."""

    async def main() -> int:
        thinkers = Thinkers(1)
        large = asyncio.ensure_future(thinkers.think(time.sleep, 600))
        await asyncio.sleep(0)
        answer = await thinkers.think(abs, -3, small=True)
        assert not large.done()
        thinkers.close()
        large.cancel()
        await asyncio.gather(large, return_exceptions=True)
        return answer

    assert asyncio.run(main()) == 3


def test_long_work_says_so(page: object) -> None:
    """Running far ahead is announced with a share that grows, and ended with a word."""
    with page() as socket:  # type: ignore[operator]
        visitor = Visitor(socket)
        visitor.set_up(graph="torus:200x200", methods=["synchronous"], num_steps=10**8)
        visitor.say(type="seek", step=10**8)
        shares: list[float] = []
        while len(shares) < 2:  # no share is known before the first slice is done
            share = visitor.until("working", about="play", over=False)["share"]
            shares.extend([share] if share is not None else [])
        assert 0.0 < shares[0] < shares[1] < 1.0
        visitor.say(type="pause")
        visitor.until("working", about="play", over=True)
        visitor.until("paused")
