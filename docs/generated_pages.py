"""Writes the reference of commands and of Python names from the package itself, so that neither can be out of date.

A page for each package that has public names (its ``__all__``), and one for all commands. A name that
is also reachable from the top is shown as users write it: ``sottovoce.Graph``.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click

import sottovoce
from sottovoce.cli.main import cli

PACKAGES = {
    "graphs": "Graphs",
    "methods": "Methods",
    "simulation": "Simulation",
    "theory": "Theory",
    "privacy": "Privacy",
    "experiments": "Experiments",
    "plotting": "Plotting",
    "statistics": "Statistics of tables that stay apart",
    "peer": "The networked peer",
    "studio": "Studio",
    "testing": "For tests of your own",
    "errors": "Errors",
}
"""Package → title of its page, in reading order."""

ENGINE_ONLY = {"Solution": "aliases, as_dict, drift, parameters, records, scale, totals, without_records"}
"""Members that are public among our modules and of no use to others."""


def commands(command: click.Command, path: tuple[str, ...], parent: click.Context | None) -> Iterator[str]:
    """Markdown for one command, then for each of its subcommands."""
    context = click.Context(command, info_name=path[-1], parent=parent, max_content_width=88, terminal_width=88)
    yield f"{'#' * (len(path) + 1)} `{' '.join(path)}`\n"
    yield f"```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from commands(subcommand, (*path, name), context)


def directives(package: ModuleType) -> Iterator[str]:
    """One autodoc directive for each public name that is at home in ``package``, or has no page at home."""
    things = {name: getattr(package, name) for name in package.__all__}
    at_the_top = {name: getattr(sottovoce, name) for name in sottovoce.__all__}  # `sv.sweep` hides behind its module
    things |= {name: thing for name, thing in at_the_top.items() if callable(thing)}
    for name, thing in sorted(things.items(), key=lambda item: (inspect.isclass(item[1]), item[0])):
        if inspect.ismodule(thing) or not _belongs(name, thing, package):
            continue
        kind = "class" if inspect.isclass(thing) else "function" if callable(thing) else "data"
        if kind == "class" and issubclass(thing, BaseException):
            kind = "exception"
        home = "sottovoce" if getattr(sottovoce, name, None) is thing else package.__name__
        # The engine fills in a Solution; nobody calls its constructor.
        yield f".. auto{kind}:: {home}.{name}" + ("()" if name in ENGINE_ONLY else "")
        if name in ENGINE_ONLY:
            yield f"   :inherited-members:\n   :exclude-members: {ENGINE_ONLY[name]}"
        if kind == "exception":
            yield "   :show-inheritance:"
        yield ""


def _belongs(name: str, thing: object, package: ModuleType) -> bool:
    """Whether ``thing`` was defined in ``package``, or elsewhere where it is not listed: a method's own formulas."""
    module = getattr(thing, "__module__", None) or package.__name__
    if module.startswith(package.__name__):
        return True
    home = importlib.import_module(".".join(module.split(".")[:2]))
    return name in package.__all__ and module.startswith("sottovoce.") and name not in getattr(home, "__all__", ())


def python_pages() -> Iterator[tuple[str, str]]:
    """Name and Markdown of the page of each package that has public names."""
    for number, (name, title) in enumerate(PACKAGES.items()):
        package = importlib.import_module(f"sottovoce.{name}")
        if not getattr(package, "__all__", None):
            continue
        opening = f".. automodule:: sottovoce.{name}\n   :no-members:\n"
        body = "\n".join(directives(package))
        yield f"{number:02}-{name}.md", f"# {title}\n\n```{{eval-rst}}\n{opening}\n{body}```\n"


def write(folder: Path) -> None:
    """Write all pages below ``folder``; one that did not change keeps its date."""
    pages = {"commands.inc.md": "\n".join(commands(cli, ("sottovoce",), None))}
    pages.update({f"api/{name}": text for name, text in python_pages()})
    (folder / "api").mkdir(parents=True, exist_ok=True)
    for path in (folder / "api").glob("*.md"):
        if f"api/{path.name}" not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
