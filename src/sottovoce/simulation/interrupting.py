"""Ctrl-C during a run: the executors look for it between two spans of steps."""

from __future__ import annotations

import signal
import threading
from typing import Any

__all__ = ["Interrupt"]


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
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
