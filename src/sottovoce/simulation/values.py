"""Private values of a run: those that :mod:`~sottovoce.graphs.values` takes, in as many coordinates as have streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidValues
from ..graphs import values as checks
from ..graphs.circulant import Circulant
from ..graphs.graph import Graph
from ..methods.base import Array
from .random.streams import MAX_COORDINATES

__all__ = ["checked_values", "sums_of"]


def checked_values(private_values: npt.ArrayLike | Mapping[Any, Any], graph: Graph | Circulant) -> Array:
    """Finite ``(n,)`` or ``(n, d)`` floats. What is wrong is said without showing any of them."""
    values = checks.checked_values(private_values, graph)
    if values.ndim == 2 and values.shape[1] > MAX_COORDINATES:
        raise InvalidValues(f"private_values may have at most {MAX_COORDINATES} coordinates, got {values.shape[1]}")
    return values


def sums_of(values: Array) -> Array:
    """``(coordinates,)`` the sum over nodes of ``(n,)`` or ``(n, d)`` values."""
    if values.ndim == 1:
        return np.atleast_1d(values.sum())
    columns = values.reshape(len(values), -1)
    few = max(1, 2**20 // len(columns))  # at a time: a sum is exact enough where its terms are side by side
    parts = [np.ascontiguousarray(columns[:, c : c + few].T).sum(axis=1) for c in range(0, columns.shape[1], few)]
    return np.concatenate(parts)
