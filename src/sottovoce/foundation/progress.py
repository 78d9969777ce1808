"""A progress bar that appears only when work takes longer than a second and somebody is watching."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

__all__ = ["PATIENCE", "Progress", "Report"]

PATIENCE = 1.0
"""Seconds before a bar appears."""

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
    """

    def __init__(self, total: int, label: str, *, report: Report | bool | None = None) -> None:
        self.total, self.label, self.report = total, label, report
        self._began = time.monotonic()
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
