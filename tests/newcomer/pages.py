"""What a page tells its readers: commands with what they print, files to write, Python to run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```(\S+)(?: *\n| +)(.*?)^\1```$", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^(?:(\w+):~)?\$ (.*)$")
SKIP = re.compile(r"<!-- skip: next \"(.*)\" -->\n$")


@dataclass(frozen=True)
class Command:
    """One line after a prompt, or the last of a script; ``who`` is the name before the prompt."""

    page: str
    number: int
    line: str
    shown: str = ""
    who: str = ""


@dataclass(frozen=True)
class File:
    """A block that the reader saves under a name: its caption, or the comment in its first line."""

    page: str
    number: int
    name: str
    text: str


@dataclass(frozen=True)
class Program:
    """Python: a session with prompts, or a program."""

    page: str
    number: int
    text: str
    skipped: str = ""


Part = Command | File | Program


def pages() -> list[str]:
    """All pages that are written by hand, seen from the root."""
    found = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    hidden = {"_build", "_generated", "_static"}
    return [path.relative_to(ROOT).as_posix() for path in found if not hidden & set(path.parts)]


def read(page: str) -> list[Part]:
    """What ``page`` tells, from top to bottom."""
    return list(parts(page, (ROOT / page).read_text(encoding="utf-8")))


def parts(page: str, text: str) -> Iterator[Part]:
    """The same for the text of a page."""
    for match in FENCE.finditer(text):
        number, kind, body = text.count("\n", 0, match.start()) + 1, match[2], match[3]
        named = re.match(r"# (\S+\.(?:toml|csv))\n", body)
        if kind == "console":
            yield from _commands(page, number, body)
        elif kind in {"bash", "sh"}:
            yield Command(page, number, body.strip().splitlines()[-1])
        elif kind == "python":
            skip = SKIP.search(text, 0, match.start())
            yield Program(page, number, body, "" if skip is None else skip[1])
        elif kind == "{code-block}":
            yield from _captioned(page, number, body)
        elif named:
            yield File(page, number, named[1], body)


def _captioned(page: str, number: int, body: str) -> Iterator[File]:
    found = re.match(r"py\n:caption: (\S+)\n\n(.*)", body, re.DOTALL)
    if found:
        yield File(page, number, found[1], found[2])


def _commands(page: str, number: int, body: str) -> Iterator[Command]:
    who = line = ""
    began, shown = number, list[str]()
    for place, text in enumerate(body.splitlines(), start=number + 1):
        prompt = PROMPT.match(text)
        if prompt is None and line.endswith("\\"):
            line = f"{line[:-1].rstrip()} {text.strip()}"
        elif prompt is None:
            shown.append(text)
        else:
            if line:
                yield Command(page, began, line, "\n".join(shown), who)
            who, line, began, shown = prompt[1] or "", prompt[2], place, []
    if line:
        yield Command(page, began, line, "\n".join(shown), who)
