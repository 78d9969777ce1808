"""Recording where some nodes are not counted: compiled, and called by the drivers of this folder."""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from ..compiling import compiled
from ..recording import keep, term, two_sum

__all__ = ["note_all_counted", "note_counted"]


@register_jitable
def note_counted(sheet: Any, row: Any, r: Any, c: Any, nodes: Any, counted: Any) -> None:
    """Fill a row by summing over the nodes that are counted, and keep what is asked for of all."""
    keep(sheet, row, r, c, nodes)
    total, total_lost, mass, mass_lost = 0.0, 0.0, 0.0, 0.0
    for i in range(len(counted)):
        if counted[i]:
            square, held = term(nodes, i, sheet.means[c], sheet.mass_field, sheet.outstanding)
            total, lost = two_sum(total, square)
            total_lost += lost
            mass, lost = two_sum(mass, held)
            mass_lost += lost
    sheet.squared[row, r, c] = total + total_lost
    sheet.masses[row, r, c] = mass + mass_lost


@compiled
def note_all_counted(tables: Any, active: Any, sheet: Any, counted: Any) -> None:
    """Fill the first row of each active replica."""
    for r in active:
        for c in range(tables.shape[1]):
            note_counted(sheet, 0, r, c, tables[r, c], counted)
