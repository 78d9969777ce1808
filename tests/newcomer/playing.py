"""Follow pages as a reader would: write their files, type their commands, run their Python, compare what comes back."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .comparing import difference
from .home import LIMIT, Answer, Home, Shell
from .pages import Command, File, Program, read
from .special import ADDRESSES, INSIDE, PROVIDED, SPECIAL, VARIES, Special, bare, send

SESSION = Path(__file__).with_name("session.py")
THE_CHECKOUT = re.compile(r"""(?<=[\s'"])\.(?=\[|'|"|\s|$)""")
PIP = re.compile(r"(\S+/bin/)?\bpip install(?= )")
UNWRAPPED = re.compile(r'^\s*["{]|\S{40}|sottovoce |rows of \d+ contributors: ')
"""What may be wider than the terminal: JSON, long paths, commands to type, a report that is equal at all parties."""
ENDED = {0, 130}
"""How a program in the foreground ends after Ctrl-C."""


class Reader:
    """Somebody who follows one page, or several in one folder, and notes what is not as the page says."""

    def __init__(self, home: Home, folder: Path, wheel: Path, *, activated: Path | None = None) -> None:
        self.home, self.folder, self.wheel = home, folder, wheel
        self.activated = activated
        self.problems: list[str] = []
        self.seconds: list[tuple[float, str]] = []
        self.shells: dict[tuple[str, str], Shell] = {}

    def follow(self, page: str, *, python: bool) -> None:
        """From top to bottom; the Python of the page at its end, in one process."""
        parts = read(page)
        inside = self.folder / INSIDE.get(page, "")
        inside.mkdir(parents=True, exist_ok=True)
        for name, text in PROVIDED.get(page, {}).items():
            (inside / name).write_text(text, encoding="utf-8")
        for part in parts:
            if isinstance(part, File):
                (inside / part.name).write_text(part.text, encoding="utf-8")
        for part in parts:
            if isinstance(part, Command):
                self._type(part)
        programs = [part for part in parts if isinstance(part, Program) and not part.skipped]
        if python and programs:
            self._session(page, programs)

    def end(self) -> None:
        """Ctrl-C for everything that still runs."""
        for shell in self.shells.values():
            for program in shell.running:
                code = program.interrupt()
                if code not in ENDED:
                    self.problems.append(f"{program.line}: exit code {code} after Ctrl-C: {program.said()[-800:]}")

    def _shell(self, page: str, who: str) -> Shell:
        if (page, who) not in self.shells:
            shell = Shell(self.folder / INSIDE.get(page, who), self.home.environment)
            if self.activated is not None:
                shell.typed.append(f". {self.activated}/bin/activate")
            self.shells[page, who] = shell
        return self.shells[page, who]

    def _type(self, command: Command) -> None:
        where = f"{command.page}:{command.number}: {bare(command.line)}"
        special = SPECIAL.get((command.page, bare(command.line)), Special("", instead=command.line))
        if special.left_out:
            return
        shell, began = self._shell(command.page, command.who), time.monotonic()
        line = self._here(special.instead or command.line)
        try:
            if special.settled:
                _wait_until_settled(shell, special.settled)
            if special.ready:
                answer = Answer(0, shell.start(line, special.ready).said(), "")
            else:
                answer = shell.run(line)
        except AssertionError as problem:
            self.problems.append(f"{where}\n    {problem}")
            return
        self.seconds.append((time.monotonic() - began, where))
        self.problems += [f"{where}\n    {each}" for each in self._wrong(command, special, answer)]
        send(self.folder, command.who, line)

    def _here(self, line: str) -> str:
        """The line with the wheel in place of the checkout, and addresses of this machine."""
        if " install " in line:
            line = THE_CHECKOUT.sub(str(self.wheel), line)
            if self.home.uv:
                line = PIP.sub(self._by_uv, line)
        for printed, ours in ADDRESSES.items():
            line = line.replace(printed, ours)
        return line

    def _by_uv(self, pip: re.Match[str]) -> str:
        return f"{self.home.uv} pip install" + (f" --python {pip[1]}python" if pip[1] else "")

    def _wrong(self, command: Command, special: Special, answer: Answer) -> Iterator[str]:
        if answer.code != 0:
            yield f"exit code {answer.code}: {answer.error.strip()[-1500:]}"
            return
        if not answer.out.isascii() or "\\x" in answer.out:
            yield "letters that are not ASCII in an ASCII terminal"
        wide = [line for line in answer.out.splitlines() if len(line.rstrip()) > 80 and not UNWRAPPED.search(line)]
        if wide:
            yield f"{len(wide)} lines are wider than 80 columns, the first: {wide[0]}"
        # Background programs log, and one of them ends its first line with what the page shows.
        if command.shown and not (special.ready and "{" in answer.out):
            shown, printed = command.shown, answer.out
            for pattern, word in VARIES.get(command.page, []):
                shown, printed = re.sub(pattern, word, shown), re.sub(pattern, word, printed)
            problem = difference(shown, printed)
            if problem:
                yield f"{problem}\n--- printed:\n{answer.out}"

    def _session(self, page: str, programs: Sequence[Program]) -> None:
        folder = self.folder / f"python-{Path(page).stem}"
        shell = Shell(folder, self.home.environment)
        # Where the lesson that installs has put what simulation needs; a peer's environment has less.
        shell.typed.append(f". {self.home.folder / 'clone' / '.venv'}/bin/activate")
        for part in read(page):
            if isinstance(part, File):
                (folder / part.name).write_text(part.text, encoding="utf-8")
        blocks = [{"page": page, "number": part.number, "text": part.text} for part in programs]
        (folder / "blocks.json").write_text(json.dumps(blocks), encoding="utf-8")
        began = time.monotonic()
        answer = shell.run(f"python {SESSION} blocks.json")
        self.seconds.append((time.monotonic() - began, f"{page}: Python"))
        if answer.code != 0:
            self.problems.append(f"{page}: Python\n{answer.out[-3000:]}{answer.error[-1500:]}")


def _wait_until_settled(shell: Shell, configuration: str) -> None:
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        answer = shell.run(f"sottovoce peer status {configuration} --json")
        status = json.loads(answer.out)["status"] if answer.code == 0 else {}
        if status.get("settled") and not status["noise_left"]:
            return
        time.sleep(0.3)
    raise AssertionError(f"{configuration} did not settle: {answer.out[-500:]} {answer.error[-500:]}")
