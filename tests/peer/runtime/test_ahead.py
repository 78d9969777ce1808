"""Random bytes asked for ahead: each from the system, each given away once, none kept for long or by a child."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from sottovoce.peer.runtime import ahead
from sottovoce.peer.runtime.ahead import Ahead

PATIENCE = 60.0


def wait_until(holds: Callable[[], bool]) -> None:
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.005)


def full(bytes_ahead: Ahead, length: int) -> bool:
    return len(bytes_ahead._ready.get(length, ())) == ahead._DEPTH


def test_every_piece_is_the_systems_and_is_given_away_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four threads take pieces of three lengths: none is the same as another, and all were asked of the system."""
    given: set[bytes] = set()
    real = os.urandom

    def urandom(length: int) -> bytes:
        content = real(length)
        given.add(content)
        return content

    monkeypatch.setattr(os, "urandom", urandom)
    source, taken = Ahead(), []

    def take() -> None:
        for k in range(300):
            taken.append(source.take(64 + k % 3))
            if k % 50 == 0:
                time.sleep(0.002)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(taken)) == len(taken) == 1200
    assert set(taken) <= given
    assert {len(piece) for piece in taken} == {64, 65, 66}


def test_pieces_are_ready_before_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first one the thread has the next ones: taking them asks the system nothing."""
    monkeypatch.setattr(ahead, "_SECONDS", PATIENCE)
    source = Ahead()
    source.take(100)
    wait_until(lambda: full(source, 100))
    ready = list(source._ready[100])
    assert source.take(100) == ready[0]


def test_few_lengths_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that were asked for last."""
    monkeypatch.setattr(ahead, "_SECONDS", PATIENCE)
    source = Ahead()
    for length in range(10, 30):
        assert len(source.take(length)) == length
        assert len(source._ready) <= ahead._LENGTHS
    assert list(source._ready) == [26, 27, 28, 29]


def test_what_nobody_takes_is_forgotten_and_the_thread_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a peer whose topics are over keeps nothing and does nothing; the next draw begins anew."""
    monkeypatch.setattr(ahead, "_SECONDS", 0.05)
    source = Ahead()
    for _ in range(2):
        source.take(100)
        thread = source._thread
        assert thread is not None
        thread.join(PATIENCE)
        assert not source._ready
        assert source._thread is None


def test_one_can_do_without_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be started, or ends by a fault: bytes come from the system all the same, and it is tried again."""
    source = Ahead()

    def no_threads(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_threads)
        assert len({source.take(50) for _ in range(5)}) == 5
    assert source._thread is None
    real, faults, quiet = os.urandom, [], threading.Event()

    def urandom(length: int) -> bytes:
        if threading.current_thread() is not threading.main_thread() and not faults:
            faults.append(length)
            raise OSError(5, "no entropy")
        return real(length)

    monkeypatch.setattr(threading, "excepthook", lambda _what: quiet.set())
    monkeypatch.setattr(os, "urandom", urandom)
    source.take(50)
    assert quiet.wait(PATIENCE)
    wait_until(lambda: source._thread is None)
    assert not source._ready
    source.take(50)
    wait_until(lambda: full(source, 50))


FORK = """
import os, time
from sottovoce.peer.runtime.ahead import _DEPTH, Ahead
source = Ahead()
source.take(32)
while len(source._ready[32]) < _DEPTH:
    time.sleep(0.005)
kept = list(source._ready[32])
child = os.fork()
pieces = [source.take(32).hex() for _ in range(_DEPTH)]
if child:
    os.waitpid(child, 0)
    assert pieces == [piece.hex() for piece in kept]
print(*pieces, sep="\\n", flush=True)
os._exit(0)
"""


def test_a_child_gets_other_bytes() -> None:
    """A process that forks does not share what was asked for ahead: the same noise twice would cancel."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    pieces = ran.stdout.split()
    assert len(pieces) == len(set(pieces)) == 2 * ahead._DEPTH
