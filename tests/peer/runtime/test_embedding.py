"""Peers inside other programs: networks for their tests, loops over rounds, threads, kills, and one that learns."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import InvalidParameter, PeerError, TopicClosed, TopicUnfinished
from sottovoce.peer import Average, BlockingPeer, Peer
from sottovoce.peer.runtime import blocking, records
from sottovoce.peer.runtime.releasing import released_name
from sottovoce.peer.store import Identity
from sottovoce.peer.store.sqlite import SqliteStore
from sottovoce.privacy import Release
from sottovoce.testing import LocalNetwork, VirtualClock, run_virtually

from .town import Town, virtually

THREE = ["ada", "bob", "cyd"]


@virtually
async def test_a_loop_over_rounds() -> None:
    """Each round is a topic of its own, named after the loop and its number."""
    async with LocalNetwork(THREE) as net:

        async def halve(name: str) -> list[float]:
            value, seen = float(THREE.index(name)), []
            async for step in net[name].rounds("loop", 3):
                value = (await step.average(value)).mean / 2.0
                seen.append(round(value, 3))
            return seen

        assert await asyncio.gather(*map(halve, THREE)) == [[0.5, 0.25, 0.125]] * 3
        assert sorted(net["ada"].topics()) == ["loop/1", "loop/2", "loop/3"]
        with pytest.raises(InvalidParameter, match="count must be"):
            await anext(net["ada"].rounds("loop", 0))
        assert [step.number async for step in net["ada"].rounds("loop", np.int64(2))] == [1, 2]


@virtually
async def test_a_round_does_not_show_its_weight() -> None:
    """A program that logs where it is must not log of how many patients it tells."""
    async with LocalNetwork(THREE) as net:
        assert repr(await anext(net["ada"].rounds("loop", 3, weight=61.77))) == "Round(number=1)"


@virtually
async def test_a_loop_whose_last_round_can_have_no_name_does_not_begin() -> None:
    """It ended in the tenth round, after nine had been averaged; a loop without a name was called "None"."""
    agreed = Release(epsilon=2.0, delta=1e-6, low=0.0, high=10.0, unit="0.000001", honest=3)
    longest = 255 - len(released_name("x", agreed, 3))  # so that there is room for "/9"
    async with LocalNetwork(THREE) as net:
        for name, release in (("x" * 254, None), ("x" * longest, agreed), (None, None)):
            with pytest.raises(InvalidParameter, match="topic must be printable text of 1 to 256"):
                await anext(net["ada"].rounds(name, 10, release=release, timeout=0.1))
            assert (await anext(net["ada"].rounds(str(name), 9, release=release, timeout=0.1))).number == 1
        assert net["ada"].topics() == {}


@virtually
async def test_members_join_and_leave_between_topics() -> None:
    """Whoever is there contributes: with "drop" each topic names its own members."""
    async with LocalNetwork(["ada", "bob", "cyd", "dan"]) as net:

        async def average(topic: str, names: list[str]) -> set[tuple[str, ...]]:
            calls = [net[name].average(1.0, topic=topic, timeout=10, missing="drop") for name in names]
            return {answer.contributors for answer in await asyncio.gather(*calls)}

        assert await average("one", ["ada", "bob", "cyd"]) == {("ada", "bob", "cyd")}
        assert await average("two", ["bob", "cyd", "dan"]) == {("bob", "cyd", "dan")}
        assert await average("three", net.names) == {("ada", "bob", "cyd", "dan")}


@virtually
async def test_a_cancelled_call_leaves_the_contribution_in_place() -> None:
    """Whoever stops waiting has still contributed: the others get their answer, and so does a second call."""
    async with LocalNetwork(THREE) as net:
        first = asyncio.ensure_future(net["ada"].average(3.0, topic="t"))
        await asyncio.sleep(0.5)
        first.cancel()
        others = await asyncio.gather(*(net[name].average(0.0, topic="t") for name in ("bob", "cyd")))
        again = await net["ada"].average(3.0, topic="t")
        assert {answer.mean for answer in others} == {again.mean}
        assert abs(again.mean - 1.0) < 1e-3


@virtually
async def test_a_killed_process_and_a_lost_disk_do_not_change_the_mean() -> None:
    """Killed with and without its disk while the topic is open, each peer contributes again and all agree."""
    async with LocalNetwork(THREE, noise_decay=0.9) as net:
        calls = [asyncio.ensure_future(net[name].average(1.0 * k, topic="t")) for k, name in enumerate(THREE)]
        for lose_disk in (False, True):
            await asyncio.sleep(0.5)
            await net.kill("bob", lose_disk=lose_disk)
            with pytest.raises(PeerError, match="stopped"):
                await calls[1]
            await net.start("bob")
            calls[1] = asyncio.ensure_future(net["bob"].average(1.0, topic="t"))
        found = await asyncio.gather(*calls)
        assert {answer.number for answer in found} == {3}
        assert all(abs(answer.mean - 1.0) <= answer.plus_minus for answer in found)


@virtually
async def test_closing_a_peer_ends_its_calls() -> None:
    """A call that waits when its peer is closed does not hang: it says that the peer was stopped."""
    async with LocalNetwork(THREE) as net:
        waiting = asyncio.ensure_future(net["ada"].average(1.0, topic="t"))
        await asyncio.sleep(1.0)
        await net["ada"].close()
        with pytest.raises(PeerError, match="what was contributed stays"):
            await waiting


@virtually
async def test_a_topic_begun_while_its_peer_is_closed_is_refused() -> None:
    """Nobody would end it, and without a time-out the call would wait for ever; nothing is contributed."""
    async with LocalNetwork(THREE) as net:
        ada = net["ada"]
        waiting = asyncio.ensure_future(ada.average(1.0, topic="before"))
        await asyncio.sleep(1.0)
        closing = asyncio.ensure_future(ada.close())
        while not waiting.done():
            await asyncio.sleep(0)
        with pytest.raises(PeerError, match="stopped; nothing was contributed to topic 'meanwhile'"):
            await asyncio.wait_for(ada.average(1.0, topic="meanwhile"), 60)
        await closing
        with pytest.raises(PeerError, match="stopped; nothing was contributed to topic 'after'"):
            await asyncio.wait_for(ada.average(1.0, topic="after"), 60)
        assert list(ada.topics()) == ["before"]


@virtually
async def test_a_peer_is_entered_once() -> None:
    """Entered by two parts of a program it took its own connections away, and the first could not go on."""
    async with LocalNetwork(THREE) as net:
        with pytest.raises(PeerError, match="in one `async with` only, once: make another one"):
            async with net["ada"]:
                pass
        answers = await asyncio.gather(*(net[name].average(1.0, topic="t") for name in THREE))
        assert {answer.number for answer in answers} == {3}
        ada = net["ada"]
    with pytest.raises(PeerError, match="make another one"):
        await ada.__aenter__()


@virtually
async def test_a_call_from_another_event_loop_is_refused() -> None:
    """It contributed, waited for ever, and took the peer's connections with it; the peer goes on as if it never was."""
    async with LocalNetwork(THREE) as net:
        ada = net["ada"]
        for call in (lambda: ada.average(61.77, topic="t"), ada.quiet, ada.settled, lambda: ada.set_value(61.77)):
            elsewhere = threading.Thread(target=_refused_elsewhere, args=(call, said := []))
            elsewhere.start()
            elsewhere.join()
            assert [text.split(":")[0] for text in said] == [
                "a peer is called in the event loop in which it was started"
            ]
        assert ada.topics() == {}
        answers = await asyncio.gather(*(net[name].average(1.0, topic="t") for name in THREE))
        assert {answer.number for answer in answers} == {3}


