"""The synchronous one-liner, in real processes with real TLS and real disks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import sottovoce as sv
from sottovoce.peer.membership.founding import found_network
from sottovoce.testing.stage import free_addresses

PROGRAM = """
import sys, sottovoce as sv
print(sv.peer.average(sv.peer.PeerConfig.load(sys.argv[1]), float(sys.argv[2]), timeout=90))
"""


def test_three_processes_average_with_one_call_each(tmp_path: Path) -> None:
    """Each prints the mean and ends by itself, none before its neighbours can do without it."""
    values = {"ada": 3.0, "bob": 10.0, "cyd": -1.0}
    addresses = dict(zip(values, free_addresses(3), strict=True))
    made = found_network(
        "trio",
        addresses,
        sv.graphs.path(3),
        tmp_path / "net",
        noise_std=1.0,
        noise_decay=0.7,
        smallest_std=None,
        rate=20.0,
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(made[name]), str(value)],
            stdout=subprocess.PIPE, text=True, env=environment,
        )
        for name, value in values.items()
    ]  # fmt: skip
    answers = [float(process.communicate(timeout=100)[0]) for process in running]
    assert all(abs(answer - 4.0) <= 1e-3 for answer in answers)
    assert [process.returncode for process in running] == [0, 0, 0]
