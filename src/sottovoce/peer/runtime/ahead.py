"""Random bytes of the operating system, asked for a moment before they are needed.

Long noise takes hundreds of thousands of bytes, and for each of them the system computes. A thread of its own asks for
them, so that this happens while the peer does something else. Each byte is given away once. What nobody has asked for
after some seconds is forgotten, and then the thread ends, too.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque

__all__ = ["Ahead"]

_DEPTH = 8
"""So many pieces of each length are kept ready."""

_LENGTHS = 4
"""Of so many lengths at most: topics of different length may be open at the same time."""

_SECONDS = 5.0
"""How long pieces are kept that nobody asks for."""


class Ahead:
    """Pieces of random bytes, ready to be taken. May be used from any thread, and is empty after a fork."""

    def __init__(self) -> None:
        self._empty()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._empty)

    def _empty(self) -> None:
        self._lock, self._asked = threading.Lock(), threading.Event()
        self._ready: dict[int, deque[bytes]] = {}
        self._thread: threading.Thread | None = None

    def take(self, length: int) -> bytes:
        """So many random bytes that nobody else has had or will have."""
        with self._lock:
            ready = self._ready.pop(length, None) or deque()
            found = ready.popleft() if ready else None
            self._ready[length] = ready  # the last one that was asked for
            if len(self._ready) > _LENGTHS:
                del self._ready[next(iter(self._ready))]
            if self._thread is None:
                thread = threading.Thread(target=self._fetch, name="random bytes", daemon=True)
                with contextlib.suppress(RuntimeError):  # no more threads, or the interpreter ends: one can do without
                    thread.start()
                    self._thread = thread
        self._asked.set()
        return os.urandom(length) if found is None else found

    def _fetch(self) -> None:
        try:
            while self._asked.wait(_SECONDS):
                self._asked.clear()
                while (length := self._lacking()) is not None:
                    content = os.urandom(length)
                    with self._lock:
                        if length in self._ready:
                            self._ready[length].append(content)
        finally:
            with self._lock:
                self._ready.clear()
                self._thread = None

    def _lacking(self) -> int | None:
        with self._lock:
            return next((length for length, ready in self._ready.items() if len(ready) < _DEPTH), None)