def _refused_elsewhere(call: Callable[[], Coroutine[Any, Any, Any]], said: list[str]) -> None:
    try:
        asyncio.run(asyncio.wait_for(call(), 0.5))
    except Exception as error:
        said.append(str(error))


@virtually
async def test_old_answers_are_forgotten_and_their_names_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last answers are kept; an older topic stays closed for ever, and no second average is made of it."""
    monkeypatch.setattr(records, "KEPT_ANSWERS", 2)
    monkeypatch.setattr(records, "KEPT_NUMBERS", 2)
    async with LocalNetwork(THREE) as net:
        for number in range(4):
            await asyncio.gather(*(net[name].average(1.0, topic=str(number)) for name in THREE))
            await asyncio.sleep(20.0)
        assert isinstance(await net["ada"].average(1.0, topic="3"), Average)
        with pytest.raises(TopicClosed, match="kept here no more"):
            await net["ada"].average(1.0, topic="0")


@virtually
async def test_a_clock_that_is_put_back_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """By it new topics seemed the oldest: the answer of each was forgotten when it had ended."""
    monkeypatch.setattr(records, "KEPT_ANSWERS", 2)
    monkeypatch.setattr(records, "KEPT_NUMBERS", 2)
    stamp, ahead = VirtualClock.stamp, [10**12 << 16]
    monkeypatch.setattr(VirtualClock, "stamp", lambda clock: stamp(clock) + ahead[0])
    async with LocalNetwork(THREE) as net:
        for topic in ("before", "also before", "after", "also after"):
            if topic == "after":
                ahead[0] = 0
            await asyncio.gather(*(net[name].average(1.0, topic=topic) for name in THREE))
            await asyncio.sleep(20.0)
        assert set(net["ada"].topics().values()) == {"closed"}
        for topic in ("after", "also after"):
            assert isinstance(await net["ada"].average(1.0, topic=topic), Average)
        with pytest.raises(TopicClosed, match="kept here no more"):
            await net["ada"].average(1.0, topic="before")


@virtually
async def test_a_peer_for_topics_only_has_no_standing_value_to_change() -> None:
    """A value given to it would be stored, and averaged by nobody."""
    async with LocalNetwork(THREE) as net:
        with pytest.raises(InvalidParameter, match="value must be left out") as refused:
            await net["ada"].set_value(41.5)
    assert "41.5" not in str(refused.value)


def test_a_peer_in_a_thread() -> None:
    """Plain Python: a blocking call gets the same answer as the others; a time-out is an ordinary exception."""
    net = LocalNetwork(THREE, rate=50.0, timeout=0.5, noise_decay=0.3, grace=0.2)
    ada = BlockingPeer(net.config("ada"), standing=False, make=lambda *_, **__: net.peer("ada"))
    with pytest.raises(PeerError, match="use `with`"):
        ada.average(1.0, topic="t")
    with ada:
        others = [ada._run(net.start(name)) for name in ("bob", "cyd")]
        with pytest.raises(TopicUnfinished):
            ada.average(1.0, topic="alone", timeout=0.3)
        calls = [asyncio.run_coroutine_threadsafe(other.average(0.0, topic="t"), ada._loop) for other in others]
        found = ada.average(3.0, topic="t", timeout=60)
        assert {call.result(60).mean for call in calls} == {found.mean}
        assert abs(found.mean - 1.0) < 1e-3
        assert ada.topics() in [{"alone": "open", "t": state} for state in ("open", "closed")]
        agreed = Release(epsilon=2.0, delta=1e-6, low=0.0, high=10.0, unit="0.000001", honest=3)
        with pytest.raises(TopicUnfinished):
            ada.average(1.0, topic="alone", release=agreed, timeout=0.3)
        assert ada.released() == {"topics": agreed.cost(3)}
        for other in others:
            ada._run(other.close())
    assert not ada._thread.is_alive()
    with pytest.raises(PeerError, match="once: make another one"), ada:
        pass


def a_blocking_ada() -> BlockingPeer:
    net = LocalNetwork(THREE)
    return BlockingPeer(net.config("ada"), standing=False, make=lambda *_, **__: net.peer("ada"))


def refused(call: Callable[[], Any], said: list[str]) -> threading.Thread:
    """A thread that writes down how a call was refused."""

    def work() -> None:
        try:
            call()
        except PeerError as error:
            said.append(str(error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_no_thread_waits_for_ever_for_a_peer_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that came while the peer was closed, or did not end with it, was left in a loop that had stopped."""
    said: list[str] = []
    threads: list[threading.Thread] = []
    ada, close = a_blocking_ada(), Peer.close

    async def closed_as_another_calls(peer: Peer) -> None:
        await close(peer)
        threads.append(refused(lambda: ada.average(1.0, topic="t"), said))
        threads[-1].join(0.3)

    monkeypatch.setattr(Peer, "close", closed_as_another_calls)
    monkeypatch.setattr(blocking, "_PATIENCE", 0.2)
    with ada:
        threads.append(refused(lambda: ada._run(asyncio.sleep(3600)), said))
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)
    assert sorted(said) == [
        "the peer does not run: use `with`",
        "the peer has been stopped; what was contributed stays",
    ]


