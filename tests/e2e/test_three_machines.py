"""The lesson with three machines, its commands run as they are printed, in real processes on this one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sottovoce.testing.stage import free_addresses

ROOT = Path(__file__).parents[2]
LESSON = (ROOT / "docs" / "tutorials" / "three-machines.md").read_text(encoding="utf-8")
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120"}


def commands(text: str) -> list[str]:
    """The lines after a dollar sign in blocks of the kind ``console``, except the installation."""
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [line for line in lines if not line.startswith("pip ")]


class Lesson:
    """Plays the lesson's commands in a folder; `peer start` runs on in the background."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[bytes]] = []
        self.said: dict[str, str] = {}
        self.ports = {f"127.0.0.1:700{i + 1}": address for i, address in enumerate(free_addresses(4))}

    def play(self, text: str) -> None:
        for line in commands(text):
            shell = line
            for printed, free in self.ports.items():
                shell = shell.replace(printed, free)
            shell = shell.replace("sottovoce ", f"{sys.executable} -m sottovoce ", 1)
            if " peer start " in shell:
                self._start(shell)
                continue
            done = subprocess.run(
                shell, shell=True, cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60,
                check=False,
            )  # fmt: skip
            assert done.returncode == 0, (line, done.stderr)
            self.said[line] = done.stdout
            if " peer stop " in line or " peer leave " in line:
                self._wait_for_end(line.split()[3])

    def _start(self, shell: str) -> None:
        log = (self.folder / "log").open("ab")
        with log:
            self.running.append(
                subprocess.Popen(["sh", "-c", f"exec {shell}"], cwd=self.folder, env=ENVIRONMENT, stderr=log)
            )

    def _wait_for_end(self, config: str) -> None:
        socket = self.folder / Path(config).parent / "data" / "control.sock"
        for _ in range(200):
            if not socket.exists():
                time.sleep(0.3)
                return
            time.sleep(0.05)

    def wait_for(self, names: list[str], mean: float) -> None:
        """Until all of them have settled on `mean`."""
        from sottovoce.peer.process.control import peek

        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = [peek(self.folder / name / "data") for name in names]
            if all(s is not None and s["settled"] and abs(s["estimate"][0] - mean) < 0.02 for s in found):
                return
            time.sleep(0.2)
        raise AssertionError(json.dumps(found))


@contextmanager
def lesson(folder: Path) -> Iterator[Lesson]:
    played = Lesson(folder)
    try:
        yield played
    finally:
        for process in played.running:
            process.kill()
            process.wait()


def part(first: str, last: str) -> str:
    return LESSON[LESSON.index(f"## {first}") : LESSON.index(f"## {last}")]


def test_the_lesson_up_to_the_average(tmp_path: Path) -> None:
    """Cards, roster, joining and starting, as printed: all three settle on 60, and the table says what Bob can know."""
    with lesson(tmp_path) as played:
        played.play(part("1.", "5."))
        table = next(said for line, said in played.said.items() if "network create" in line)
        assert re.search(r"ada +bob, cleo +± 28.9 +± 20.4 \(bob\) +exactly \(bob, cleo\)", table)
        assert sorted(path.name for path in (tmp_path / "trio").iterdir()) == ["founder.key", "roster.json"]
        played.wait_for(["ada", "bob", "cleo"], 60.0)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_whole_lesson(tmp_path: Path) -> None:
    """Also a new value, a new member and a farewell, each with the average that the lesson names."""
    with lesson(tmp_path) as played:
        played.play(part("1.", "5."))
        played.wait_for(["ada", "bob", "cleo"], 60.0)
        played.play(part("5.", "6."))
        change, join = part("7.", "Where").split("Dora wants to join.")
        played.play(change)
        played.wait_for(["ada", "bob", "cleo"], 62.0)
        joining, leaving = join.split("All four settle")
        played.play(joining)
        played.wait_for(["ada", "bob", "cleo", "dora"], 49.5)
        played.play(leaving)
        played.wait_for(["ada", "bob", "dora"], 36.0)
