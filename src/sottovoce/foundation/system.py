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

__all__ = ["POSIX", "hold", "keep_freed_memory", "memory", "require_private_files"]

POSIX = os.name == "posix"
"""Whether files have an owner and permissions, and folders can be flushed to disk."""

KEPT_BLOCK = 24 * 2**20
"""Bytes of the largest block that a process keeps after freeing it, and half of all that it keeps (see below)."""


def memory() -> float:
    """Bytes of memory that this machine has; infinite where the system does not say, so that nothing is refused."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def keep_freed_memory() -> None:
    """Let this process keep up to 48 MB of the memory that it frees, for what it allocates next.

    glibc hands large blocks back to the system at once, and the system clears them when they are asked for again: of
    arithmetic on vectors of 800 kB that is most of the time. It stops doing so for blocks up to the size of one that
    was freed. So one is: nothing is written to it, so it costs nothing. Other allocators are not affected.
    """
    import numpy as np

    np.empty(KEPT_BLOCK, dtype=np.uint8)


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
