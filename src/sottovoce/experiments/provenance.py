"""Where numbers come from: what every file that an experiment writes says of itself.

Versions, seeds, the graph with a digest of its edges, and the settings or the command that made them; no time and no
machine, so that the same work writes the same bytes. Private values are never part of it.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from types import MappingProxyType
from typing import Any

from .._version import __version__
from ..graphs.graph import Graph

__all__ = ["Provenance"]

PACKAGES = ("numpy", "scipy", "numba")


@dataclass(frozen=True, eq=False)
class Provenance:
    """What was run, with what; see :meth:`of`.

    Attributes
    ----------
    settings
        What was asked for, by name.
    command
        The command line, if it came from one.
    """

    settings: Mapping[str, Any]
    command: str | None = None

    @classmethod
    def of(cls, graph: Graph | None = None, **settings: Any) -> Provenance:
        """These settings, and the graph by name and digest.

        Examples
        --------
        >>> import sottovoce as sv
        >>> made = Provenance.of(sv.graphs.cycle(3), seed=1)
        >>> made.settings["graph"], made.settings["seed"]
        ('cycle(3), 3 nodes, 3 edges, digest 5b4e87f5eb7bb2c9', 1)
        """
        which = {} if graph is None else {"graph": _named(graph)}
        return cls(MappingProxyType(which | settings))

    def by(self, command: str | None) -> Provenance:
        """The same, made by this command line."""
        return replace(self, command=command)

    def as_dict(self) -> dict[str, Any]:
        """All of it by name, ready for JSON."""
        told = {"sottovoce": __version__, "versions": _versions(), **self.settings}
        return told | ({} if self.command is None else {"command": self.command})

    def line(self) -> str:
        """One line of JSON, for the metadata of a figure."""
        return json.dumps(self.as_dict(), ensure_ascii=False, default=str)

    def comments(self, mark: str = "#") -> str:
        """One comment line for each entry, for the top of a table."""
        return "".join(f"{mark} {name}: {_plain(value)}\n" for name, value in self.as_dict().items())


@cache
def _versions() -> str:
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:  # pragma: no cover (an install without metadata)
            continue
    return ", ".join([f"Python {platform.python_version()}", *found])


def _named(graph: Graph) -> str:
    return f"{graph.name}, {graph.num_nodes} nodes, {graph.num_edges} edges, digest {graph.fingerprint}"


def _plain(value: Any) -> str:
    """On one line."""
    return " ".join(str(value).split())
