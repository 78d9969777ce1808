"""A method's function as it is now: a fingerprint of all that it computes with, and a copy that no later edit reaches.

What a function computes is decided by its bytecode, its constants and defaults, and by everything that it looks up:
closure cells and globals, and what the functions among them look up in turn. Change any of these and the
fingerprint is another. File names and line numbers do not count.

Numba looks things up once, when it compiles. So it is given copies, of the function and of every function that it
calls, with the globals of this moment. The functions need no decorator, but must be written in the part of Python
that Numba compiles.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import sys
from collections.abc import Callable, Iterator, Set
from functools import cached_property, lru_cache
from types import (
    CellType,
    CodeType,
    EllipsisType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
    NoneType,
)
from typing import Any

import numba
import numpy as np

__all__ = ["Fingerprint", "code_of", "compilable", "same_python"]

LIBRARIES = {"builtins", "cmath", "math", "numba", "numpy", "operator"}
"""Known by their versions, and not looked into."""

LARGEST_ARRAY = 10**6
"""Bytes of a global array that Numba still keeps on disk with the code."""

NUMBERS = (bool, int, float, complex, np.generic)
DESCRIBED = (*NUMBERS, str, bytes, frozenset, NoneType, EllipsisType, np.dtype, numba.types.Type)
"""What its own ``repr`` tells apart."""

SIMPLE = frozenset({bool, int, float, complex, str, bytes, NoneType})
"""Types of which a tuple tells all items apart as well."""

OPTIONS: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy"}
VERSIONS = f"{sys.implementation.cache_tag} {np.__version__} {numba.__version__}"
MISSING = object()
_COPIES: dict[str, Any] = {}
"""Copies by fingerprint: what several kernels call is compiled once."""

Names = frozenset[str]


class Fingerprint:
    """Add functions and constants; equal digests mean equal compiled code."""

    versions, libraries = VERSIONS, LIBRARIES

    def __init__(self) -> None:
        self._hash = hashlib.sha256(self.versions.encode())
        self._met: dict[object, tuple[int, object]] = {}
        self.by_identity: list[object] = []
        """What could not be described; kept here, so that no other object gets its address."""

    @property
    def digest(self) -> str:
        """Of everything added so far."""
        return self._hash.hexdigest()[:32]

    @property
    def durable(self) -> bool:
        """Whether the digest means the same in another process."""
        return not self.by_identity

    def add(self, value: Any, names: Names = frozenset()) -> None:
        """Add one value; if it is a module, what it has under ``names``."""
        options, value = getattr(value, "targetoptions", OPTIONS), _plain(value)
        if isinstance(value, FunctionType) and not _from_library(value, self.libraries):
            self._say("function", _code_digest(value.__code__), sorted(options.items()))
            self._add_parts(value, _names(value.__code__))
        elif isinstance(value, ModuleType) and not _from_library(value, self.libraries):
            self._say("module", value.__name__)
            self._add_parts(value, names)
        elif isinstance(value, tuple | list):
            if SIMPLE.issuperset(map(type, value)):  # most of them: said at once
                self._say(type(value).__qualname__, "simple", *value)
                return
            self._say(type(value).__qualname__, len(value))
            for item in value:
                self.add(item, names)
        else:
            self._say(*self._describe(value))

    def _add_parts(self, value: FunctionType | ModuleType, names: Names) -> None:
        """What a function or a module looks up; only once, since functions may call each other in circles."""
        key = (id(value), names)
        new = key not in self._met
        number, _ = self._met.setdefault(key, (len(self._met), value))
        self._say("number", number)
        if new:
            for name, part in _looked_up(value, names):
                self._say(name)
                self.add(part, names)

    def _describe(self, value: Any) -> tuple[object, ...]:
        if isinstance(value, DESCRIBED):
            return (type(value).__qualname__, _words(value))
        if isinstance(value, np.ndarray) and not value.dtype.hasobject and value.nbytes <= LARGEST_ARRAY:
            return ("array", value.dtype.descr, value.shape, value.strides, value.tobytes())
        if _from_library(value, self.libraries):
            return ("library", _home(value), _name(value))
        if isinstance(value, np.ufunc) and getattr(np, _name(value), MISSING) is value:
            return ("ufunc", _name(value))
        self.by_identity.append(value)
        return ("object", id(value))

    def _say(self, *words: object) -> None:
        self._hash.update(repr(words).encode())


@lru_cache(maxsize=1024)
def _code_digest(code: CodeType) -> str:
    parts = [_code_digest(const) if isinstance(const, CodeType) else _words(const) for const in code.co_consts]
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    text = repr((code.co_code, code.co_exceptiontable, arguments, names, parts))
    return hashlib.sha256(text.encode()).hexdigest()


def _words(constant: object) -> str:
    """What tells a constant from others; of a set in an order that is the same in all processes."""
    return repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


@lru_cache(maxsize=1024)
def _names(code: CodeType) -> Names:
    """Globals and attributes that a function and the functions inside it use."""
    inner = (_names(const) for const in code.co_consts if isinstance(const, CodeType))
    return frozenset(code.co_names).union(*inner)


def _looked_up(value: FunctionType | ModuleType, names: Names) -> Iterator[tuple[str, Any]]:
    """Name and value of everything that a function looks up, or that is looked up in a module."""
    if isinstance(value, ModuleType):
        found = ((name, getattr(value, name, MISSING)) for name in sorted(names))
    else:
        yield "defaults", value.__defaults__
        yield "keyword defaults", tuple(sorted((value.__kwdefaults__ or {}).items()))
        yield from zip(value.__code__.co_freevars, map(_content, value.__closure__ or ()), strict=True)
        found = ((name, value.__globals__.get(name, MISSING)) for name in sorted(names))
    yield from ((name, part) for name, part in found if part is not MISSING)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # defined later in the function that encloses it
        return None


def _plain(value: Any) -> Any:
    """What Numba compiled."""
    return getattr(value, "py_func", value)


def _home(value: Any) -> str:
    return str(value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", ""))


def _from_library(value: Any, libraries: Set[str] = LIBRARIES) -> bool:
    """Whether a library has it under its name; what a user made with a library's help does not count."""
    home = _home(value)
    if home.partition(".")[0] not in libraries:
        return False
    return isinstance(value, ModuleType) or getattr(sys.modules.get(home), _name(value), MISSING) is value


