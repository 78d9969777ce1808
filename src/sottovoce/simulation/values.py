"""Private values as they come in: one number or one vector per node, checked without ever being shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidValues
from ..graphs.circulant import Circulant
from ..graphs.graph import Graph
from ..graphs.naming import by_node
from ..methods.base import Array
from .random.streams import MAX_COORDINATES

__all__ = ["LARGEST_VALUE", "checked_values", "sums_of"]

LARGEST_VALUE = 1e150


def checked_values(private_values: npt.ArrayLike | Mapping[Any, Any], graph: Graph | Circulant) -> Array:
    """Finite ``(n,)`` or ``(n, d)`` floats. What is wrong is said without showing any of them."""
    given: Any = private_values
    if hasattr(given, "index") and hasattr(given, "items") and not isinstance(given, Mapping):  # a pandas Series
        given = dict(given.items())
    if isinstance(given, Mapping):
        if isinstance(graph, Circulant):
            raise InvalidValues("private_values of a Circulant must be in the order of its nodes: they have no names")
        private_values = by_node(given, graph)
    if np.iscomplexobj(np.asarray(private_values)):
        raise InvalidValues("private_values must be real numbers, got complex ones")
    try:
        values = np.array(private_values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValues("private_values must be numbers, one or one vector per node") from None
    if values.ndim not in (1, 2) or values.shape[0] != graph.num_nodes or values.size == 0:
        raise InvalidValues(
            f"private_values must have shape ({graph.num_nodes},) or ({graph.num_nodes}, d), got {values.shape}"
        )
    if values.ndim == 2 and values.shape[1] > MAX_COORDINATES:
        raise InvalidValues(f"private_values may have at most {MAX_COORDINATES} coordinates, got {values.shape[1]}")
    if not -LARGEST_VALUE <= values.min() <= values.max() <= LARGEST_VALUE:
        _refuse(values)
    values.flags.writeable = False
    return values


def _refuse(values: Array) -> None:
    """Say what is wrong with values of which one is too large or not a number."""
    if not np.isfinite(values).all():
        where = int(np.argwhere(~np.isfinite(values))[0][0])
        raise InvalidValues(f"private_values must be finite; the entry of node {where} is not")
    raise InvalidValues(f"private_values must be at most {LARGEST_VALUE:g} in size, so that their squares are finite")


def sums_of(values: Array) -> Array:
    """``(coordinates,)`` the sum over nodes of ``(n,)`` or ``(n, d)`` values."""
    if values.ndim == 1:
        return np.atleast_1d(values.sum())
    columns = values.reshape(len(values), -1)
    few = max(1, 2**20 // len(columns))  # at a time: a sum is exact enough where its terms are side by side
    parts = [np.ascontiguousarray(columns[:, c : c + few].T).sum(axis=1) for c in range(0, columns.shape[1], few)]
    return np.concatenate(parts)
