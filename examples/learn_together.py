"""Twenty parties train one classifier on images that none of them shows, by averaging models privately, round by round.

The images are the handwritten digits of scikit-learn, dealt out to the parties. In every round each party trains the
common model on its own images and contributes the result to a topic; the mean of all is the model of the next round.
On the way, processes are killed and come back. At the end the model is that of a server which saw everything.

    python examples/learn_together.py            # logistic regression: 650 numbers
    python examples/learn_together.py 2000       # the same on 2000 random features: 20 010 numbers

What it takes in one's own training loop is :func:`party`. Here the network has no sockets and runs in virtual time;
with real processes ``peer`` is a :class:`sottovoce.peer.Peer`, and nothing else changes.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

from sottovoce.errors import PeerError
from sottovoce.peer import Peer
from sottovoce.testing import LocalNetwork, run_virtually

Model = dict[str, npt.NDArray[np.float32]]
Images = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]

PARTIES = [f"party-{number:02d}" for number in range(1, 21)]
NEIGHBOURS = [(PARTIES[k], PARTIES[(k + hop) % 20]) for k in range(20) for hop in (1, 4)]
SETTINGS: dict[str, Any] = {"noise_std": 0.1, "noise_decay": 0.5, "seal_std": 0.1, "low": -10.0, "high": 10.0}
DIGITS, PIXELS, TESTED = 10, 64, 597


@cache
def digits(features: int = PIXELS) -> list[Images]:
    """Sixty images and their digits for each party, and at the end those that nobody trains on.

    With more features than pixels, each feature is a random sum of pixels where it is positive.
    """
    rng = np.random.default_rng(0)
    pixels, labels = load_digits(return_X_y=True)
    inputs = pixels / 16.0
    if features != PIXELS:
        inputs = np.maximum(0.0, (inputs - 0.3) @ rng.normal(size=(PIXELS, features))) / np.sqrt(features / 8)
    order = rng.permutation(len(labels))
    shares = [*np.array_split(order[TESTED:], len(PARTIES)), order[:TESTED]]
    return [(inputs[share], labels[share]) for share in shares]


def fresh_model(features: int) -> Model:
    return {"weights": np.zeros((features, DIGITS), np.float32), "bias": np.zeros(DIGITS, np.float32)}


def train(model: Model, images: Images, steps: int = 10) -> Model:
    """A few steps of logistic regression."""
    inputs, labels = images
    weights, bias = model["weights"].astype(float), model["bias"].astype(float)
    for _ in range(steps):
        scores = np.exp(inputs @ weights + bias)
        wrong = scores / scores.sum(axis=1, keepdims=True) - np.eye(DIGITS)[labels]
        weights -= 0.5 * inputs.T @ wrong / len(labels)
        bias -= 0.5 * wrong.mean(axis=0)
    return {"weights": weights.astype(np.float32), "bias": bias.astype(np.float32)}


def accuracy(model: Model) -> float:
    inputs, labels = digits(len(model["weights"]))[-1]
    return float(np.mean((inputs @ model["weights"] + model["bias"]).argmax(axis=1) == labels))


async def party(peer: Peer, images: Images, rounds: int) -> Model:
    """One party's training loop. After a restart it goes through the rounds that were, and gets their answers again."""
    model = fresh_model(images[0].shape[1])
    async for step in peer.rounds("training", rounds):
        model = (await step.average(train(model, images))).mean
    return model


@dataclass
class Outcome:
    """What came of it; seconds are processor time of all parties for one round."""

    together: list[Model] = field(default_factory=list)
    kills: int = 0
    seconds: float = 0.0


async def stubborn(net: LocalNetwork, name: str, images: Images, rounds: int) -> Model:
    """Whoever is killed begins again, as a service manager would see to."""
    while True:
        try:
            return await party(net[name], images, rounds)
        except PeerError:
            await asyncio.sleep(1.0)


async def learn(rounds: int, *, features: int = PIXELS, killed: float = 0.3, private: bool = True) -> Outcome:
    """All parties at once, and somebody who kills some of them. Not private: no seals, and noise of one unit."""
    settings = SETTINGS if private else {**SETTINGS, "noise_std": 1e-6, "seal_std": 0.0}
    chance, outcome, shares, began = random.Random(1), Outcome(), digits(features), time.process_time()
    longest = DIGITS * (features + 1)
    async with LocalNetwork(PARTIES, NEIGHBOURS, seed=1, diameter=4, longest_topic=longest, **settings) as net:
        parties = [stubborn(net, name, share, rounds) for name, share in zip(PARTIES, shares, strict=False)]
        work = [asyncio.ensure_future(each) for each in parties]
        for victim in chance.sample(PARTIES, round(killed * len(PARTIES))):
            await asyncio.sleep(rounds * chance.uniform(0.02, 0.08))
            outcome.kills += not all(each.done() for each in work)
            await net.kill(victim)
            await net.start(victim)
        outcome.together = await asyncio.gather(*work)
    outcome.seconds = (time.process_time() - began) / rounds
    return outcome


def server(rounds: int, features: int = PIXELS) -> tuple[Model, float]:
    """The model of one who gets every party's model in every round, and the processor time of a round."""
    model, shares, began = fresh_model(features), digits(features)[:-1], time.process_time()
    for _ in range(rounds):
        model = mean([train(model, share) for share in shares])
    return model, (time.process_time() - began) / rounds


def mean(models: list[Model]) -> Model:
    return {part: np.mean([model[part] for model in models], axis=0) for part in models[0]}


def main(rounds: int = 12, features: int = PIXELS, say: Callable[[str], None] = print) -> Outcome:
    shares = digits(features)
    central, seconds = server(rounds, features)
    alone = fresh_model(features)
    for _ in range(rounds):
        alone = train(alone, shares[0])
    outcome = run_virtually(learn(rounds, features=features))
    calm, plain = (run_virtually(learn(rounds, features=features, killed=0, private=p)).seconds for p in (True, False))
    apart = max(float(np.abs(model[part] - central[part]).max()) for model in outcome.together for part in model)
    say(f"{rounds} rounds of {DIGITS * (features + 1)} numbers, {outcome.kills} of {len(PARTIES)} processes killed")
    say(
        f"accuracy: alone {accuracy(alone):.3f}, together {accuracy(outcome.together[0]):.3f}, "
        f"with a server that sees everything {accuracy(central):.3f}"
    )
    say(f"largest difference of any parameter from the server's: {apart:.1e}")
    say(
        f"processor seconds per round, all parties: {outcome.seconds:.2f}; {calm:.2f} without kills; "
        f"{plain:.2f} without noise and seals too; {seconds:.3f} with the server"
    )
    return outcome


if __name__ == "__main__":
    main(*((12,) if len(sys.argv) == 1 else (3, int(sys.argv[1]))))
