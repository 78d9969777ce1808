"""Packages that are not always installed: which extra brings them, and the sentence that says so.

The core is what a peer and the command line need. A room that needs more says so at its door: its ``__init__`` calls
:func:`require` before it imports anything, so the answer comes at once and not from deep inside.
"""

from __future__ import annotations

import importlib.util

from ..errors import MissingDependency

__all__ = ["EXTRAS", "install_line", "installed", "missing", "require"]

EXTRAS = {
    **dict.fromkeys(["matplotlib", "networkx", "numba", "scipy"], "simulate"),
    **dict.fromkeys(["cryptography", "google", "grpc", "prometheus_client", "tomlkit"], "peer"),
    **dict.fromkeys(["distributed", "pandas", "pyarrow"], "cluster"),
    **dict.fromkeys(["starlette", "uvicorn", "websockets"], "studio"),
    "pyamg": "amg",
    "cupy": "gpu",
}
"""Package, as it is imported → the extra that brings it. A core install has none of them."""


def installed(package: str) -> bool:
    """Whether ``import package`` would find it. Nothing is imported."""
    return importlib.util.find_spec(package) is not None


def install_line(package: str) -> str:
    """The command that adds a package to this installation.

    pip takes the sottovoce that is installed, whatever an index offers under that name, and adds what is missing.

    Examples
    --------
    >>> install_line("numba")
    "pip install 'sottovoce[simulate]'"
    """
    return f"pip install 'sottovoce[{EXTRAS[package]}]'"


def missing(package: str, *, by: str = "this") -> MissingDependency:
    """The error to raise when ``by`` needs a package that is not there.

    Examples
    --------
    >>> print(missing("pandas", by="a data frame"))
    a data frame needs pandas: pip install 'sottovoce[cluster]'
    """
    return MissingDependency(f"{by} needs {package}: {install_line(package)}")


def require(*packages: str, by: str) -> None:
    """Go on if all packages are installed.

    Raises
    ------
    MissingDependency
        For the first that is not, with the command that adds it.

    Examples
    --------
    >>> require("numpy", by="this example")
    """
    for package in packages:
        if not installed(package):
            raise missing(package, by=by)
