"""How kernels are compiled and where the machine code is kept.

Numba keeps compiled code on disk but looks only at the file of the function itself, not at the
helpers it calls in other files: change a method's update and a stale driver would run. So the
directory is named after a hash of all sources that end up in kernels.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config

__all__ = ["announce_compilation", "cache_directory", "compiled"]

F = TypeVar("F", bound=Callable[..., Any])
_SOURCES = ("methods", "simulation")


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
    settings: Any = config
    previous = settings.CACHE_DIR
    settings.CACHE_DIR = str(cache_directory())
    try:
        return cast("F", numba.njit(nogil=True, cache=True, error_model="numpy")(function))
    finally:
        settings.CACHE_DIR = previous


def announce_compilation(what: str) -> Callable[[], None]:
    """Say once per kernel and version of the sources that it is being compiled; call the result when done."""
    marker = cache_directory() / f"{what}.compiled"
    if marker.exists():
        return lambda: None
    sys.stderr.write(f"sottovoce: compiling the kernel for {what} (once, a few seconds)\n")
    sys.stderr.flush()
    return marker.touch
