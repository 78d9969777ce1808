"""``python -m tests.newcomer WHEEL``: README on every Python that is found, then all other pages on one of them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from .home import Home
from .interpreters import VERSIONS, found
from .pages import Command, pages, read
from .playing import Reader
from .special import FIRST, LESSON, README, STORIES

LIGHT = LESSON
"""The page that installs what a peer needs and no more: its commands run with that."""


def main() -> int:
    """Exit with 1 if anything was not as a page says."""
    parser = argparse.ArgumentParser(prog="python -m tests.newcomer", description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--readme", action="store_true", help="README only, on every Python that is found")
    parser.add_argument("--pages", action="store_true", help="all other pages only")
    parser.add_argument("--page", action="append", help="only this page, after the one that installs; may be repeated")
    parser.add_argument("--times", action="store_true", help="say how long each command took")
    asked = parser.parse_args()
    wheel = asked.wheel.resolve(strict=True)
    began = time.monotonic()
    readers: list[Reader] = []
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        if not (asked.pages or asked.page):
            readers += readme(Path(folder), wheel)
        if not asked.readme:
            readers += others(Path(folder), wheel, asked.page)
    problems = [problem for reader in readers for problem in reader.problems]
    took = sorted((each for reader in readers for each in reader.seconds), reverse=True)
    for problem in problems:
        click.echo(f"\n{problem}", err=True)
    if asked.times:
        click.echo("\n".join(f"{seconds:6.1f} s  {where}" for seconds, where in took))
    click.echo(
        f"newcomer: {len(took)} commands and sessions, {len(problems)} problems, {time.monotonic() - began:.0f} s"
    )
    return 1 if problems else 0


def readme(folder: Path, wheel: Path) -> list[Reader]:
    """README from its first line to its last, on each Python.

    With pip on the first of them. On the others uv installs, if ``UV`` names it: half a minute less for each.
    """
    pythons = {version: found(version) for version in VERSIONS}
    for version, python in pythons.items():
        click.echo(f"Python {version}: {python or 'not found, not tried'}")
    there = {version: python for version, python in pythons.items() if python is not None}
    uvs = ["", *[os.environ.get("UV", "")] * (len(there) - 1)]
    homes = [Home(folder / version, python, uv) for (version, python), uv in zip(there.items(), uvs, strict=True)]
    if not homes:
        sys.exit(f"no Python of {', '.join(VERSIONS)} was found")
    with ThreadPoolExecutor(2) as pool:  # each waits for disks and timers half of the time
        return list(pool.map(lambda home: followed(home, "clone", wheel, [README], activated=None), homes))


def others(folder: Path, wheel: Path, only: list[str] | None) -> list[Reader]:
    """The lesson that installs first, then the other tutorials, then all pages that have commands.

    With uv in place of pip, if ``UV`` names it: README is followed with pip.
    """
    home = Home(folder / "home", sys.executable, os.environ.get("UV", ""))
    first = followed(home, "clone", wheel, [FIRST], activated=None)

    def told(story: list[str]) -> Reader:
        environment = home.folder / "sottovoce" if LIGHT in story else home.folder / "clone" / ".venv"
        return followed(home, Path(story[0]).stem, wheel, story, activated=environment)

    wanted = [s for s in stories() if s not in ([FIRST], [README]) and (only is None or set(s) & set(only))]
    with ThreadPoolExecutor(2) as pool:  # peers and downloads are waited for half of the time
        return [first, *pool.map(told, wanted)]


def stories() -> list[list[str]]:
    """All pages with commands, tutorials first, each alone unless it belongs to a story."""
    told = {page for story in STORIES for page in story}
    alone = [[page] for page in pages() if page not in told and any(isinstance(part, Command) for part in read(page))]
    return sorted([*alone, *STORIES], key=lambda story: "tutorials" not in story[0])


def followed(home: Home, name: str, wheel: Path, story: list[str], *, activated: Path | None) -> Reader:
    """One reader who has followed the story; what they started has ended."""
    click.echo(f"{', '.join(story)}")
    reader = Reader(home, home.clone(name), wheel, activated=activated)
    try:
        for page in story:
            reader.follow(page, python=page == README or "tutorials" in page)
    finally:
        reader.end()
    return reader


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