def _name(value: Any) -> str:
    return str(getattr(value, "__name__", ""))


# -- classes ----------------------------------------------------------------------------------------

MADE_FOR_IT = {"__delattr__", "__eq__", "__hash__", "__init__", "__replace__", "__repr__", "__setattr__", "_abc_impl"}
"""What a dataclass is given, and an abstract class; other things with two underscores count if they are functions."""


def code_of(cls: type) -> str:
    """Digest of all that a class of the user's computes with, as it is now; empty if part of it has no lasting name.

    It means the same in another process with the same version of Python.
    """
    own = _CodeOfClasses()
    own.add(cls)
    return f"{own.versions} {own.digest}" if own.durable else ""


def same_python(one: str, other: str) -> bool:
    """Whether two digests of :func:`code_of` come from the same version of Python, and can be compared."""
    return bool(one and other) and one.partition(" ")[0] == other.partition(" ")[0]


class _CodeOfClasses(Fingerprint):
    """Looks into classes, too, and knows this package by its name."""

    versions = str(sys.implementation.cache_tag)
    libraries = (LIBRARIES | {__name__.partition(".")[0]} | sys.stdlib_module_names) - {"__main__"}

    def __init__(self) -> None:
        super().__init__()
        self._classes: list[type] = []

    def _describe(self, value: Any) -> tuple[object, ...]:
        if isinstance(value, enum.Enum):
            return ("member", str(value))
        if isinstance(value, type) and not _from_library(value, self.libraries):
            return self._look_into(value)
        if (
            dataclasses.is_dataclass(value)
            and not isinstance(value, type)
            and _from_library(type(value), self.libraries)
        ):
            for field in dataclasses.fields(value):
                self.add(getattr(value, field.name))
            return ("instance", type(value).__qualname__)
        if type(value) is dict and all(isinstance(key, str) for key in value):
            self.add(sorted(value.items()))
            return ("dict",)
        return super()._describe(value)

    def _look_into(self, cls: type) -> tuple[object, ...]:
        if cls not in self._classes:
            self._classes.append(cls)
            for base in cls.__bases__:
                self.add(base)
            for name, part in sorted(vars(cls).items()):
                special = name.startswith("__") and not isinstance(part, FunctionType)
                if not special and name not in MADE_FOR_IT:
                    self._say(name)
                    for one in _inside(part):
                        self.add(one)
        return ("class", self._classes.index(cls), cls.__qualname__)


def _inside(part: Any) -> tuple[Any, ...]:
    """The functions that an attribute of a class stands for, or what it is."""
    if isinstance(part, GetSetDescriptorType | MemberDescriptorType):
        return ()
    if isinstance(part, staticmethod | classmethod):
        return (part.__func__,)
    if isinstance(part, property):
        return (part.fget, part.fset, part.fdel)
    return (part.func,) if isinstance(part, cached_property) else (part,)


# -- copies -----------------------------------------------------------------------------------------


def compilable(value: Any) -> Any:
    """A function, and all that it calls, copied and made ready for Numba; constants stay as they are."""
    return _copy(value, frozenset(), {})


def _copy(value: Any, names: Names, copies: dict[object, Any]) -> Any:
    plain = _plain(value)
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_copy(item, names, copies) for item in value)
    if not isinstance(plain, FunctionType | ModuleType) or _from_library(plain):
        return value
    key = id(plain) if isinstance(plain, FunctionType) else (id(plain), names)
    if key not in copies:
        make = _copy_function if isinstance(plain, FunctionType) else _copy_module
        make(value, key, names, copies)
    return copies[key]


def _copy_function(value: Any, key: object, names: Names, copies: dict[object, Any]) -> None:
    function: FunctionType = _plain(value)
    own = Fingerprint()
    own.add(value)
    if own.digest in _COPIES:
        copies[key] = _COPIES[own.digest]
        return
    names = _names(function.__code__)
    cells = tuple(CellType() for _ in function.__code__.co_freevars)
    # What is kept on disk names this module, which is there when it is read; the user's may be renamed by then.
    known: dict[str, Any] = {"__name__": __name__}
    fresh = FunctionType(function.__code__, known, function.__name__, function.__defaults__, cells)
    fresh.__kwdefaults__ = function.__kwdefaults__
    # Numba names machine code after the function and a count of its process. Code of two processes may have the same
    # count; where both are read from disk, one `send` would be called in place of another.
    fresh.__qualname__ = f"{function.__name__}_{own.digest}"
    compiler: Callable[[Any], Any] = numba.jit(**getattr(value, "targetoptions", OPTIONS))
    copies[key] = compiler(fresh)
    if own.durable:
        _COPIES[own.digest] = copies[key]
    for cell, theirs in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = _copy(_content(theirs), names, copies)
    known |= {name: _copy(function.__globals__[name], names, copies) for name in names & function.__globals__.keys()}


def _copy_module(module: ModuleType, key: object, names: Names, copies: dict[object, Any]) -> None:
    fresh = copies[key] = ModuleType(module.__name__)
    for name, part in _looked_up(module, names):
        setattr(fresh, name, _copy(part, names, copies))
