"""What the stores of stopped peers prove: nobody's contribution was lost, invented or counted twice.

Reads every store, and the private values are in those stores: so it exists for demonstrations and tests on one
machine only. Between organisations nobody can or should do this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..peer.protocol.units import Unit
from ..peer.store.sqlite import read_identity, read_state
from . import balance

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
        Largest absolute value, in units, of Σ estimates − Σ noise − Σ private values − Σ steps still on their way.
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
    mass_error: int
    edges: int
    agreeing_edges: int
    on_the_way: NDArray[np.float64]
    known_to_all_neighbours: Mapping[str, float]

    @property
    def exact(self) -> bool:
        """Whether the balance closes: to the last unit, since all numbers are whole."""
        return self.mass_error == 0

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
    unit = Unit(read_identity(next(iter(stores.values()))).unit)
    edges = sorted({(min(name, other), max(name, other)) for name, state in states.items() for other in state.edges})
    on_the_way = balance.on_the_way(states)
    return Proof(
        true_mean=balance.true_mean(states) * unit.number,
        estimates={name: unit.to_values(state.shown) for name, state in states.items()},
        largest_error=balance.largest_error(states) * unit.number,
        mass_error=int(np.abs(balance.unaccounted(states) - on_the_way).max()),
        edges=len(edges),
        agreeing_edges=len(edges) - len(balance.asymmetric_edges(states, edges)),
        on_the_way=unit.to_values(on_the_way),
        known_to_all_neighbours={name: state.account.std for name, state in states.items()},
    )
