"""Progress of long work: a bar after a second if somebody is watching, lines now and then in the log of a batch job.

In a notebook there is a line that is written over: bars of rich would need ``ipywidgets`` there.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

__all__ = ["PATIENCE", "Progress", "Report", "in_notebook"]

PATIENCE = 1.0
"""Seconds before a bar appears."""

SECONDS_PER_LINE = 10.0
"""Between two lines, where there is no terminal."""
SECONDS_PER_NOTEBOOK_LINE = 0.25
"""Between two states of the line in a notebook."""

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
        ``None``: a bar on standard error if that is a terminal, a line in a notebook. ``False``: silence. A function:
        it is called with (done, total) instead.
    lines
        Without a terminal, and without ``report``: a line on standard error every ten seconds instead of silence.
    """

    def __init__(self, total: int, label: str, *, report: Report | bool | None = None, lines: bool = False) -> None:
        self.total, self.label, self.report, self.lines = total, label, report, lines
        self._began = self._last_line = time.monotonic()
        self._written = ""
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def at(self, done: int) -> None:
        """Say how much is done."""
        if callable(self.report):
            self.report(done, self.total)
        elif self.report is not False and in_notebook():
            self._write_over(done)
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
        sys.stderr.write(f"{self._words(done, now)}\n")
        sys.stderr.flush()

    def _write_over(self, done: int) -> None:
        """One line on standard output, again and again; standard error is red in a notebook."""
        now = time.monotonic()
        if now - self._began < PATIENCE or now - self._last_line < SECONDS_PER_NOTEBOOK_LINE:
            return
        self._last_line = now
        self._clear()
        self._written = self._words(done, now)
        sys.stdout.write(self._written)
        sys.stdout.flush()

    def _clear(self) -> None:
        sys.stdout.write(f"\r{' ' * len(self._written)}\r" if self._written else "")
        sys.stdout.flush()
        self._written = ""

    def _words(self, done: int, now: float) -> str:
        spent = now - self._began
        left = f", about {spent / done * (self.total - done):.0f} s left" if done else ""
        return f"{self.label}: {done} of {self.total} after {spent:.0f} s{left}"

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
        if self._written:
            self._clear()
        if self._bar is not None:
            self._bar.stop()


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this; IPython is looked at only if it is there already."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
