"""Ctrl-C is never lost."""

from __future__ import annotations

import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from sottovoce.foundation.interrupting import remembered


class Thing:
    """Something that goes away."""


def go_away_with_ctrl_c() -> None:
    """Ctrl-C while Python runs a weak reference's callback, as it does at every import: there it can raise nothing."""
    thing = Thing()
    callback = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    assert callback() is None


def test_ctrl_c_where_nothing_can_be_raised_comes_a_moment_later() -> None:
    """And Python says nothing of the exception that it ignores."""
    before = sys.unraisablehook, signal.getsignal(signal.SIGINT)

    def command() -> None:
        with remembered():
            go_away_with_ctrl_c()
            time.sleep(100)

    with pytest.raises(KeyboardInterrupt):
        command()
    assert (sys.unraisablehook, signal.getsignal(signal.SIGINT)) == before


def test_who_has_ended_by_then_is_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was whole before the moment is over stays so."""
    waiting: list[Callable[[], None]] = []

    def timer(_: float, function: Callable[[], None]) -> SimpleNamespace:
        return SimpleNamespace(start=lambda: waiting.append(function))

    with monkeypatch.context() as patched:
        patched.setattr(threading, "Timer", timer)
        with remembered():
            go_away_with_ctrl_c()
    [late] = waiting
    late()


def test_other_exceptions_that_are_ignored_are_said_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Ctrl-C is treated in another way."""
    said: list[type[BaseException] | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: said.append(lost.exc_type))

    def fail(_: object) -> None:
        raise ValueError

    with remembered():
        thing = Thing()
        callback = weakref.ref(thing, fail)
        del thing
    assert callback() is None
    assert said == [ValueError]
