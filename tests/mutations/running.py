"""Trying mutants: each in a copy of the project, its tests in a process of their own, with a limit on its time.

The working tree is never changed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from .mutants import Mutant

__all__ = ["Verdict", "Workshop", "try_all"]

_LEFT_OUT = (".*", "__pycache__", "_build", "_generated", "out", "studio-web", "benchmarks")
_NOTHING_RAN = {4, 5}
"""Exit codes of pytest: wrong usage, no tests found."""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: ``how`` is ``killed``, ``timeout`` or ``survived``."""

    mutant: Mutant
    how: str


@dataclass
class Workshop:
    """A copy of the project in which one mutant at a time is tried."""

    root: Path
    folder: Path
    limits: dict[tuple[str, ...], float] = field(default_factory=dict)
    """Tests → seconds after which they count as stuck; found by a run without a mistake. Workshops may share it."""
    _trials: int = 0

    def __post_init__(self) -> None:
        shutil.copytree(self.root, self.folder, ignore=shutil.ignore_patterns(*_LEFT_OUT))

    def attempt(self, mutant: Mutant) -> Verdict:
        """Run the tests of ``mutant`` with its mistake made; the copy is as before afterwards.

        Raises
        ------
        RuntimeError
            If the tests do not pass without the mistake.
        """
        limit = self._limit(mutant.tests)
        path = self.folder / mutant.path
        original = path.read_text(encoding="utf-8")
        self._write(path, mutant.source)
        try:
            code, _ = self._run(mutant.tests, limit)
        finally:
            self._write(path, original)
        return Verdict(mutant, "timeout" if code is None else "survived" if code == 0 else "killed")

    def _limit(self, tests: tuple[str, ...]) -> float:
        if tests not in self.limits:
            began = time.monotonic()
            code, output = self._run(tests, 1800.0)
            if code != 0:
                raise RuntimeError(f"without any mistake, {' '.join(tests)} does not pass:\n{output[-3000:]}")
            self.limits[tests] = 30.0 + 5.0 * (time.monotonic() - began)
        return self.limits[tests]

    def _write(self, path: Path, source: str) -> None:
        """Python and Numba recognise changed sources by their date: give each version one of its own."""
        path.write_text(source, encoding="utf-8")
        self._trials += 1
        os.utime(path, (self._trials, self._trials))

    def _run(self, tests: tuple[str, ...], limit: float) -> tuple[int | None, str]:
        """Exit code (``None``: stopped after ``limit`` seconds) and output."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "src"),
            "HYPOTHESIS_PROFILE": "ci",
            "SOTTOVOCE_CACHE_DIR": str(self.folder / ".kernels"),
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        with subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                output, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                return None, ""
            finally:
                _end(process)
        if process.returncode in _NOTHING_RAN:
            raise RuntimeError(f"no test ran for {' '.join(tests)}:\n{output[-3000:]}")
        return process.returncode, output


def try_all(mutants: Iterable[Mutant], workshops: list[Workshop], *, seconds: float) -> Iterator[Verdict]:
    """Verdicts, in order, until all mutants are tried or the time is over."""
    free: SimpleQueue[Workshop] = SimpleQueue()
    for workshop in workshops:
        free.put(workshop)
    deadline = time.monotonic() + seconds

    def attempt(mutant: Mutant) -> Verdict | None:
        if time.monotonic() > deadline:
            return None
        workshop = free.get()
        try:
            return workshop.attempt(mutant)
        finally:
            free.put(workshop)

    with ThreadPoolExecutor(len(workshops)) as pool:
        yield from filter(None, pool.map(attempt, mutants))


def _end(process: subprocess.Popen[str]) -> None:
    """End what a test run has left behind: its processes are a group of their own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
