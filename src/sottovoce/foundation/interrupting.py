"""Being asked to stop: Ctrl-C, and SIGTERM, which batch systems and containers send.

An exception that a signal raises somewhere can get lost, for instance in an object's ``__del__``. So the first request
is remembered, and whoever works looks for it where it can stop: executors between two spans of steps
(:class:`Interrupt`), sweeps between two runs (:func:`stop_requests`).

A result is whole or it is not there. Only a call of ``simulate`` itself may hand back a run that Ctrl-C ended. The
status says so, and the code that made the call is stopped when it calls again: a loop does not swallow Ctrl-C.
Whatever is composed of runs passes them through :func:`uninterrupted` and stops at once.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, TypeVar

__all__ = [
    "Interrupt",
    "StopAsked",
    "StopRequest",
    "hand_back",
    "remembered",
    "stop_if_interrupted",
    "stop_requests",
    "uninterrupted",
]

Run = TypeVar("Run")

_PACKAGE = __name__.partition(".")[0]
_MOMENT = 0.05


class _Last:
    """The last Ctrl-C during a run, as long as nobody has been stopped by it."""

    seen = False
    handed_to: CodeType | None = None
    """The code that got the run, which may have been whole by then."""
    raised = False
    """Raised outside of runs, in a command: some library may have caught it."""


def hand_back(run: Run) -> Run:
    """``run``, remembering who gets it if Ctrl-C was pressed meanwhile."""
    if _Last.seen:
        _Last.seen, _Last.handed_to = False, _caller()
    return run


def stop_if_interrupted() -> None:
    """Raise the Ctrl-C of the caller's last run, once."""
    before, _Last.handed_to = _Last.handed_to, None
    if _Last.raised or (before is not None and before is _caller()):
        raise KeyboardInterrupt


@contextmanager
def remembered() -> Iterator[None]:
    """While entered, Ctrl-C is raised and remembered: a library that catches everything cannot make a run forget it.

    Where Python itself cannot hand it on, as in the callback of a weak reference, it is raised again a moment later.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler and _in_main_thread()
    said = sys.unraisablehook

    def raise_again(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(_MOMENT, _raise_in_main_thread).start()
        else:
            said(lost)

    if ours:
        signal.signal(signal.SIGINT, _raise_and_remember)
        sys.unraisablehook = raise_again
    try:
        yield
    finally:
        _Last.raised = False
        if ours:
            sys.unraisablehook = said
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _raise_and_remember(*_: object) -> None:
    """The handler of :func:`remembered`."""
    _Last.raised = True
    raise KeyboardInterrupt


def _raise_in_main_thread() -> None:
    main = threading.main_thread().ident
    can = hasattr(signal, "pthread_kill")  # Windows cannot
    if _Last.raised and can and main is not None:  # nobody has been stopped yet
        signal.pthread_kill(main, signal.SIGINT)  # wakes it, too, if it sleeps


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def uninterrupted(run: Run) -> Run:
    """``run``; if Ctrl-C was pressed meanwhile, it goes on."""
    before, _Last.handed_to = _Last.handed_to, None
    if before is not None:
        raise KeyboardInterrupt
    return run


def _caller() -> CodeType:
    """The code outside this package that called it."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    return frame.f_code


class Interrupt:
    """While entered, the first Ctrl-C is remembered instead of raised, so that tables stay consistent.

    A second one is raised as usual. Outside the main thread nothing is changed: signals go elsewhere.
    """

    def __init__(self) -> None:
        self._seen = False
        self._previous: Any = None

    def seen(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._seen

    def _remember(self, *_: object) -> None:
        if self._seen:
            raise KeyboardInterrupt
        self._seen = True

    def __enter__(self) -> Interrupt:
        if _in_main_thread():
            self._previous = signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        _Last.seen = self._seen


class StopAsked(Exception):
    """Somebody asked this process to stop.

    Attributes
    ----------
    signal
        The signal with which they did.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.signal = number


class StopRequest:
    """The first signal that came, if any."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def answer(self, number: int, _frame: FrameType | None) -> None:
        """Remember the first; a second one does not wait."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number

    def check(self) -> None:
        """Raise :class:`StopAsked` if a signal came."""
        if self.signal is not None:
            raise StopAsked(self.signal)


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Inside, SIGINT and SIGTERM are remembered.

    Only in the main thread, where signals arrive, and only if nobody else answers them.
    """
    request = StopRequest()
    usual = {signal.SIGINT: (signal.default_int_handler, _raise_and_remember), signal.SIGTERM: (signal.SIG_DFL,)}
    main = _in_main_thread()
    before = {number: signal.getsignal(number) for number in usual}
    ours = [number for number, handlers in usual.items() if main and before[number] in handlers]
    for number in ours:
        signal.signal(number, request.answer)
    try:
        yield request
    finally:
        for number in ours:
            signal.signal(number, before[number])
