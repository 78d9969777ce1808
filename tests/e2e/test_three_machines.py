"""The lesson with three machines, its commands run as they are printed, each on its own machine.

A machine is a network namespace with its own address. Where namespaces cannot be made, the same commands are run on one
machine, and only the addresses are others.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from sottovoce.peer.process.control import peek
from sottovoce.testing.machines import Machines, why_not
from sottovoce.testing.stage import free_addresses

ROOT = Path(__file__).parents[2]
LESSON = (ROOT / "docs" / "tutorials" / "three-machines.md").read_text(encoding="utf-8")
PARTIES = ("ada", "bob", "cleo", "dora")
FOUNDER = "ada"
WAIT = 120.0


def commands(text: str) -> list[tuple[str, str]]:
    """Who types what: the lines after a prompt in blocks of the kind ``console``."""
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    return [found for block in blocks for found in re.findall(r"^(\w+):~\$ (.*)$", block, flags=re.MULTILINE)]


class Lesson:
    """Plays the lesson's commands, each in its party's home and on its machine; `peer start` runs on."""

    def __init__(self, folder: Path, machines: Machines | None) -> None:
        self.machines = machines
        self.homes = {name: folder / name for name in PARTIES}
        for home in self.homes.values():
            home.mkdir()
        self.running: list[subprocess.Popen[bytes]] = []
        self.said: dict[str, str] = {}
        self.instead = {f"{n}.example.org:7001": a for n, a in zip(PARTIES, free_addresses(4), strict=True)}
        self.environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "COLUMNS": "120"}
        program = folder / "sottovoce"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m sottovoce "$@"\n', encoding="ascii")
        program.chmod(0o755)

    def play(self, text: str) -> None:
        for name, line in commands(text):
            if " peer start " in f" {line}":
                self._start(name, line)
                continue
            done = subprocess.run(
                self._on(name, line), cwd=self.homes[name], env=self.environment, capture_output=True, text=True,
                timeout=WAIT, check=False,
            )  # fmt: skip
            assert done.returncode == 0, (line, done.stderr)
            self.said[line] = done.stdout
            self._send(name, line)
            if "peer stop " in line or "peer leave " in line:
                self._wait_for_end(name)

    def _on(self, name: str, line: str) -> list[str]:
        if self.machines is not None:
            return self.machines.command(name, ["sh", "-c", line])
        for printed, free in self.instead.items():
            line = line.replace(printed, free)
        return ["sh", "-c", line]

    def _start(self, name: str, line: str) -> None:
        with (self.homes[name] / "log").open("ab") as log:
            command = self._on(name, f"exec {line}")
            self.running.append(
                subprocess.Popen(
                    command, cwd=self.homes[name], env=self.environment, stderr=log, start_new_session=True
                )
            )

    def _send(self, name: str, line: str) -> None:
        """What the lesson's people do by e-mail: cards to the founder, rosters to everybody."""
        if "peer init " in line:
            if name != FOUNDER:
                shutil.copy(self.homes[name] / name / f"{name}.card", self.homes[FOUNDER])
        elif re.search(r"network (create|add|remove) ", line):
            for other in set(PARTIES) - {FOUNDER}:
                shutil.copy(self.homes[FOUNDER] / "trio" / "roster.json", self.homes[other])

    def data(self, name: str) -> Path:
        return self.homes[name] / name / "data"

    def _wait_for_end(self, name: str) -> None:
        deadline = time.monotonic() + WAIT
        while (self.data(name) / "control.sock").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)

    def wait_for(self, names: list[str], mean: float) -> None:
        """Until all of them have settled on `mean`."""
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            found = [peek(self.data(name)) for name in names]
            if all(s is not None and s["settled"] and abs(s["estimate"][0] - mean) < 0.02 for s in found):
                return
            time.sleep(0.2)
        raise AssertionError(json.dumps(found))


@contextmanager
def lesson(folder: Path, where: str) -> Iterator[Lesson]:
    with ExitStack() as stack:
        apart = where == "namespaces"
        if apart and why_not():
            pytest.skip(why_not())
        played = Lesson(folder, stack.enter_context(Machines(*PARTIES)) if apart else None)
        try:
            yield played
        finally:
            for process in played.running:
                process.kill()
                process.wait()


def part(first: str, last: str) -> str:
    return LESSON[LESSON.index(f"## {first}") : LESSON.index(f"## {last}")]


ONE_MACHINE = pytest.param("one machine", marks=() if why_not() else pytest.mark.slow)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("where", ["namespaces", ONE_MACHINE])
def test_the_lesson_up_to_the_average(tmp_path: Path, where: str) -> None:
    """Cards, roster, joining and starting, as printed: all three settle on 60, and the table says what Bob can know."""
    with lesson(tmp_path, where) as played:
        played.play(part("1.", "5."))
        table = next(said for line, said in played.said.items() if "network create" in line)
        assert re.search(r"ada +bob, cleo +± 28.9 +± 20.4 \(bob\) +exactly \(bob, cleo\)", table)
        assert sorted(path.name for path in (tmp_path / "ada" / "trio").iterdir()) == ["founder.key", "roster.json"]
        keys = {name: sorted(path.name for path in home.rglob("*.key")) for name, home in played.homes.items()}
        assert keys == {"ada": ["founder.key", "peer.key"], "bob": ["peer.key"], "cleo": ["peer.key"], "dora": []}
        played.wait_for(["ada", "bob", "cleo"], 60.0)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("where", ["namespaces", "one machine"])
