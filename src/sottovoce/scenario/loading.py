"""Methods that live in somebody's own files: loading them here, and again in other processes.

A file of methods is imported as a module, with its folder added to the end of the search path; its classes register
themselves (:func:`sottovoce.methods.register`). :class:`Origin` says where a class came from, so that a worker of a
sweep or of the studio can load it too.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from ..errors import InvalidFile, SottovoceError
from ..methods import METHODS, Method
from ..methods.registry import is_ours

__all__ = ["Origin", "load_methods", "origin_of", "origins"]


def load_methods(source: str) -> None:
    """Import the file, or the module, ``source``, which registers methods. It is code, and it is run.

    Raises
    ------
    InvalidFile
        If it is not there, fails while it is imported, or is a file whose name another module has.
    """
    path = Path(source)
    if path.suffix == ".py":
        if not path.is_file():
            raise InvalidFile(f"{source} does not exist; methods are loaded from a .py file or a module")
        module = _import(path.stem, source, folder=path.resolve().parent)
        if _file_of(module) != path.resolve():
            raise InvalidFile(f"{source} cannot be loaded: another module is called {path.stem}; rename the file")
    else:
        _import(source, source)


def _import(name: str, source: str, *, folder: Path | None = None) -> ModuleType:
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        return importlib.import_module(name)
    except SottovoceError:
        raise
    except Exception as error:
        raise InvalidFile(f"{source} cannot be loaded: {type(error).__name__}: {error}") from error


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return None if file is None else Path(file).resolve()


@dataclass(frozen=True)
class Origin:
    """Where the class of a method was loaded from."""

    module: str
    folder: str
    """The entry of the search path under which the module is found."""
    digest: str
    """Of the file's content when this process first looked at it."""

    def load(self) -> None:
        """Import it here, unless this process has it. A script is left to :mod:`multiprocessing`, which reruns it.

        Raises
        ------
        InvalidFile
            If the file here has another content.
        """
        if self.module == "__main__":
            return
        file = _file_of(_import(self.module, self.module, folder=Path(self.folder)))
        if file is None or _digest(file) != self.digest:
            raise InvalidFile(
                f"{file or self.module} differs from the file where the work was given out; "
                "copy it here, and start this process again"
            )


def origin_of(cls: type[Method]) -> Origin | None:
    """``None`` for a method of this package, and for a class that was not loaded from a file."""
    module = sys.modules.get(cls.__module__)
    file = None if module is None or is_ours(cls) else _file_of(module)
    if file is None:
        return None
    depth = cls.__module__.count(".") + (file.name == "__init__.py")
    return Origin(cls.__module__, str(file.parents[depth]), _digest(file))


def origins() -> tuple[Origin, ...]:
    """Where all registered methods came from that are not of this package."""
    found = dict.fromkeys(origin_of(cls) for cls in METHODS.values())
    return tuple(origin for origin in found if origin is not None)


@cache
def _digest(file: Path) -> str:
    """Of what was imported, not of what somebody wrote since: hence remembered."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
