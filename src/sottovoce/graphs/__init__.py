"""Graphs: the type, the families people use, their spectrum, and the way in and out."""

from __future__ import annotations

from .chances import node_clocks
from .distances import diameter, diameter_bounds, distances_from
from .generators import (
    barabasi_albert,
    barbell,
    complete,
    cycle,
    erdos_renyi,
    grid,
    hypercube,
    path,
    random_geometric,
    random_regular,
    star,
    torus,
    watts_strogatz,
)
from .graph import Family, Graph
from .spectrum import Connectivity, algebraic_connectivity, connectivity, laplacian

__all__ = [
    "Connectivity",
    "Family",
    "Graph",
    "algebraic_connectivity",
    "barabasi_albert",
    "barbell",
    "complete",
    "connectivity",
    "cycle",
    "diameter",
    "diameter_bounds",
    "distances_from",
    "erdos_renyi",
    "grid",
    "hypercube",
    "laplacian",
    "node_clocks",
    "path",
    "random_geometric",
    "random_regular",
    "star",
    "torus",
    "watts_strogatz",
]
