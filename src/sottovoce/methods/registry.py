"""The methods that can be named: ours, those a user registers, and those that installed packages offer.

A name reaches the command line, sweeps, the studio, comparisons, and runs on disk. A package offers its methods by an
entry point in the group ``sottovoce.methods`` whose object is the class.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, cast

from ..errors import InvalidParameter
from .base import Method, check_complete

__all__ = ["METHODS", "find_method", "is_ours", "our_methods", "register"]

M = TypeVar("M", bound=type[Method])
_REGISTERED: dict[str, type[Method]] = {}
GROUP = "sottovoce.methods"
"""Of entry points; also the package where our own methods are."""


def register(cls: M) -> M:
    """Class decorator: make a method known by its :attr:`~sottovoce.methods.base.Method.name`.

    Defining a class again under the same module and name, as a notebook does, replaces it.

    Raises
    ------
    InvalidParameter
        If the class is not a complete, frozen dataclass with a usable name, or the name belongs to another class.
    """
    given: object = cls
    if not (isinstance(given, type) and issubclass(given, Method)):
        raise InvalidParameter(
            "a method must be a class derived from PairMethod, BlockMethod, RoundMethod, PushMethod or "
            f"NeighbourMethod, got {getattr(cls, '__qualname__', cls)!r}"
        )
    check_complete(cls)
    _check_dataclass(cls)
    if not re.fullmatch(r"[a-z][a-z0-9-]*", str(cls.name)):
        raise InvalidParameter(
            f"method {cls.__qualname__} must have a name of lower-case letters, digits and hyphens, got {cls.name!r}"
        )
    known = _REGISTERED.get(cls.name)
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InvalidParameter(f"the name {cls.name!r} belongs to {known.__module__}.{known.__qualname__} already")
    _REGISTERED[cls.name] = cls
    if not is_ours(cls):
        from .sources import remember  # which our own methods, and a peer, do without

        remember(cls.__module__)
    return cls


def _check_dataclass(cls: type[Method]) -> None:
    if not getattr(getattr(cls, "__dataclass_params__", None), "frozen", False):
        raise InvalidParameter(
            f"method {cls.__qualname__} must be a frozen dataclass: @dataclass(frozen=True) under @register"
        )
    kinds = [base for base in cls.__mro__ if base.__module__ == Method.__module__]
    for field in fields(cast("Any", cls)):
        declared = (str(inspect.get_annotations(kind).get(field.name, "")) for kind in kinds)
        if any(field.name in vars(kind) for kind in kinds) or any("ClassVar" in annotation for annotation in declared):
            raise InvalidParameter(
                f"{cls.__qualname__}.{field.name} must be a ClassVar or have no annotation, got a parameter"
            )


@cache
def _load_entry_points() -> None:
    """Register what installed packages offer; what cannot be used is named in a warning and stops nothing else."""
    from importlib.metadata import entry_points  # two megabytes, and a peer needs no methods

    for entry in entry_points(group=GROUP):
        try:
            register(entry.load())
        except Exception as error:  # whatever a foreign module does when it is imported
            package = entry.dist.name if entry.dist is not None else "an installed package"
            warnings.warn(
                f"method {entry.name!r} of {package} cannot be used: {type(error).__name__}: {error}", stacklevel=2
            )


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


def is_ours(cls: type[Method]) -> bool:
    """Whether a method comes with this package."""
    return cls.__module__.startswith(f"{GROUP}.")


def our_methods() -> dict[str, type[Method]]:
    """Class name → class, of the methods that come with this package: what it offers as attributes."""
    return {cls.__name__: cls for cls in _REGISTERED.values() if is_ours(cls)}
