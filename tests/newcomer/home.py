"""An empty home, and the shell that a newcomer types into.

Nothing of the machine's user comes along: no path of theirs, no settings, no caches. What stays are the addresses of
the package index and of proxies, without which nothing can be installed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .pages import ROOT

LIMIT = 300.0
"""Seconds that a command may take."""
KEPT = re.compile(r"(?i)(PIP_\w+|UV_\w+|SSL_CERT_\w+|\w+_PROXY)$")
SHELL_ITSELF = re.compile(r"(\. |source |cd |export )")


@dataclass(frozen=True)
class Answer:
    """How a command ended, and what it said."""

    code: int
    out: str
    error: str


class Home:
    """A folder that is HOME, with a ``python3`` of the wanted version first on the path; `uv`, if given, installs."""

    def __init__(self, folder: Path, python: str, uv: str = "") -> None:
        self.folder, self.uv = folder, uv
        tools = folder / ".tools"
        tools.mkdir(parents=True)
        (tools / "python3").symlink_to(shutil.which(python) or python)
        self.environment = {name: value for name, value in os.environ.items() if KEPT.match(name)} | {
            "HOME": str(folder), "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "COLUMNS": "80",
            "PYTHONIOENCODING": "ascii", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_QUIET": "1",
            "PIP_NO_COMPILE": "1",  # a minute less; Python compiles what it imports
        }  # fmt: skip
        settings = [Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf"]
        for path in filter(Path.is_file, settings):
            self.environment["PIP_CONFIG_FILE"] = str(path)

    def clone(self, name: str) -> Path:
        """A folder like one of the repository, as far as the pages' install lines look: the pinned versions."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        if not (folder / "constraints").exists():
            shutil.copytree(ROOT / "constraints", folder / "constraints")
        return folder


class Shell:
    """A shell in one folder. What changes the shell itself (``. file``, ``cd``, ``export``) holds for what follows."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.environment = folder, dict(environment)
        self.typed: list[str] = []
        self.running: list[Background] = []

    def run(self, line: str) -> Answer:
        """Type one line and wait for its end."""
        if SHELL_ITSELF.match(line):
            self.typed.append(line)
        try:
            done = subprocess.run(
                self.command(line), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=LIMIT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Answer(124, "", f"did not end within {LIMIT:.0f} s")
        return Answer(
            done.returncode, done.stdout.decode("ascii", "backslashreplace"), done.stderr.decode("utf-8", "replace")
        )

    def start(self, line: str, ready: str) -> Background:
        """Type one line that runs on, and wait until it has said `ready`."""
        log = self.folder / f".background-{len(self.running)}"
        with log.open("wb") as sink:
            process = subprocess.Popen(
                self.command(line), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=sink, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self.running.append(Background(process, log, line))
        self.running[-1].wait_for(ready)
        return self.running[-1]

    def command(self, line: str) -> list[str]:
        return ["bash", "-c", "\n".join([*self.typed, line])]


@dataclass(frozen=True)
class Background:
    """A program that runs on."""

    process: subprocess.Popen[bytes]
    log: Path
    line: str

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="backslashreplace")

    def wait_for(self, text: str) -> None:
        """Until the program has said this.

        Raises
        ------
        AssertionError
            If it ends or the time is over before that.
        """
        deadline = time.monotonic() + LIMIT
        while text not in self.said():
            assert self.process.poll() is None, (
                f"{self.line} ended with {self.process.returncode}: {self.said()[-2000:]}"
            )
            assert time.monotonic() < deadline, f"{self.line} did not say {text!r}: {self.said()[-2000:]}"
            time.sleep(0.1)

    def interrupt(self) -> int:
        """Ctrl-C; the exit code."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        try:
            return self.process.wait(120)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()
