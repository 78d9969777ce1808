"""Average the weights of a model between processes, without a server and without showing anybody's weights.

Each process trains a small linear model on data of its own, then joins a network of three peers whose private value
is its weight vector, and ends with the average model. Run it without arguments: it founds a network in a temporary
folder and starts one process per party.

    python examples/average_model_weights.py

The average model is better than any single one, every process ends with the same weights, and no process ever sends
its own weights without noise.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import sottovoce as sv
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.founding import found_network
from sottovoce.testing.stage import free_addresses

PARTIES = ("ada", "bob", "cleo")
FEATURES = 20
TRUTH = np.random.default_rng(0).standard_normal(FEATURES)


def train(seed: int) -> np.ndarray:
    """Least squares on thirty noisy examples that nobody else has."""
    rng = np.random.default_rng(seed)
    inputs = rng.standard_normal((30, FEATURES))
    outputs = inputs @ TRUTH + 0.5 * rng.standard_normal(30)
    weights: np.ndarray = np.linalg.lstsq(inputs, outputs, rcond=None)[0]
    return weights


def distance(weights: np.ndarray) -> float:
    """How far a model is from the truth."""
    return float(np.linalg.norm(weights - TRUTH))


async def one_party(config_file: str) -> None:
    config = PeerConfig.load(config_file)
    weights = train(seed=1 + PARTIES.index(config.name))
    async with sv.peer.Peer(config, value=weights) as peer:
        await peer.settled()
        average = np.asarray(peer.estimate)
        print(
            f"{config.name}: alone {distance(weights):.3f} from the truth, averaged {distance(average):.3f}", flush=True
        )
        np.save(Path(config_file).with_name("average.npy"), average)
        await peer.quiet()  # the others may still need us


def everybody() -> None:
    with tempfile.TemporaryDirectory() as folder:
        addresses = dict(zip(PARTIES, free_addresses(len(PARTIES)), strict=True))
        configs = found_network(
            "weights", addresses, sv.graphs.complete(3), Path(folder) / "network", dimension=FEATURES,
            noise_std=1.0, noise_decay=0.9, smallest_std=0, tolerance=1e-4, rate=5.0, grace=2.0,
        )  # fmt: skip
        processes = [subprocess.Popen([sys.executable, __file__, str(path)]) for path in configs.values()]  # noqa: S603
        codes = [process.wait(timeout=120) for process in processes]
        if any(codes):
            sys.exit(f"a party failed: {codes}")
        averages = [np.load(path.with_name("average.npy")) for path in configs.values()]
    expected = np.mean([train(seed) for seed in (1, 2, 3)], axis=0)
    print(f"largest difference from the exact average: {max(np.abs(a - expected).max() for a in averages):.1e}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        asyncio.run(one_party(sys.argv[1]))
    else:
        everybody()