def test_the_whole_lesson(tmp_path: Path, where: str) -> None:
    """Also a new value, a new member and a farewell, each with the average that the lesson names."""
    with lesson(tmp_path, where) as played:
        played.play(part("1.", "5."))
        played.wait_for(["ada", "bob", "cleo"], 60.0)
        played.play(part("5.", "6."))
        [status] = [said for line, said in played.said.items() if "peer status" in line]
        assert re.search(r"one other knows it to +± 20.4 \(bob\)", status)
        assert (
            "bob is not on this machine and cannot be asked: ada sees it open"
            in played.said["sottovoce network status trio"]
        )
        change, join = part("7.", "Where").split("Dora wants to join.")
        played.play(change)
        played.wait_for(["ada", "bob", "cleo"], 62.0)
        joining, leaving = join.split("All four settle")
        played.play(joining)
        played.wait_for(["ada", "bob", "cleo", "dora"], 49.5)
        played.play(leaving)
        played.wait_for(["ada", "bob", "dora"], 36.0)


def test_the_attack_says_what_the_table_says() -> None:
    """The lesson prints one number for what Bob can know, and it is the table's, the status' and the attack's."""
    assert re.search(r"^ ada +bob, cleo +± 28.9 +± 20.4 \(bob\)", LESSON, flags=re.MULTILINE)
    assert re.search(r"^one other knows it to +± 20.4 \(bob\)", LESSON, flags=re.MULTILINE)
    guess = re.search(r"^Ada: (\S+) ± 20.4$", LESSON, flags=re.MULTILINE)  # run with the examples of this page
    assert guess
    assert f"Bob's best guess for Ada is {guess[1]}, give or take 20.4" in LESSON


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.timeout(300)
def test_a_member_behind_a_firewall(tmp_path: Path) -> None:
    """Nobody can call Cleo's machine, not even at an open port; her own calls are enough, and all settle on 60."""
    with lesson(tmp_path, "namespaces") as played:
        machines = played.machines
        assert machines is not None
        machines.put_behind_firewall("cleo")
        assert not reaches(played, "bob", "cleo", seconds=5)
        assert reaches(played, "cleo", "bob", seconds=WAIT)
        played.play(part("1.", "5.").replace(" --address cleo.example.org:7001", ""))
        assert 'listen = ""' in (played.homes["cleo"] / "cleo" / "peer.toml").read_text()
        played.wait_for(["ada", "bob", "cleo"], 60.0)


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.timeout(900)
def test_breaking_it(tmp_path: Path) -> None:
    """What the lesson invites its readers to do to Bob: kill him, pull his cable, delete his disk. 60, and then 62."""
    with lesson(tmp_path, "namespaces") as played:
        machines = played.machines
        assert machines is not None
        played.play(part("1.", "5."))
        again = next(line for name, line in commands(part("4.", "5.")) if name == "bob" and "peer start" in line)
        bob = played.running[[name for name, line in commands(part("4.", "5.")) if "peer start" in line].index("bob")]
        for delete in (False, True):
            bob.kill()
            bob.wait()
            if delete:
                shutil.rmtree(played.data("bob"))
            played._start("bob", again)
            bob = played.running[-1]
            played.wait_for(["ada", "bob", "cleo"], 60.0)
        machines.cut_off("bob")
        played.play(part("7.", "Where").split("Dora wants to join.")[0])
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline and peek(played.data("ada"))["neighbours"]["bob"]["state"] != "unreachable":  # type: ignore[index]
            time.sleep(0.2)
        machines.cut_off("bob", back=True)
        played.wait_for(["ada", "bob", "cleo"], 62.0)


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
@pytest.mark.timeout(600)
def test_names_that_are_resolved_late(tmp_path: Path) -> None:
    """All start while nobody can resolve anybody's name; when the names are there, they find together by themselves."""
    with lesson(tmp_path, "namespaces") as played:
        machines = played.machines
        assert machines is not None
        for name in PARTIES:
            machines.let_know(name, [])
        played.play(part("1.", "5."))
        time.sleep(5.0)
        for name in PARTIES:
            machines.let_know(name, PARTIES)
        played.wait_for(["ada", "bob", "cleo"], 60.0)


def reaches(played: Lesson, caller: str, called: str, *, seconds: float) -> bool:
    """Whether a connection to a port on which a machine listens can be made in this time."""
    assert played.machines is not None
    listen = "import socket, time; s = socket.create_server(('', 7009)); print('ready', flush=True); s.accept()"
    call = f"import socket; socket.create_connection(('{called}.example.org', 7009), timeout={seconds})"
    server = subprocess.Popen(played.machines.command(called, [sys.executable, "-c", listen]), stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        command = played.machines.command(caller, [sys.executable, "-c", call])
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    finally:
        server.kill()
        server.wait()
        assert server.stdout is not None
        server.stdout.close()


def index_reachable() -> bool:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", os.devnull, "click"],
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return b"No matching distribution" not in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_installation(tmp_path: Path) -> None:
    """The lesson's installation, as printed, in a copy of the repository and an empty home, gives the command."""
    if not index_reachable():
        pytest.skip("no package index can be reached")
    [block] = [b for b in re.findall(r"```console\n(.*?)```", LESSON, flags=re.DOTALL) if "pip install" in b]
    copy = tmp_path / "repository"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "*cache*", "_build"))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"HOME": str(tmp_path)}
    environment["PATH"] = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    for line in re.findall(r"^\$ (.*)$", block, flags=re.MULTILINE):
        subprocess.run(["sh", "-c", line], cwd=copy, env=environment, check=True, timeout=800)
    done = subprocess.run(
        ["sh", "-c", ". ~/sottovoce/bin/activate && sottovoce peer init ada --network trio"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "ada/peer.key is ada's private key" in done.stdout
