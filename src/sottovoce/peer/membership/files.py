"""A peer's own file, ``peer.toml``: read together with the roster it names, written new, and changed in one place.

The file holds what is the peer's own business. What all members share, and who is whose neighbour, comes from the
roster and is refused in the file, so that no two members can differ in it.
"""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ...foundation.files import write_atomically
from .config import IdentityFiles, PeerConfig
from .credentials import trusted_roster
from .explanations import EXPLANATIONS
from .roster import SHARED, Roster

__all__ = ["OWN", "config_text", "edit_founder", "edit_without", "from_roster", "read_config"]

_WIDTH = 100
_DERIVED = ("neighbours", "diameter", "members", "max_degree", "leaves", "index", "roster", "roster_digest")

OWN = tuple(name for name in EXPLANATIONS if name not in SHARED and name not in _DERIVED)
"""The fields of ``peer.toml``, in the order in which they are written."""


def from_roster(roster: Roster, name: str, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of one member's configuration that the roster decides."""
    around = {other: member.address for other, member in roster.neighbours_of(name).items() if other not in without}
    others = {other: member.address for other, member in roster.members.items() if other not in {name, *around}}
    decided = {
        **roster.settings,
        "network": roster.network,
        "neighbours": around,
        "others": others,
        "diameter": roster.diameter,
        "members": len(roster.members),
        "max_degree": max(roster.degrees.values()),
        "leaves": frozenset(member for member, degree in roster.degrees.items() if degree == 1),
        "index": roster.names.index(name),
        "roster": roster.number,
        "roster_digest": roster.digest,
    }
    known = {item.name for item in fields(PeerConfig)}
    return {field: value for field, value in decided.items() if field in known}


def read_config(path: Path) -> PeerConfig:
    """Read ``peer.toml`` and the roster that it names."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the configuration {str(path)!r} is not valid TOML: {error}") from None
    try:
        return _from_table(table, path.absolute().parent)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def _from_table(table: Mapping[str, Any], folder: Path) -> PeerConfig:
    given = _checked_fields(table)
    files = _identity(given["identity"], folder)
    roster = trusted_roster(files, given["network"])
    without = given.get("without", ())
    if not isinstance(without, list | tuple) or not all(isinstance(name, str) for name in without):
        raise ConfigError(f"without must be a list of names, got {without!r}")
    name = given["name"]
    if name not in roster.members:
        gone = " any more" if name in roster.tombstones else ""
        raise ConfigError(f"{name!r} is not a member of network {roster.network!r}{gone}, says roster {roster.number}")
    own = given | {
        "data_dir": _path(given["data_dir"], folder, "data_dir"),
        "identity": files,
        "listen": given["listen"] or None,
        "without": tuple(without),
    }
    own.setdefault("min_open_edges", min(2, roster.degrees[name]))
    return PeerConfig(**(from_roster(roster, name, tuple(without)) | own))


def _checked_fields(table: Mapping[str, Any]) -> dict[str, Any]:
    for name in sorted(set(table) - set(OWN)):
        if name in EXPLANATIONS:
            raise ConfigError(f"{name!r} is decided by the roster, the same for all members; take it out")
        raise ConfigError(f"unknown field {name!r}; known are {', '.join(OWN)}")
    by_name = {item.name: item for item in fields(PeerConfig)}
    for name in OWN:
        item = by_name[name]
        required = (item.default is MISSING and item.default_factory is MISSING) or name == "identity"
        if required and name not in table:
            raise ConfigError(f"missing field {name!r} ({EXPLANATIONS[name].meaning})")
    return dict(table)


def _path(value: object, folder: Path, what: str) -> Path:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{what} must be a path, got {value!r}")
    return folder / value


def _identity(table: object, folder: Path) -> IdentityFiles:
    wanted = ("founder", "key", "roster")
    if not isinstance(table, dict) or sorted(table) != list(wanted) or not isinstance(table["founder"], str):
        raise ConfigError(f"[identity] must have exactly the fields {', '.join(wanted)}")
    key, roster = (_path(table[name], folder, f"identity.{name}") for name in ("key", "roster"))
    return IdentityFiles(key, roster, table["founder"])


def config_text(config: PeerConfig) -> str:
    """The TOML text of a peer's own file, every field with its explanation."""
    parts = [f"# sottovoce: peer {config.name!r} of network {config.network!r}.\n"]
    tables = []
    for name in OWN:
        value, comment = getattr(config, name), _comment(name)
        if name == "identity":
            tables += [] if value is None else [f"{comment}[identity]\n{_lines(vars(value))}"]
        elif value is None and name == "metrics_listen":
            parts.append(f'{comment}# metrics_listen = "127.0.0.1:9464"\n')
        elif name == "min_open_edges" and value == min(2, len(config.neighbours)):
            parts.append(f"{comment}# min_open_edges = {value}\n")  # follows the roster as long as it is not set
        elif name == "listen":
            parts.append(comment + _lines({name: value or ""}))
        elif name == "without":
            parts.append(comment + _lines({name: list(value)}))
        else:
            parts.append(comment + _lines({name: 0.0 if value is None else value}))
    return "\n".join(parts + tables)


def _lines(table: Mapping[str, Any]) -> str:
    import tomlkit  # only where a file is written: a running peer does without it

    plain = {name: str(value) if isinstance(value, Path) else value for name, value in table.items()}
    return tomlkit.dumps(plain)


def _comment(name: str) -> str:
    told = EXPLANATIONS[name]
    paragraphs = (told.meaning, f"Formula: {told.formula}.", f"Cost: {told.cost}")
    return "".join(f"# {line}\n" for paragraph in paragraphs for line in textwrap.wrap(paragraph, _WIDTH))


def edit_without(path: Path, name: str, *, dropped: bool) -> None:
    """Put a neighbour on the list ``without``, or take it off, leaving every other line of the file alone.

    Raises
    ------
    ConfigError
        The file cannot be read or written; it is then unchanged.
    """

    def change(document: Any) -> None:
        names = [str(other) for other in document.get("without", []) if other != name]
        document["without"] = [*names, name] if dropped else names

    _edit(path, change)


def edit_founder(path: Path, founder: str) -> None:
    """Believe another founder from now on, leaving every other line of the file alone; errors as for the other."""

    def change(document: Any) -> None:
        document["identity"]["founder"] = founder

    _edit(path, change)


def _edit(path: Path, change: Callable[[Any], None]) -> None:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8"))
        change(document)
        text = tomlkit.dumps(document)
        write_atomically(path, lambda draft: draft.write_text(text, encoding="utf-8"), mode=path.stat().st_mode)
    except OSError as error:
        raise ConfigError(f"cannot change the configuration {str(path)!r}: {error.strerror}") from None
    except TOMLKitError as error:
        raise ConfigError(f"the configuration {str(path)!r} is not valid TOML: {error}") from None
