"""The files that methods of one's own come from, as they were when they were loaded.

A process computes with what it has imported, whatever somebody writes into the files since. So their content is looked
at when a class is registered, and again when it is loaded anew. With a module count the modules of the user's that it
uses, and those that these use.
"""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import ModuleType

__all__ = ["changed", "file_of", "remember", "remembered"]

_LOADED: dict[str, dict[str, str]] = {}
"""Module of a method → modules that count → digest of the content of their files."""


def remember(name: str) -> None:
    """Look at the files of a module that is being imported, and at those of the modules that it uses."""
    found = {other: file for other, module in _used(name).items() if (file := file_of(module)) is not None}
    _LOADED[name] = {other: _digest(file) for other, file in found.items()}


def remembered(name: str) -> str | None:
    """Digest of a module's files as they were when it was loaded; ``None``: it does not come from a file."""
    contents = _LOADED.get(name, {})
    if name not in contents:
        return None
    own, others = contents[name], sorted((other, digest) for other, digest in contents.items() if other != name)
    return hashlib.sha256(repr((own, others)).encode()).hexdigest()


def changed(name: str) -> list[ModuleType]:
    """The modules whose files have another content now: those that a module uses, and then itself.

    If one of the others has changed, so has the module that uses it.
    """
    used = _used(name)
    contents = {other: digest for other, digest in _LOADED.get(name, {}).items() if other in used}
    files = {other: file_of(used[other]) for other in contents}
    others = [other for other, file in files.items() if file is not None and _digest(file) != contents[other]]
    return [used[other] for other in others if other != name] + [used[name]] * bool(others)


def file_of(module: ModuleType) -> Path | None:
    """Where a module was read from; ``None`` if there is no such file, as in a notebook."""
    file = getattr(module, "__file__", None)
    path = None if file is None else Path(file).resolve()
    return path if path is not None and path.is_file() else None


def _used(name: str) -> dict[str, ModuleType]:
    """A module, and the user's modules that something in it comes from, or in those."""
    found = {name: sys.modules[name]} if name in sys.modules else {}
    waiting = list(found.values())
    while waiting:
        for value in list(vars(waiting.pop()).values()):
            home = _home(value)
            if home in sys.modules and home not in found and _is_the_users(sys.modules[home]):
                found[home] = sys.modules[home]
                waiting.append(sys.modules[home])
    return found


def _home(value: object) -> str:
    """The module that something is, or comes from."""
    if isinstance(value, ModuleType):
        return value.__name__
    home = getattr(value, "__module__", None) if callable(value) else None
    return home if isinstance(home, str) else ""


def _is_the_users(module: ModuleType) -> bool:
    file = file_of(module)
    return file is not None and file.suffix == ".py" and not any(file.is_relative_to(place) for place in _others())


@cache
def _others() -> tuple[Path, ...]:
    """Where Python's modules, installed packages and this package are."""
    places = (sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib"))
    return tuple({Path(place).resolve() for place in places if place} | {Path(__file__).resolve().parents[1]})


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
