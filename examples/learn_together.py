"""Twenty parties train one classifier on data that none of them shows, by averaging models privately, round by round.

Each party has images of ten digits (made here: eight by eight pixels and noise). In every round it trains the common
model on its own images and contributes the result to a topic; the mean of all is the model of the next round. On the
way, processes are killed and come back. At the end the model is that of a server which saw everything.

    python examples/learn_together.py

What it takes in one's own training loop is :func:`party`. Here the network has no sockets and runs in virtual time;
with real processes ``net[name]`` is a :class:`sottovoce.peer.Peer`, and nothing else changes.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sottovoce.errors import PeerError
from sottovoce.testing import LocalNetwork, run_virtually

Floats = npt.NDArray[np.float64]
Model = dict[str, npt.NDArray[np.float32]]

PARTIES = [f"party-{number:02d}" for number in range(1, 21)]
NEIGHBOURS = [(PARTIES[k], PARTIES[(k + hop) % 20]) for k in range(20) for hop in (1, 4)]
DIGITS, PIXELS, IMAGES = 10, 64, 60
SHAPES = np.random.default_rng(0).normal(size=(DIGITS, PIXELS))


def images(seed: int, count: int = IMAGES) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Noisy pictures of digits, and which digit each is."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(DIGITS, size=count)
    return SHAPES[labels] + 2.5 * rng.normal(size=(count, PIXELS)), labels


def fresh_model() -> Model:
    return {"weights": np.zeros((PIXELS, DIGITS), np.float32), "bias": np.zeros(DIGITS, np.float32)}


def train(model: Model, inputs: Floats, labels: npt.NDArray[np.int64], steps: int = 5) -> Model:
    """A few steps of logistic regression."""
    weights, bias = model["weights"].astype(float), model["bias"].astype(float)
    for _ in range(steps):
        scores = np.exp(inputs @ weights + bias)
        wrong = scores / scores.sum(axis=1, keepdims=True) - np.eye(DIGITS)[labels]
        weights -= 0.05 * inputs.T @ wrong / len(labels)
        bias -= 0.05 * wrong.mean(axis=0)
    return {"weights": weights.astype(np.float32), "bias": bias.astype(np.float32)}


def accuracy(model: Model) -> float:
    inputs, labels = images(seed=999, count=2000)
    return float(np.mean((inputs @ model["weights"] + model["bias"]).argmax(axis=1) == labels))


async def party(net: LocalNetwork, name: str, rounds: int) -> Model:
    """One party's training loop. After a restart it goes through the rounds that were, and gets their answers again."""
    data, model = images(seed=1 + PARTIES.index(name)), fresh_model()
    async for step in net[name].rounds("training", rounds):
        model = (await step.average(train(model, *data))).mean
    return model


@dataclass
class Outcome:
    """What came of it."""

    together: list[Model] = field(default_factory=list)
    server: Model = field(default_factory=fresh_model)
    alone: Model = field(default_factory=fresh_model)
    kills: int = 0


async def stubborn(net: LocalNetwork, name: str, rounds: int) -> Model:
    """Whoever is killed begins again, as a service manager would see to."""
    while True:
        try:
            return await party(net, name, rounds)
        except PeerError:
            await asyncio.sleep(1.0)


async def learn(rounds: int, share_killed: float, seed: int = 1) -> Outcome:
    """All parties at once, and somebody who kills processes."""
    chance, outcome = random.Random(seed), Outcome()
    async with LocalNetwork(
        PARTIES, NEIGHBOURS, seed=seed, noise_std=0.1, noise_decay=0.5, seal_std=0.1, diameter=4, low=-10.0, high=10.0
    ) as net:
        work = [asyncio.ensure_future(stubborn(net, name, rounds)) for name in PARTIES]
        for victim in chance.sample(PARTIES, round(share_killed * len(PARTIES))):
            await asyncio.sleep(chance.uniform(1.0, 4.0))
            await net.kill(victim)
            await net.start(victim)
            outcome.kills += 1
        outcome.together = await asyncio.gather(*work)
    for _ in range(rounds):
        outcome.server = mean([train(outcome.server, *images(seed=1 + k)) for k in range(20)])
        outcome.alone = train(outcome.alone, *images(seed=1))
    return outcome


def mean(models: list[Model]) -> Model:
    return {part: np.mean([model[part] for model in models], axis=0) for part in models[0]}


def main(rounds: int = 12) -> Outcome:
    outcome = run_virtually(learn(rounds, share_killed=0.3))
    apart = max(float(np.abs(model[part] - outcome.server[part]).max()) for model in outcome.together for part in model)
    print(f"{rounds} rounds, {outcome.kills} of {len(PARTIES)} processes killed on the way")
    print(f"accuracy: alone {accuracy(outcome.alone):.3f}, together {accuracy(outcome.together[0]):.3f}, ", end="")
    print(f"with a server that sees everything {accuracy(outcome.server):.3f}")
    print(f"largest difference of any parameter from the server's: {apart:.1e}")
    return outcome


if __name__ == "__main__":
    main()
