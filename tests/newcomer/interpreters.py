"""Which Pythons this machine has: on PATH, where they really run (pyenv puts names there that do not), and in pyenv."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")


def found(version: str) -> str | None:
    """A Python of this version that runs and can make environments, or None."""
    return next((each for each in _candidates(version) if _runs(each, version)), None)


def _candidates(version: str) -> Iterator[str]:
    yield f"python{version}"
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(root.glob(f"versions/{version}.*/bin/python"), reverse=True))


def _runs(python: str, version: str) -> bool:
    program = "import ensurepip, sqlite3, ssl, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        said = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return said.stdout.strip() == version
