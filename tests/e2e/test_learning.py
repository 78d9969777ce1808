"""Parties that train together on scikit-learn's digits, with kills on the way: in virtual time, and as processes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import sottovoce
from sottovoce.peer.membership.founding import found_network
from sottovoce.testing import run_virtually
from sottovoce.testing.stage import free_addresses

pytest.importorskip("sklearn", reason="the digits are scikit-learn's")
EXAMPLE = Path(__file__).parents[2] / "examples" / "learn_together.py"
ROUNDS = 4

# The example's training loop around a real peer.
PARTY = """
import asyncio, contextlib, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import learn_together
from sottovoce.peer import Peer, PeerConfig

async def main(path, number, rounds, out):
    images = learn_together.digits()[number]
    async with Peer(PeerConfig.load(path), standing=False) as peer:
        async def rounds_told(topic, count):
            async for step in peer.rounds(topic, count):
                yield step
                print(step.number, flush=True)
        told = type("Told", (), {"rounds": staticmethod(rounds_told)})
        np.savez(out, **await learn_together.party(told, images, rounds))
        with contextlib.suppress(TimeoutError):
            await peer.quiet(60)

asyncio.run(main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]))
"""


@pytest.fixture(scope="module")
def together() -> ModuleType:
    """The example."""
    spec = importlib.util.spec_from_file_location("learn_together", EXAMPLE)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("rounds", "features"), [(2, 64), pytest.param(12, 64, marks=pytest.mark.slow), (1, 2000)])
def test_twenty_parties_learn_what_a_server_would(together: ModuleType, rounds: int, features: int) -> None:
    """With six of twenty killed on the way, every party has the server's model and accuracy; 650 and 20 010 numbers."""
    outcome = run_virtually(together.learn(rounds, features=features))
    central, _ = together.server(rounds, features)
    assert outcome.kills == 6
    for model in outcome.together:
        assert model["weights"].shape == (features, 10)
        assert all(np.abs(model[part] - central[part]).max() < 1e-3 for part in model)
        assert {array.dtype for array in model.values()} == {np.dtype(np.float32)}
    one_image = 1.01 / together.TESTED
    assert together.accuracy(outcome.together[0]) == pytest.approx(together.accuracy(central), abs=one_image)


def test_the_server_learns_as_well_as_one_who_has_all_images(together: ModuleType) -> None:
    """Equal to the server's would say little if the server's were bad: scikit-learn with all images is 1 % better."""
    linear = pytest.importorskip("sklearn.linear_model")
    shares = together.digits()
    inputs, labels = (np.concatenate([share[part] for share in shares[:-1]]) for part in (0, 1))
    pooled = linear.LogisticRegression(max_iter=1000).fit(inputs, labels).score(*shares[-1])
    assert together.accuracy(together.server(40)[0]) > pooled - 0.02
    alone = together.fresh_model(64)
    for _ in range(40):
        alone = together.train(alone, shares[0])
    assert together.accuracy(alone) < pooled - 0.08


def test_the_example_says_what_a_round_costs(together: ModuleType) -> None:
    """Accuracies, the distance from the server's model, and time with and without kills, noise and server."""
    said: list[str] = []
    together.main(rounds=1, say=said.append)
    assert [line.partition(":")[0] for line in said[1:]] == [
        "accuracy", "largest difference of any parameter from the server's", "processor seconds per round, all parties",
    ]  # fmt: skip
    assert said[0] == "1 rounds of 650 numbers, 6 of 20 processes killed"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_twenty_processes_that_are_killed_learn_what_a_server_would(together: ModuleType, tmp_path: Path) -> None:
    """Twenty processes over TLS, six of them killed with SIGKILL between rounds and started again: one model."""
    names = together.PARTIES
    addresses = dict(zip(names, free_addresses(len(names)), strict=True))
    places = [(names.index(a), names.index(b)) for a, b in together.NEIGHBOURS]
    configs = found_network(
        "learning", addresses, sottovoce.Graph.from_edges(places), tmp_path / "net", days=2, smallest_std=None,
        rate=10.0, grace=1.0, **together.SETTINGS,
    )  # fmt: skip
    source = str(Path(sottovoce.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1"}

    def start(name: str) -> subprocess.Popen[bytes]:
        arguments = [str(EXAMPLE.parent), str(configs[name]), str(names.index(name)), str(ROUNDS)]
        with (tmp_path / f"{name}.out").open("ab") as said:
            command = [sys.executable, "-c", PARTY, *arguments, str(tmp_path / f"{name}.npz")]
            return subprocess.Popen(command, env=environment, stdout=said)

    processes = {name: start(name) for name in names}
    try:
        for victim, step in zip(names[::3], "111223", strict=False):
            deadline = time.monotonic() + 400
            while step not in (tmp_path / f"{victim}.out").read_text().split():
                assert time.monotonic() < deadline, f"{victim} does not get on"
                time.sleep(0.05)
            processes[victim].kill()
            processes[victim].wait()
            processes[victim] = start(victim)
        assert [process.wait(timeout=600) for process in processes.values()] == [0] * len(names)
    finally:
        for process in processes.values():
            if process.poll() is None:
                process.kill()
    central, _ = together.server(ROUNDS)
    for name in names:
        model = dict(np.load(tmp_path / f"{name}.npz"))
        assert all(np.abs(model[part] - central[part]).max() < 2e-3 for part in model)
        assert together.accuracy(model) == pytest.approx(together.accuracy(central), abs=1.01 / together.TESTED)
