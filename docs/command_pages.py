"""Writes the reference of commands from the commands themselves, so that it cannot be out of date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from sottovoce.cli.main import COMMANDS, cli


def sections(command: click.Command, path: tuple[str, ...], parent: click.Context | None) -> Iterator[str]:
    """Markdown for one command, then for each of its subcommands."""
    context = click.Context(command, info_name=path[-1], parent=parent, max_content_width=88, terminal_width=88)
    yield f"{'#' * (len(path) + 1)} `{' '.join(path)}`\n"
    yield f"```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            try:
                subcommand = command.get_command(context, name)
            except ModuleNotFoundError as error:
                if len(path) > 1 or error.name != f"sottovoce.cli.{COMMANDS[name][0]}":
                    raise
                continue  # listed, and not written yet
            assert subcommand is not None
            yield from sections(subcommand, (*path, name), context)


def write(target: Path) -> None:
    """Write the page, if it changed."""
    text = "\n".join(sections(cli, ("sottovoce",), None))
    if not target.is_file() or target.read_text(encoding="utf-8") != text:
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")
