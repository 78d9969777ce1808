"""What differs between operating systems: memory, locks, files that only their owner can read.

The project is tested on Linux. What another system lacks is asked for here and nowhere else, and the answer is either
a way without it or one sentence that says so.
"""

from __future__ import annotations

import os
import platform

from ..errors import Unsupported

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["POSIX", "hold", "memory", "require_private_files"]

POSIX = os.name == "posix"
"""Whether files have an owner and permissions, and folders can be flushed to disk."""


def memory() -> float:
    """Bytes of memory that this machine has; infinite where the system does not say, so that nothing is refused."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def hold(handle: int, what: str) -> None:
    """Lock an open file for this process; the lock goes with the process, however that ends.

    Parameters
    ----------
    handle
        The file's descriptor.
    what
        For the message: what cannot be done without a lock.

    Raises
    ------
    BlockingIOError
        If another process holds it.
    Unsupported
        If this system has no such locks.
    """
    if fcntl is None:
        raise Unsupported(f"{what} needs file locks of POSIX, which {platform.system()} does not have; use Linux")
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def require_private_files() -> None:
    """Go on where a file can be made readable for its owner alone.

    Raises
    ------
    Unsupported
        On other systems: a key or a private value would lie open there.
    """
    if not POSIX:
        raise Unsupported(
            f"a peer keeps keys and private values in files that only their owner can read, and on {platform.system()} "
            "that cannot be checked; run peers on Linux"
        )
