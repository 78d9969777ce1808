"""What is measured at a recorded step: compiled, for the replicas that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from ..methods.base import VALUE, Array, Method
from .compiling import compiled, specialised

__all__ = ["error_and_mass", "settled"]

settle = Method.settle  # a method's own takes its place in `settle_all`


@register_jitable(inline="always")
def _two_sum(a: Any, b: Any) -> Any:
    """a + b and what rounding lost of it, exactly (Knuth)."""
    raised = a + b
    part = raised - a
    return raised, (a - (raised - part)) + (b - part)


@compiled
def error_and_mass(
    tables: Any, active: Any, consensus: Any, mass_field: Any, outstanding: Any, errors: Any, masses: Any
) -> None:
    """Σ (x − c̄)² over all nodes and coordinates, and what is conserved per coordinate, for the active replicas.

    ``errors`` is ``(replicas,)``, ``masses`` ``(replicas, coordinates)``; the mass is the sum of
    ``mass_field`` less that of ``outstanding``, the field of the outstanding noise or −1. Sums are
    compensated, so that what they show is the method's rounding and not their own.
    """
    for r in active:
        total, total_lost = 0.0, 0.0
        for c in range(tables.shape[1]):
            mass, mass_lost = 0.0, 0.0
            for i in range(tables.shape[2]):
                off = tables[r, c, i, VALUE] - consensus[c]
                total, lost = _two_sum(total, off * off)
                total_lost += lost
                held = tables[r, c, i, mass_field]
                if outstanding >= 0:
                    held -= tables[r, c, i, outstanding]
                mass, lost = _two_sum(mass, held)
                mass_lost += lost
            masses[r, c] = mass + mass_lost
        errors[r] = total + total_lost


def settle_all(tables: Any, active: Any, steps: Any, parameters: Any) -> None:
    """Bring every node of each active replica up to the replica's step."""
    for r in active:
        for c in range(tables.shape[1]):
            settle(tables[r, c], steps[r], parameters)


def settled(
    method: Method, tables: Array, steps_done: npt.NDArray[np.int64], parameters: Array, active: npt.NDArray[np.int64]
) -> Array:
    """The node tables of a lazy method with every node up to its replica's step: a copy."""
    tables = tables.copy()
    kernel = specialised(settle_all, settle=type(method).settle)
    with kernel.first_call(f"{method.name} (settling)"):
        kernel.run(tables, active, steps_done.copy(), parameters)  # a read-only array would have another type
    return tables
