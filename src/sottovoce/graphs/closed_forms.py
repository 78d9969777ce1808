"""What is known without computing about the structured families, looked up by :class:`~sottovoce.graphs.graph.Family`.

Connectivities are written as 4 sin²(x/2) rather than 2(1 − cos x): the latter loses half of the digits for large n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .graph import Family

__all__ = ["ClosedForms", "closed_forms"]


@dataclass(frozen=True)
class ClosedForms:
    """Functions of a family's sizes."""

    connectivity: Callable[..., float]
    """α."""
    diameter: Callable[..., int]


_FORMS = {
    "cycle": ClosedForms(lambda n: 4 * math.sin(math.pi / n) ** 2, lambda n: n // 2),
    "path": ClosedForms(lambda n: 4 * math.sin(math.pi / (2 * n)) ** 2, lambda n: n - 1),
    "complete": ClosedForms(float, lambda _: 1),
    "star": ClosedForms(lambda n: 2.0 if n == 2 else 1.0, lambda n: min(2, n - 1)),
    "grid": ClosedForms(
        lambda rows, cols: 4 * math.sin(math.pi / (2 * max(rows, cols))) ** 2, lambda rows, cols: rows + cols - 2
    ),
    "torus": ClosedForms(
        lambda rows, cols: 4 * math.sin(math.pi / max(rows, cols)) ** 2, lambda rows, cols: rows // 2 + cols // 2
    ),
    "hypercube": ClosedForms(lambda _: 2.0, int),
}


def closed_forms(family: Family | None) -> ClosedForms | None:
    """The forms of a family that has them.

    Examples
    --------
    >>> forms = closed_forms(Family("cycle", (6,)))
    >>> round(forms.connectivity(6), 12), forms.diameter(6)
    (1.0, 3)
    """
    return None if family is None else _FORMS.get(family.name)
