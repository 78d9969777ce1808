"""What happens to the numbers of the nodes when a stage begins: who left, who came, whose private value changed.

What a node does then is the method's: :attr:`~sottovoce.methods.base.Method.follows`, and ``part`` and ``meet`` of
methods that keep numbers for each neighbour. Nothing is random here.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from ...errors import Unsupported
from ...methods.base import Array, Method, NeighbourMethod
from .neighbours import rows_of
from .timetable import Period

__all__ = ["check_entry", "enter"]


def check_entry(method: Method, before: Period, now: Period) -> None:
    """Refuse what the method does not say."""
    fixed = method.edge_noise_field is not None or method.start_noise_field is not None
    if fixed and (now.counted & ~before.counted).any():
        raise Unsupported(f"{method.name} shares numbers before the first step: no node can join later")
    if before.values is not now.values and not method.follows:
        raise Unsupported(f"{method.name} does not say what a node does when its private value changes")
    moves = isinstance(method, NeighbourMethod) and type(method).part is NeighbourMethod.part
    if moves and not np.array_equal(before.live, now.live):
        raise Unsupported(f"{method.name} does not say what a node does when a neighbour comes or goes")


def enter(tables: Array, replicas: npt.NDArray[np.int64], method: Method, before: Period, now: Period) -> None:
    """Bring ``(replicas, coordinates, rows, fields)`` tables from the end of a period to the start of the next."""
    n = now.graph.num_nodes
    stay, come = before.counted & now.counted, now.counted & ~before.counted
    change = (now.values - before.values).reshape(n, -1)
    follows = () if before.values is now.values else method.follows
    begin = (
        [method.initial(now.graph, column)[:n][come] for column in now.values.reshape(n, -1).T] if come.any() else []
    )
    meeting = isinstance(method, NeighbourMethod) and not np.array_equal(before.live, now.live)
    for r in replicas:
        for c, table in enumerate(tables[r]):
            if meeting:
                _part(cast("NeighbourMethod", method), table, before, now)
            for column in follows:
                table[:n, column][stay] += change[stay, c]
            if begin:
                table[:n][come] = begin[c]
            if meeting:
                _meet(cast("NeighbourMethod", method), table, before, now)


def _part(method: NeighbourMethod, table: Array, before: Period, now: Period) -> None:
    """Drop the rows of those who left, and move the others to where they are from now on."""
    n, old, new = before.graph.num_nodes, rows_of(before), rows_of(now)
    owners = np.repeat(np.arange(n), before.graph.degrees)
    for arc in np.flatnonzero(old.used & ~new.used).tolist():
        if now.counted[owners[arc]]:
            method.part(table, int(owners[arc]), n + int(old.place[arc]))
    rows = np.zeros_like(table[n:])
    both = np.flatnonzero(old.used & new.used)
    rows[new.place[both]] = table[n + old.place[both]]
    table[n:] = rows


def _meet(method: NeighbourMethod, table: Array, before: Period, now: Period) -> None:
    """Open the rows of those who came."""
    n, old, new = now.graph.num_nodes, rows_of(before), rows_of(now)
    owners = np.repeat(np.arange(n), now.graph.degrees)
    for arc in np.flatnonzero(new.used & ~old.used).tolist():
        method.meet(table, int(owners[arc]), n + int(new.place[arc]))
