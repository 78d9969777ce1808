"""What is public does not go unnoticed: names, parameters and options of the last release are all still there.

``python -m tests.test_stability > tests/public_names.txt`` writes the list anew, when a release is made.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click

import sottovoce
from sottovoce.cli.main import cli

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tests" / "public_names.txt"
PACKAGES = ["errors", "experiments", "graphs", "methods", "peer", "plotting", "privacy", "simulation", "statistics",
            "testing", "theory"]  # fmt: skip


def public() -> dict[str, set[str]]:
    """Name or command → its parameters or options."""
    found = dict(named("sottovoce"))
    for package in PACKAGES:
        found.update(named(f"sottovoce.{package}"))
    found.update(commands(cli, "command", None))
    return found


def named(package: str) -> Iterator[tuple[str, set[str]]]:
    module = importlib.import_module(package)
    for name in module.__all__:
        thing = getattr(module, name)
        if not inspect.ismodule(thing):
            yield f"{package}.{name}", parameters(thing)


def parameters(thing: object) -> set[str]:
    """Names that a caller may write; none for what cannot be called."""
    if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, BaseException)):
        return set()
    try:
        found = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return set()
    return {each.name for each in found if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}


def commands(command: click.Command, path: str, parent: click.Context | None) -> Iterator[tuple[str, set[str]]]:
    context = click.Context(command, info_name=path, parent=parent)
    yield path, {option for each in command.get_params(context) for option in each.opts if option.startswith("--")}
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, f"{path} {name}", context)


def lines(found: dict[str, set[str]]) -> list[str]:
    return [f"{name}: {' '.join(sorted(each))}".rstrip() for name, each in sorted(found.items())]


def gone(before: list[str], now: dict[str, set[str]]) -> list[str]:
    """What the list has and the package has not."""
    missing = []
    for line in before:
        name, _, each = line.partition(":")
        if name not in now:
            missing.append(name)
        else:
            missing += [f"{name} {part}" for part in each.split() if part not in now[name]]
    return missing


def test_no_public_name_has_gone() -> None:
    """Every name, parameter, command and option of the list is still there."""
    missing = gone(LIST.read_text(encoding="utf-8").splitlines(), public())
    assert missing == [], "keep these as deprecated; if they were in no release, write the list anew (see above)"


def test_what_goes_is_noticed() -> None:
    """A name, a parameter and an option that are not there any more are each named."""
    now = {"sottovoce.simulate": {"graph"}, "command plan": {"--graph"}}
    before = ["sottovoce.simulate: graph seed", "sottovoce.compare:", "command plan: --graph --json"]
    assert gone(before, now) == ["sottovoce.simulate seed", "sottovoce.compare", "command plan --json"]


def test_the_packages_are_those_of_the_reference() -> None:
    """The list covers every package that the reference calls public, but for the studio, which has no names."""
    page = (ROOT / "docs" / "generated_pages.py").read_text(encoding="utf-8")
    page = page.partition("PACKAGES = {")[2].partition("}")[0]
    assert sorted(re.findall(r'"(\w+)":', page)) == sorted([*PACKAGES, "studio"])


def test_the_version_is_dated() -> None:
    """The newest section of the changelog is that of the package; the citation has its day."""
    titles = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    newest = next(title for title in titles if title != "Unreleased")
    version, _, day = newest.partition(" – ")
    assert version == sottovoce.__version__
    assert f"\ndate-released: {day}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)


def test_the_description_leads_nowhere_relative() -> None:
    """What a package index would show has no picture, and no link that works in the repository only."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / project["readme"]).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]*)\)|<(https?://[^>]*)>", text)
    assert "![" not in text
    assert all((one or other).startswith("https://") for one, other in links)
    assert all(address.startswith("https://") for address in project["urls"].values())


PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - {ROOT / "CHANGELOG.md"})
EXPLAINED = ROOT / "docs" / "how-to" / "install.md"


def test_no_page_installs_an_unclaimed_name() -> None:
    """pip gets a clone (``.``), never the bare name; the page that shows a program's sentence says why it is safe."""
    asked = {
        page: re.findall(r"pip3? install [^\n`]*sottovoce[^\n`]*", page.read_text(encoding="utf-8")) for page in PAGES
    }
    assert [page.name for page, lines in asked.items() if lines and page != EXPLAINED] == []
    assert asked[EXPLAINED] == ["pip install 'sottovoce[simulate]'"]
    assert "pip` takes the sottovoce that is installed" in EXPLAINED.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines(public())) + "\n")
