"""How kernels are compiled and where the machine code is kept.

Numba keeps compiled code on disk but looks only at the file of the function itself, not at the helpers it calls in
other files: change a method's update and a stale driver would run. So the directory is named after a hash of all our
sources that end up in kernels, and a driver after the fingerprint of the method's own functions in it
(:mod:`.fingerprints`). What has no fingerprint that holds in another process is not kept on disk.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
from numba.core import config

from ..errors import InvalidParameter
from .explaining import why_not
from .fingerprints import OPTIONS, Fingerprint, compilable

__all__ = ["Kernel", "c_function", "cache_directory", "compiled", "specialised"]

F = TypeVar("F", bound=Callable[..., Any])
_SOURCES = ("methods", "simulation")
_KEPT: dict[str, Any] = OPTIONS | {"cache": True, "no_cfunc_wrapper": True}
"""Nobody passes drivers on as values, so the entrance for that is not compiled."""
_ARRAYS, _LINEAR_ALGEBRA = "numba.np.arraymath", "numba.np.linalg"
_KERNELS: dict[tuple[Callable[..., None], str], Kernel] = {}
"""By template and fingerprint."""
_C_FUNCTIONS: dict[tuple[Callable[..., Any], str], Any] = {}
"""Likewise."""
_OURS: dict[tuple[Any, ...], Kernel] = {}
"""By template and parts, for what is made of functions of this package alone."""
_PACKAGE = __name__.partition(".")[0]


def _spare_linear_algebra() -> None:
    """Have Numba load its array functions without SciPy's linear algebra, a fifth of the time until the first step.

    It imports that only to see whether it is there, which it is, and again where somebody's function multiplies
    matrices. Ours do not.
    """
    if _ARRAYS in sys.modules:
        return
    linear_algebra: Any = importlib.import_module(_LINEAR_ALGEBRA)
    look = getattr(linear_algebra, "ensure_blas", None)
    linear_algebra.ensure_blas = lambda: None
    try:
        importlib.import_module(_ARRAYS)
    finally:
        linear_algebra.ensure_blas = look


_spare_linear_algebra()


@cache
def cache_directory() -> Path:
    """``$SOTTOVOCE_CACHE_DIR`` or the user's cache, then a folder per version of the sources.

    Falls back to a private temporary directory when that cannot be written.
    """
    package = Path(__file__).parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(path for folder in _SOURCES for path in (package / folder).rglob("*.py")):
        digest.update(source.read_bytes())
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    root = Path(os.environ.get("SOTTOVOCE_CACHE_DIR") or Path(home) / "sottovoce")
    directory = root / f"kernels-{digest.hexdigest()[:16]}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError:
        return Path(tempfile.mkdtemp(prefix="sottovoce-kernels-"))


def compiled(function: F) -> F:
    """Compile for one core without the interpreter's lock, kept on disk in :func:`cache_directory`."""
    with _cached_here():
        return cast("F", numba.jit(**_KEPT)(function))


@contextmanager
def _cached_here() -> Iterator[None]:
    """While entered, Numba keeps what it makes in our directory."""
    settings: Any = config
    previous = settings.CACHE_DIR
    settings.CACHE_DIR = str(cache_directory())
    try:
        yield
    finally:
        settings.CACHE_DIR = previous


@dataclass(frozen=True, eq=False)
class Kernel:
    """A driver that was compiled for one method's functions."""

    run: Any
    parts: dict[str, Any]
    fingerprint: Fingerprint

    @property
    def called(self) -> bool:
        """Whether it is known to compile: it was called in this process, or Numba does not compile at all."""
        return bool(getattr(self.run, "overloads", True))

    @contextmanager
    def first_call(self, name: str, *, what: str = "method") -> Iterator[None]:
        """Around a call that does nothing but compile: say once that this takes a while, and explain a failure."""
        marker = cache_directory() / f"{self.fingerprint.digest}.compiled"
        if news := not (self.called or marker.exists()):
            often = "once, " if self.fingerprint.durable else ""
            sys.stderr.write(f"sottovoce: compiling the kernel for {name} ({often}a few seconds)\n")
            sys.stderr.flush()
        try:
            yield
        except OSError:  # the disk's, not the method's
            raise
        except Exception as error:
            raise InvalidParameter(why_not(name, filter(callable, self.parts.values()), error, what=what)) from error
        if news and self.fingerprint.durable:
            marker.touch()


def specialised(template: Callable[..., None], **parts: Any) -> Kernel:
    """Compile ``template`` with other values for some globals of its module: a method's functions, and constants.

    The functions are taken as they are at this moment, with everything they look up. What was compiled
    before, here or in another process, is used again if the fingerprint of the parts is the same. Functions of this
    package do not change while it runs, so theirs is taken once.
    """
    known = (template, *parts.items())
    if (kernel := _OURS.get(known)) is not None:
        return kernel
    kernel = _specialised(template, parts)
    if all(map(_ours, parts.values())):
        _OURS[known] = kernel
    return kernel


def _ours(part: Any) -> bool:
    """Whether a part is a function that this package defines, or a plain constant."""
    if isinstance(part, FunctionType):
        return part.__closure__ is None and part.__module__.partition(".")[0] == _PACKAGE
    return isinstance(part, bool | int | str)


def _specialised(template: Callable[..., None], parts: dict[str, Any]) -> Kernel:
    fingerprint = Fingerprint()
    fingerprint.add(tuple(parts.items()))
    key = (template, fingerprint.digest)
    if key not in _KERNELS:
        function = _with_parts(template, parts, fingerprint)
        compiler = compiled if fingerprint.durable else numba.jit(**OPTIONS)
        _KERNELS[key] = Kernel(compiler(function), parts, fingerprint)
    return _KERNELS[key]


def _with_parts(template: Callable[..., Any], parts: dict[str, Any], fingerprint: Fingerprint) -> FunctionType:
    """A copy of ``template`` that finds the parts among its globals."""
    known = template.__globals__ | {name: compilable(part) for name, part in parts.items()}
    function = FunctionType(template.__code__, known, template.__name__)
    function.__qualname__ = f"{template.__name__}_{fingerprint.digest}"
    return function


def c_function(template: Callable[..., Any], signature: Any, name: str, *, what: str, **parts: Any) -> Any:
    """``template`` with these parts as a C function that kernels can call by its ``address``, as long as it lives."""
    fingerprint = Fingerprint()
    fingerprint.add(tuple(parts.items()))
    key = (template, fingerprint.digest)
    if key not in _C_FUNCTIONS:
        with Kernel(template, parts, fingerprint).first_call(name, what=what), _cached_here():
            function = _with_parts(template, parts, fingerprint)
            compiler = numba.cfunc(signature, cache=fingerprint.durable, error_model=OPTIONS["error_model"])
            _C_FUNCTIONS[key] = compiler(function)
    return _C_FUNCTIONS[key]
