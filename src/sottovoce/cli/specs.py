"""Options that take a graph or a method in words: help lists what there is, and shells complete it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GraphOption", "MethodOption"]


class _Listing(click.Option):
    """An option whose help ends with the names that it takes."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return self.offers(incomplete)

    def offers(self, incomplete: str) -> list[CompletionItem]:
        """What a shell may put in place of what was typed so far."""
        raise NotImplementedError

    def listing(self) -> str:
        """Those names."""
        raise NotImplementedError

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        return None if record is None else (record[0], f"{record[1]} {self.listing()}")


class GraphOption(_Listing):
    """``--graph``."""

    def offers(self, incomplete: str) -> list[CompletionItem]:
        """Families, each with what it takes, and files."""
        known = families().items()
        found = [CompletionItem(f"{name}:", help=takes) for name, takes in known if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")]

    def listing(self) -> str:
        return f"Families: {', '.join(families())}."


class MethodOption(_Listing):
    """``--method``."""

    def offers(self, incomplete: str) -> list[CompletionItem]:
        """Names of methods; after a colon or a comma, the parameters that are not there yet."""
        name, colon, rest = incomplete.partition(":")
        if not colon:
            return [
                CompletionItem(f"{known}:" if takes else known, help=", ".join(takes))
                for known, takes in methods().items()
                if known.startswith(incomplete)
            ]
        given, comma, begun = rest.rpartition(",")
        there = {part.partition("=")[0] for part in given.split(",")}
        return [
            CompletionItem(f"{name}:{given}{comma}{parameter}=")
            for parameter in methods().get(name, ())
            if parameter.startswith(begun) and parameter not in there
        ]

    def listing(self) -> str:
        return f"Methods: {', '.join(methods())}."


def families() -> Mapping[str, str]:
    """Name of a family → its parameters, as in ``n, radius, seed``."""
    from ..scenario.graphs import FAMILIES

    return {name: ", ".join(recipe.parameters) for name, recipe in FAMILIES.items()}


def methods() -> Mapping[str, tuple[str, ...]]:
    """Name of a method → its parameters."""
    from ..methods import METHODS

    return {name: tuple(inspect.signature(method).parameters) for name, method in METHODS.items()}
