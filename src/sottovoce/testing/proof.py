"""What the stores of stopped peers prove: nobody's contribution was lost, invented or counted twice.

Reads every store, so it exists for demonstrations and tests on one machine only; no peer could do this in earnest,
because the private values are in those stores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..peer.protocol.ledger import Edge
from ..peer.store.sqlite import read_state

__all__ = ["Proof", "prove"]


@dataclass(frozen=True)
class Proof:
    """The balance over all peers.

    Attributes
    ----------
    true_mean
        Mean of the private values.
    estimates
        Each peer's estimate, by name.
    largest_error
        Largest distance of an estimate from the true mean, over peers and coordinates.
    mass_error
        Largest absolute value of Σ estimates − Σ noise − Σ private values − Σ steps still on their way.
    edges, agreeing_edges
        Number of edges, and of those whose two ends hold exactly opposite flows.
    on_the_way
        Sum of the steps that one end has made and the other has not yet copied.
    known_to_all_neighbours
        By peer: no coalition of all its neighbours can estimate its value with a smaller standard deviation.
    """

    true_mean: NDArray[np.float64]
    estimates: Mapping[str, NDArray[np.float64]]
    largest_error: float
    mass_error: float
    edges: int
    agreeing_edges: int
    on_the_way: NDArray[np.float64]
    known_to_all_neighbours: Mapping[str, float]

    @property
    def exact(self) -> bool:
        """Whether the balance closes to rounding."""
        scale = max(1.0, float(np.abs(self.true_mean).max()) * len(self.estimates))
        return self.mass_error <= 1e-9 * scale

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "true_mean": self.true_mean.tolist(),
            "estimates": {name: estimate.tolist() for name, estimate in self.estimates.items()},
            "largest_error": self.largest_error,
            "mass_error": self.mass_error,
            "edges": self.edges,
            "agreeing_edges": self.agreeing_edges,
            "on_the_way": self.on_the_way.tolist(),
            "known_to_all_neighbours": dict(self.known_to_all_neighbours),
            "exact": self.exact,
        }


def prove(stores: Mapping[str, Path]) -> Proof:
    """Open the stores of stopped peers, read only, and balance them."""
    states = {name: read_state(path) for name, path in stores.items()}
    values = {name: state.shown for name, state in states.items()}
    private = np.array([state.value for state in states.values()])
    noise = np.array([np.zeros_like(state.value) if state.noise is None else state.noise for state in states.values()])
    on_the_way, edges, agreeing = np.zeros(private.shape[1]), 0, 0
    for name, state in states.items():
        for other, edge in state.edges.items():
            twin = states[other].edges.get(name) if other in states else None
            if name < other or twin is None:
                edges += 1
                agreeing += twin is not None and bool(np.array_equal(_flow(edge), -_flow(twin)))
            # My register as I hold it, minus the other end's copy of it.
            on_the_way = on_the_way + (_held(edge, "f") - _held(twin, "g"))
    balance = sum(values.values()) - noise.sum(axis=0) - private.sum(axis=0) - on_the_way
    mean = private.mean(axis=0)
    return Proof(
        true_mean=mean,
        estimates=values,
        largest_error=max(float(np.abs(value - mean).max()) for value in values.values()),
        mass_error=float(np.abs(balance).max()),
        edges=edges,
        agreeing_edges=agreeing,
        on_the_way=on_the_way,
        known_to_all_neighbours={name: _std(state.account.information) for name, state in states.items()},
    )


def _held(edge: Edge | None, register: str) -> Any:
    return 0.0 if edge is None or edge.blank else getattr(edge, register)


def _flow(edge: Edge) -> Any:
    return _held(edge, "f") - _held(edge, "g")


def _std(information: float) -> float:
    return information**-0.5 if information > 0 else math.inf
