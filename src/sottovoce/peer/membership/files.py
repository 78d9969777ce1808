"""Configuration files as text: a new one, every field with its explanation; and changes that keep all other lines.

Reading one is :meth:`.config.PeerConfig.load`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from ...errors import ConfigError
from ...foundation.files import write_atomically
from .config import PeerConfig, from_mapping
from .explanations import EXPLANATIONS

__all__ = ["config_text", "edit_neighbours"]

_WIDTH = 100


def config_text(config: PeerConfig) -> str:
    """The TOML text of a configuration, every field with its explanation.

    The result reads back as the same configuration.
    """
    parts = [f"# sottovoce: peer {config.name!r} of network {config.network!r}.\n"]
    tables = []
    for name in EXPLANATIONS:
        value, comment = getattr(config, name), _comment(name)
        if name == "neighbours":
            tables.append(f"{comment}[neighbours]\n{_lines(value)}")
        elif name == "tls":
            tables += [] if value is None else [f"{comment}[tls]\n{_lines(vars(value))}"]
        elif value is None and name == "metrics_listen":
            parts.append(f'{comment}# metrics_listen = "127.0.0.1:9464"\n')
        else:
            parts.append(comment + _lines({name: 0.0 if value is None else value}))
    return "\n".join(parts + tables)


def _lines(table: Mapping[str, Any]) -> str:
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in table.items()}
    return tomlkit.dumps(plain)


def _comment(name: str) -> str:
    told = EXPLANATIONS[name]
    paragraphs = (told.meaning, f"Formula: {told.formula}.", f"Cost: {told.cost}")
    return "".join(f"# {line}\n" for paragraph in paragraphs for line in textwrap.wrap(paragraph, _WIDTH))


def edit_neighbours(path: Path, name: str, address: str | None) -> None:
    """Add a neighbour to a configuration file, or take it out (`address` None), leaving every other line alone.

    Raises
    ------
    ConfigError
        The file cannot be read or written, or would not be a valid configuration afterwards; it is then unchanged.
    """
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8"))
        neighbours: Any = document.setdefault("neighbours", tomlkit.table())
        if address is None:
            neighbours.pop(name, None)
        else:
            _put(neighbours, name, address)
        from_mapping(document.unwrap(), path.absolute().parent, source=str(path))
        text = tomlkit.dumps(document)
        write_atomically(path, lambda draft: draft.write_text(text, encoding="utf-8"), mode=path.stat().st_mode)
    except OSError as error:
        raise ConfigError(f"cannot change the configuration {str(path)!r}: {error.strerror}") from None
    except TOMLKitError as error:
        raise ConfigError(f"the configuration {str(path)!r} is not valid TOML: {error}") from None


def _put(table: Any, name: str, value: str) -> None:
    """Add a line after the last entry of a table; comments below it belong to the next one, and stay there."""
    below = []
    if isinstance(table, Table):
        body = table.value.body
        while body and body[-1][0] is None:
            below.append(body.pop()[1])
    table[name] = value
    for item in reversed(below):
        table.add(item)
