"""Progress of long work: a bar after a second if somebody is watching, lines now and then in the log of a batch job."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

__all__ = ["PATIENCE", "Progress", "Report"]

PATIENCE = 1.0
"""Seconds before a bar appears."""

SECONDS_PER_LINE = 10.0
"""Between two lines, where there is no terminal."""

Report = Callable[[int, int], object]
"""Called with (steps done, steps in all)."""


class Progress:
    """Context manager; call :meth:`at` as work proceeds.

    Parameters
    ----------
    total
        Amount of work.
    label
        Shown before the bar.
    report
        ``None``: a bar on standard error if that is a terminal. ``False``: silence. A function: it is
        called with (done, total) instead.
    lines
        Without a terminal, and without ``report``: a line on standard error every ten seconds instead of silence.
    """

    def __init__(self, total: int, label: str, *, report: Report | bool | None = None, lines: bool = False) -> None:
        self.total, self.label, self.report, self.lines = total, label, report, lines
        self._began = self._last_line = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def at(self, done: int) -> None:
        """Say how much is done."""
        if callable(self.report):
            self.report(done, self.total)
        elif self._wanted():
            if self._bar is None:
                self._open()
            self._bar.update(self._task, completed=done)
        elif self.lines and self.report is None and not sys.stderr.isatty():
            self._write_line(done)

    def _write_line(self, done: int) -> None:
        now = time.monotonic()
        if now - self._last_line < SECONDS_PER_LINE:
            return
        self._last_line = now
        spent = now - self._began
        left = f", about {spent / done * (self.total - done):.0f} s left" if done else ""
        sys.stderr.write(f"{self.label}: {done} of {self.total} after {spent:.0f} s{left}\n")
        sys.stderr.flush()

    def _wanted(self) -> bool:
        if self._bar is not None:
            return True
        late = time.monotonic() - self._began > PATIENCE
        return late and (self.report is True or (self.report is None and sys.stderr.isatty()))

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self.label, total=self.total)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
