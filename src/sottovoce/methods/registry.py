"""The methods that can be named: ours, those a user registers, and those that installed packages offer.

A name reaches the command line, sweeps, the studio, comparisons, and runs on disk. A package offers its methods by an
entry point in the group ``sottovoce.methods`` whose object is the class.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TypeVar

from ..errors import InvalidParameter
from .base import Method

__all__ = ["METHODS", "find_method", "register"]

M = TypeVar("M", bound=type[Method])
_REGISTERED: dict[str, type[Method]] = {}


def register(cls: M) -> M:
    """Class decorator: make a method known by its :attr:`~sottovoce.methods.base.Method.name`.

    Defining a class again under the same module and name, as a notebook does, replaces it.

    Raises
    ------
    InvalidParameter
        If the class is not a final, frozen dataclass with a usable name, or the name belongs to another class.
    """
    label = getattr(cls, "__qualname__", repr(cls))
    if not issubclass(cls, Method):
        raise InvalidParameter(f"method {label} must derive from PairMethod, BlockMethod, RoundMethod or PushMethod")
    if inspect.isabstract(cls):
        missing = ", ".join(sorted(cls.__abstractmethods__))
        raise InvalidParameter(f"method {label} must define {missing}")
    if not getattr(getattr(cls, "__dataclass_params__", None), "frozen", False):
        raise InvalidParameter(f"method {label} must be a frozen dataclass: @dataclass(frozen=True) under @register")
    name = str(getattr(cls, "name", ""))
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise InvalidParameter(f"method {label} must have a name of lower-case letters, digits, hyphens; got {name!r}")
    known = _REGISTERED.get(name)
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InvalidParameter(f"the name {name!r} belongs to {known.__module__}.{known.__qualname__} already")
    _REGISTERED[name] = cls
    return cls


@cache
def _load_entry_points() -> None:
    for entry in entry_points(group="sottovoce.methods"):
        register(entry.load())


class _Methods(Mapping[str, type[Method]]):
    """Name → class, in the order of registration; a look at it first loads what installed packages offer."""

    def __getitem__(self, name: str) -> type[Method]:
        if name not in _REGISTERED:
            _load_entry_points()
        return _REGISTERED[name]

    def __iter__(self) -> Iterator[str]:
        _load_entry_points()
        return iter(list(_REGISTERED))

    def __len__(self) -> int:
        _load_entry_points()
        return len(_REGISTERED)


METHODS: Mapping[str, type[Method]] = _Methods()
"""Every method that can be named: name → class."""


def find_method(name: str) -> type[Method]:
    """The class behind a name.

    Raises
    ------
    InvalidParameter
        If no method has that name.
    """
    if name not in METHODS:
        raise InvalidParameter(
            f"method must be one of {', '.join(METHODS)}, got {name!r} (one of your own: import it, or --load its file)"
        )
    return METHODS[name]
