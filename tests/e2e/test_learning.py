"""Parties that train together as processes of their own, over real TLS, with kills on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import sottovoce
from sottovoce import graphs
from sottovoce.peer.membership.founding import found_network
from sottovoce.testing.stage import free_addresses

NAMES = [f"party-{number}" for number in range(1, 7)]
ROUNDS = 6

# A training loop in plain Python: least squares by gradient steps on data that only this process has.
PARTY = """
import contextlib, sys
import numpy as np
from sottovoce.peer import BlockingPeer, PeerConfig

path, number, rounds, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rng = np.random.default_rng(number)
inputs = rng.normal(size=(40, 30))
outputs = inputs @ np.linspace(-1, 1, 30) + rng.normal(size=40)
model = np.zeros(30, np.float32)
with BlockingPeer(PeerConfig.load(path), standing=False) as peer:
    for step in range(rounds):
        local = model - 0.2 * inputs.T @ (inputs @ model - outputs) / 40
        model = peer.average(local.astype(np.float32), topic=f"training/{step}").mean
        print(step, flush=True)
    np.save(out, model)
    with contextlib.suppress(TimeoutError):
        peer.quiet(20)
"""


def server() -> np.ndarray:
    """What one who sees everything ends with."""
    model = np.zeros(30, np.float32)
    for _ in range(ROUNDS):
        local = []
        for number in range(1, 7):
            rng = np.random.default_rng(number)
            inputs = rng.normal(size=(40, 30))
            outputs = inputs @ np.linspace(-1, 1, 30) + rng.normal(size=40)
            local.append((model - 0.2 * inputs.T @ (inputs @ model - outputs) / 40).astype(np.float32))
        model = np.mean(local, axis=0, dtype=np.float64).astype(np.float32)
    return model


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_processes_that_are_killed_learn_what_a_server_would(tmp_path: Path) -> None:
    """Six processes, two of them killed with SIGKILL between rounds and started again: one model."""
    addresses = dict(zip(NAMES, free_addresses(6), strict=True))
    configs = found_network(
        "learning", addresses, graphs.cycle(6), tmp_path / "net", days=2, smallest_std=None, noise_std=0.1,
        noise_decay=0.5, seal_std=0.1, low=-10.0, high=10.0, rate=10.0, grace=1.0,
    )  # fmt: skip
    source = str(Path(sottovoce.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1"}

    def start(name: str) -> subprocess.Popen[bytes]:
        number = str(NAMES.index(name) + 1)
        command = [sys.executable, "-c", PARTY, str(configs[name]), number, str(ROUNDS), str(tmp_path / f"{name}.npy")]
        with (tmp_path / f"{name}.out").open("ab") as said:
            return subprocess.Popen(command, env=environment, stdout=said)

    processes = {name: start(name) for name in NAMES}
    try:
        for victim, step in (("party-2", "1"), ("party-5", "3")):
            deadline = time.monotonic() + 120
            while step not in (tmp_path / f"{victim}.out").read_text().split():
                assert time.monotonic() < deadline, f"{victim} does not get on"
                time.sleep(0.05)
            processes[victim].kill()
            processes[victim].wait()
            processes[victim] = start(victim)
        assert [process.wait(timeout=120) for process in processes.values()] == [0] * 6
    finally:
        for process in processes.values():
            if process.poll() is None:
                process.kill()
    for name in NAMES:
        assert np.abs(np.load(tmp_path / f"{name}.npy") - server()).max() < 2e-3