def test_a_thread_may_put_a_later_roster_to_use() -> None:
    """Without asyncio, too, and in the peer's own thread."""
    with a_blocking_ada() as ada:
        used: list[threading.Thread] = []

        async def follow_roster() -> str:
            used.append(threading.current_thread())
            return ""

        ada._peer.__dict__["follow_roster"] = follow_roster
        assert ada.follow_roster() == ""
        assert used == [ada._thread]


def test_a_thread_may_look_while_another_averages() -> None:
    """What is looked at changed meanwhile, now and then: "dictionary changed size during iteration"."""
    with a_blocking_ada() as ada:
        seen = {name: [] for name in ("status", "topics", "accounts", "released")}
        for name, threads in seen.items():
            ada._peer.__dict__[name] = lambda threads=threads: threads.append(threading.current_thread())
            getattr(ada, name)()
        assert seen == {name: [ada._thread] for name in seen}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_that_was_forked_is_told_to_make_a_peer_of_its_own() -> None:
    """The thread that would answer is not there: the call hung, and so did the end of the ``with``."""
    reading, writing = os.pipe()
    with a_blocking_ada() as ada:
        child = os.fork()
        if child == 0:
            try:
                with contextlib.suppress(BaseException):
                    signal.alarm(10)
                    refused(lambda: ada.average(1.0, topic="t"), said := []).join(5)
                    ada.__exit__(None, None, None)
                    os.write(writing, " ".join(said).encode())
            finally:
                os._exit(0)
        os.close(writing)
        assert os.waitpid(child, 0)[1] == 0
        with pytest.raises(TopicUnfinished):
            ada.average(1.0, topic="t", timeout=0.1)
    with os.fdopen(reading) as said_there:
        assert "in the process that made it" in said_there.read()


