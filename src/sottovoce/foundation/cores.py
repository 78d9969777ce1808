"""How many cores this process may use: what the scheduler allows, and what a container's quota pays for."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["available_cores"]

GROUPS = Path("/proc/self/cgroup")
MOUNT = Path("/sys/fs/cgroup")


def available_cores() -> int:
    """Cores the operating system lets this process run on, at most what its control group's quota is worth.

    Containers, Kubernetes and batch systems limit processor time by quotas (``cpu.max``, or ``cpu.cfs_quota_us`` of the
    first version of control groups) and leave all cores visible; more workers than the quota pays for would only wait.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = min(_quotas(GROUPS, MOUNT), default=math.inf)
    return cores if quota >= cores else max(1, math.ceil(quota))


def _quotas(groups: Path, mount: Path) -> Iterator[float]:
    """Cores' worth of time that each group above this process allows, where one of them says."""
    try:
        lines = groups.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = mount / controllers if controllers else mount
        inside = top / path.strip("/")
        for folder in (inside, *inside.parents):  # inside a container the path may be the host's: the top is ours
            quota = _quota(folder)
            if quota is not None:
                yield quota
            if folder == top:
                break


def _quota(folder: Path) -> float | None:
    """``cpu.max`` is "quota period" or "max period"; the older files hold one number each, −1 for no quota."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text(encoding="utf-8").strip()
            period = (folder / "cpu.cfs_period_us").read_text(encoding="utf-8").strip()
        return float(quota) / float(period) if quota != "max" and float(quota) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
