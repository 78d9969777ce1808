"""Methods that live in somebody's own files: loading them here, and again in other processes.

A file of methods is imported as a module, with its folder added to the end of the search path; its classes register
themselves (:func:`sottovoce.methods.register`). :class:`Origin` says where a class came from, so that a worker of a
sweep or of the studio can load it too.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ..errors import InvalidFile, SottovoceError
from ..methods import METHODS, Method
from ..methods.registry import is_ours
from ..methods.sources import changed, file_of, remember, remembered

__all__ = ["Origin", "load_methods", "origin_of", "origins"]


def load_methods(source: str) -> None:
    """Import the file, or the module, ``source``, which registers methods. It is code, and it is run.

    If it, or a module of the user's that it uses, has changed since this process imported it, it is imported again.

    Raises
    ------
    InvalidFile
        If it is not there, fails while it is imported, or is a file whose name another module has.
    """
    path = Path(source)
    if path.suffix == ".py":
        if not path.is_file():
            raise InvalidFile(f"{source} does not exist; methods are loaded from a .py file or a module")
        module = _import(path.stem, source, folder=path.resolve().parent, again=True)
        if file_of(module) != path.resolve():
            raise InvalidFile(f"{source} cannot be loaded: another module is called {path.stem}; rename the file")
    else:
        _import(source, source, again=True)


def _import(name: str, source: str, *, folder: Path | None = None, again: bool = False) -> ModuleType:
    """The module; ``again``: as its file is now."""
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        known = name in sys.modules
        module = importlib.import_module(name)
        if not known:
            remember(name)
        elif again:
            for one in changed(name):
                _forget_bytecode(one)
                importlib.reload(one)
                remember(one.__name__)
    except SottovoceError:
        raise
    except Exception as error:
        raise InvalidFile(f"{source} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _forget_bytecode(module: ModuleType) -> None:
    """Python takes a file of the same length that was written in the same second for the one that it has compiled."""
    cached = getattr(module, "__cached__", None)
    if cached is not None:
        Path(cached).unlink(missing_ok=True)


@dataclass(frozen=True)
class Origin:
    """Where the class of a method was loaded from."""

    module: str
    folder: str
    """The entry of the search path under which the module is found."""
    digest: str
    """Of the content of the file, and of the user's others that it uses, when this process loaded them."""

    def load(self) -> None:
        """Import it here, unless this process has it. A script is left to :mod:`multiprocessing`, which reruns it.

        Raises
        ------
        InvalidFile
            If the file here has another content.
        """
        if self.module == "__main__":
            return
        module = _import(self.module, self.module, folder=Path(self.folder))
        if remembered(self.module) != self.digest:
            raise InvalidFile(
                f"{file_of(module) or self.module}, or a file that it uses, differs from the file where the work was "
                "given out; copy it here, and start this process again"
            )


def origin_of(cls: type[Method]) -> Origin | None:
    """``None`` for a method of this package, and for a class that was not loaded from a file."""
    module = sys.modules.get(cls.__module__)
    file = None if module is None or is_ours(cls) else file_of(module)
    digest = remembered(cls.__module__)
    if file is None or digest is None:
        return None
    depth = cls.__module__.count(".") + (file.name == "__init__.py")
    return Origin(cls.__module__, str(file.parents[depth]), digest)


def origins() -> tuple[Origin, ...]:
    """Where all registered methods came from that are not of this package."""
    found = dict.fromkeys(origin_of(cls) for cls in METHODS.values())
    return tuple(origin for origin in found if origin is not None)