@virtually
async def test_what_is_no_time_is_refused_in_a_sentence() -> None:
    """Text ended in a traceback, and what is not a number in no time-out at all."""
    async with LocalNetwork(THREE) as net:
        for timeout in ("60", float("nan"), -1.0):
            for call in (net["ada"].quiet, net["ada"].settled):
                with pytest.raises(InvalidParameter, match="timeout must be a finite number of seconds"):
                    await call(timeout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@virtually
async def test_a_child_of_a_fork_does_not_close_its_parents_peer() -> None:
    """It leaves the ``async with`` when it ends, and would say goodbye over the parent's connections."""
    async with LocalNetwork(THREE) as net:
        assert _closed_in_a_child(net["ada"])
        answers = await asyncio.gather(*(net[name].average(1.0, topic="t") for name in THREE))
        assert {answer.number for answer in answers} == {3}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_peer_that_was_made_before_a_fork_is_closed_where_it_is_used(tmp_path: Path) -> None:
    """A server makes its peers and forks a worker for each: closing one did nothing there, and kept its store."""
    peer = Town(2, folder=tmp_path).peer("p0")

    async def use() -> None:
        async with peer:
            pass

    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            run_virtually(use())
            SqliteStore(tmp_path / "p0", Identity("town", "p0", 1, peer.config.unit)).close()
            code = 0
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_blocking_peer_that_was_made_before_a_fork_does_not_start_after_it() -> None:
    """Its loop is the other process's: it began there, refused every call, and was never closed."""
    peer = a_blocking_ada()
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            try:
                peer.__enter__()
            except PeerError as error:
                code = int("in the process that made it" not in str(error))
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    peer._loop.close()


def _closed_in_a_child(peer: Peer) -> bool:
    """Whether closing it there ends at once."""
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            try:
                peer.close().send(None)
            except StopIteration:
                code = 0
        os._exit(code)
    return os.waitpid(child, 0)[1] == 0


@virtually
async def test_a_time_out_may_be_a_number_of_numpy() -> None:
    """It comes from a configuration or a computation as often as from a keyboard."""
    async with LocalNetwork(THREE) as net:
        for timeout in (np.float32(1.0), np.int64(1)):
            with pytest.raises(TopicUnfinished, match="after 1 s"):
                await net["ada"].average(1.0, topic="t", timeout=timeout)
