"""The numbers of the guided first minute: one small run of ten nodes, told slowly.

They are computed here by the engine, the exact theory and the audit; the page draws them and computes none. A page must
be alive on arrival, and the first run of a fresh installation compiles for seconds. So they are kept in
:data:`FILE`, which ``python -m sottovoce.studio.guide`` writes (``make guide``), and a test computes them again.
``You`` is node 0 of a ring of ten, and the curious one is the first neighbour that talks to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..foundation.files import write_atomically
from ..graphs import cycle
from ..methods import Method, NoiseInsertion, SealedGossip, StandardGossip
from ..scenario.values import uniform
from ..simulation import Solution, simulate
from ..simulation.edge_noise import edge_numbers
from ..simulation.random.streams import Stream
from .insight import threshold
from .layouts import positions

__all__ = ["FILE", "answer_alone", "exchanges", "guide"]

FILE = Path(__file__).with_name("guide.json")
"""The numbers as they were computed last."""

GRAPH = cycle(10)
SEED = 1
NUM_STEPS = 900
YOU, CURIOUS = 0, 1

BELIEF = (0.5, 0.29)
"""What anybody takes a secret to be beforehand: mean and deviation of a number between 0 and 1."""

NOISY = NoiseInsertion(noise_std=1.0, noise_decay=0.9)
SEALED = SealedGossip(seal_std=3.0, noise_std=1.0, noise_decay=0.9)
DECAYS = (0.5, 0.8, 0.9, 0.95, 0.98)
LONGEST = 3_000
"""Steps over which the price of a decay is shown."""
ACCURACY = 1e-6

LISTED_STEPS = 120
"""Steps whose exchanges are told one by one."""

PICTURES = np.unique(np.concatenate([np.arange(0, 41), np.arange(45, 201, 5), np.arange(220, NUM_STEPS + 1, 20)]))
"""Steps that are pictured: every one at first, where something is to be seen."""

Row = dict[str, Any]


def guide() -> dict[str, Any]:
    """Everything the guide shows, as one JSON object."""
    values = uniform(GRAPH.num_nodes, SEED)
    noisy, sealed = _pictured(NOISY, values), _pictured(SEALED, values)
    return {
        "graph": {
            "name": GRAPH.name,
            "numNodes": GRAPH.num_nodes,
            "edges": GRAPH.edges.tolist(),
            "positions": positions(GRAPH),
        },
        "you": YOU,
        "curious": CURIOUS,
        "seed": SEED,
        "decay": NOISY.noise_decay,
        "privateValues": values.tolist(),
        "trueMean": float(values.mean()),
        "run": noisy,
        "exchanges": exchanges(_one_by_one(NOISY, values, LISTED_STEPS), YOU),
        "heard": _heard(values),
        "price": _price(values),
        "threshold": threshold(GRAPH),
        "sealed": {**sealed, **_seals(values), **_luck(values)},
    }


# -- runs --------------------------------------------------------------------------------------


def _run(method: Method, values: npt.NDArray[np.float64], num_steps: int) -> Solution:
    return simulate(
        GRAPH, values, method, num_steps=num_steps, seed=SEED, record=[num_steps], threads=1, progress=False
    )


def _one_by_one(method: Method, values: npt.NDArray[np.float64], num_steps: int) -> list[Solution]:
    """The run after each of its first steps."""
    runs = [_run(method, values, 1)]
    for step in range(2, num_steps + 1):
        runs.append(runs[-1].resume(1, record=[step], threads=1, progress=False))
    return runs


def _pictured(method: Method, values: npt.NDArray[np.float64]) -> Row:
    """Values and outstanding noise of all nodes at the pictured steps, and the edge that fired last."""
    run = _run(method, values, NUM_STEPS)
    fired = run.fired_edges()
    at = [_run(method, values, int(step)) for step in PICTURES[1:]]
    return {
        "method": method.label(),
        "steps": PICTURES.tolist(),
        "fired": [None, *(int(fired[step - 1]) for step in PICTURES[1:])],
        "values": [values.tolist(), *(r.values.tolist() for r in at)],
        "outstanding": [[0.0] * GRAPH.num_nodes, *(r.outstanding_noise.tolist() for r in at)],
    }


def _seals(values: npt.NDArray[np.float64]) -> Row:
    """The number that each edge adds at its first end and subtracts at its second, and what nodes then begin with."""
    seals = edge_numbers(SEALED, GRAPH, Stream(SEED, 0))
    start = values.copy()
    np.add.at(start, GRAPH.edges[:, 0], seals)
    np.subtract.at(start, GRAPH.edges[:, 1], seals)
    return {"seals": seals.tolist(), "start": start.tolist()}


def exchanges(runs: Sequence[Solution], node: int) -> list[Row]:
    """The exchanges of one node, each with both sides: held, taken back, added, said, held afterwards.

    Parameters
    ----------
    runs
        The same run of noise insertion after 1, 2, 3 … steps.
    node
        Whose exchanges.
    """
    found = []
    held = runs[0].private_values
    outstanding = np.zeros(len(held))
    for step, (run, edge) in enumerate(zip(runs, runs[-1].fired_edges(), strict=True), start=1):
        ends = [int(end) for end in run.graph.edges[edge]]
        if node in ends:
            ends.sort(key=lambda end: end != node)
            found.append({"step": step, "sides": [_side(end, held, outstanding, run) for end in ends]})
        held, outstanding = run.values, run.outstanding_noise
    return found


def _side(node: int, held: npt.NDArray[np.float64], outstanding: npt.NDArray[np.float64], run: Solution) -> Row:
    added = run.outstanding_noise[node]
    return {
        "node": node,
        "held": float(held[node]),
        "takenBack": float(outstanding[node]),
        "added": float(added),
        "said": float(held[node] + (added - outstanding[node])),
        "after": float(run.values[node]),
    }


# -- what others know --------------------------------------------------------------------------


def answer_alone(values: npt.NDArray[np.float64], observer: int, belief: tuple[float, float]) -> tuple[float, float]:
    """Mean and deviation of any one other value, for somebody who knows the average and its own value only.

    The others are independent and believed to be N(mean, std²) each; their sum is known. So each has the same
    posterior: their average, with a share 1/(n − 1) of the variance gone.

    Examples
    --------
    >>> answer_alone(np.array([1.0, 2.0, 6.0]), observer=0, belief=(0.0, 1.0))
    (4.0, 0.7071067811865476)
    """
    others = len(values) - 1
    mean = (values.sum() - values[observer]) / others
    return float(mean), float(belief[1] * np.sqrt(1.0 - 1.0 / others))


def _known(method: Method, values: npt.NDArray[np.float64], observer: int, node: int) -> Row:
    """What an observer makes of one value after the whole run."""
    from ..privacy import CuriousNodes, attack

    found = attack(_run(method, values, NUM_STEPS), CuriousNodes([observer]), BELIEF[1], prior_mean=BELIEF[0])
    return {"mean": float(found.estimate[node]), "std": float(found.std[node])}


def _deviations(method: Method, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """``(n, n)``: how well each node (row) knows each other value (column) in the end; infinite on the diagonal."""
    from ..privacy import CuriousNodes, audit

    fired = _run(method, values, NUM_STEPS).fired_edges()
    rows = [
        audit(GRAPH, method, fired, CuriousNodes([observer]), BELIEF[1], progress=False).posterior_std
        for observer in range(GRAPH.num_nodes)
    ]
    table = np.array(rows)
    np.fill_diagonal(table, np.inf)
    return table


def _heard(values: npt.NDArray[np.float64]) -> Row:
    """What the curious neighbour knows of your value: before, from the answer alone, with noise, and without."""
    mean, std = answer_alone(values, CURIOUS, BELIEF)
    return {
        "before": {"mean": BELIEF[0], "std": BELIEF[1]},
        "answer": {"mean": mean, "std": std},
        "noisy": _known(NOISY, values, CURIOUS, YOU),
        "plain": _known(StandardGossip(), values, CURIOUS, YOU),
    }


def _luck(values: npt.NDArray[np.float64]) -> Row:
    """The node whose noise hid it worst in this run, and the same node under seals; and what anybody knows of you."""
    noisy, sealed = _deviations(NOISY, values), _deviations(SEALED, values)
    observer, node = np.unravel_index(noisy.argmin(), noisy.shape)
    closest = int(sealed[:, YOU].argmin())
    mean, std = answer_alone(values, closest, BELIEF)
    return {
        "unlucky": {
            "node": int(node),
            "observer": int(observer),
            "noisy": float(noisy[observer, node]),
            "sealed": float(sealed[:, node].min()),
        },
        "leastHidden": float(sealed.min()),
        "anybody": {
            "observer": closest,
            **_known(SEALED, values, closest, YOU),
            "answer": {"mean": mean, "std": std},
        },
    }


# -- the price ---------------------------------------------------------------------------------


def _price(values: npt.NDArray[np.float64]) -> Row:
    """For several decays and for standard gossip: the expected error step by step, and what the neighbour knows."""
    from ..theory import threshold_decay

    return {
        "accuracy": ACCURACY,
        "proved": float(threshold_decay(GRAPH).min()),
        "really": float(threshold_decay(GRAPH, form="resolvent").min()),
        "standard": _choice(StandardGossip(), values),
        "choices": [{"decay": decay, **_choice(NoiseInsertion(1.0, decay), values)} for decay in DECAYS],
    }


def _choice(method: Method, values: npt.NDArray[np.float64]) -> Row:
    from ..theory import expected_error

    scale = float(((values - values.mean()) ** 2).sum()) / 2
    error = expected_error(GRAPH, values, method, LONGEST) / scale
    reached = np.flatnonzero(error <= ACCURACY)
    shown = np.arange(0, LONGEST + 1, 20)
    return {
        "steps": shown.tolist(),
        "errors": error[shown].tolist(),
        "reached": int(reached[0]) if len(reached) else None,
        "knows": _known(method, values, CURIOUS, YOU)["std"],
    }


if __name__ == "__main__":
    text = json.dumps(guide(), allow_nan=False, separators=(",", ":"))
    write_atomically(FILE, lambda path: path.write_text(f"{text}\n", encoding="utf-8"))
