"""Being asked to stop: Ctrl-C, and SIGTERM, which batch systems and containers send.

An exception that a signal raises somewhere can get lost, for instance in an object's ``__del__``. So the first request
is remembered, and whoever works asks for it where it can stop.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from .interrupting import raise_and_remember

__all__ = ["StopAsked", "StopRequest", "stop_requests"]


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
        self._signal: int | None = None

    def answer(self, number: int, _frame: FrameType | None) -> None:
        """Remember the first; a second one does not wait."""
        if self._signal is not None:
            raise KeyboardInterrupt
        self._signal = number

    def check(self) -> None:
        """Raise :class:`StopAsked` if a signal came."""
        if self._signal is not None:
            raise StopAsked(self._signal)


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Inside, SIGINT and SIGTERM are remembered.

    Only in the main thread, where signals arrive, and only if nobody else answers them.
    """
    request = StopRequest()
    usual = {signal.SIGINT: (signal.default_int_handler, raise_and_remember), signal.SIGTERM: (signal.SIG_DFL,)}
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in usual}
    ours = [number for number, handlers in usual.items() if main and before[number] in handlers]
    for number in ours:
        signal.signal(number, request.answer)
    try:
        yield request
    finally:
        for number in ours:
            signal.signal(number, before[number])
