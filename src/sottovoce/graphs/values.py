"""Private values as they come in, wherever they are asked for: one number or one vector per node, by place or by name.

They are checked without ever being shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidValues
from ..foundation.arguments import Array, check_unmasked, keys_of
from .circulant import Circulant
from .graph import Graph
from .naming import by_node

__all__ = ["LARGEST_VALUE", "SMALLEST_SPREAD", "checked_values"]

LARGEST_VALUE = 1e150
SMALLEST_SPREAD = 1e-135
"""How far apart values that differ must be: their squares are then normal numbers, and so is what rounding leaves of
them in the end, about 1e-32 times as much."""


def checked_values(
    private_values: npt.ArrayLike | Mapping[Any, Any], graph: Graph | Circulant, *, name: str = "private_values"
) -> Array:
    """Finite ``(n,)`` or ``(n, d)`` floats, a copy that cannot be changed.

    They may be given in the order of the nodes; or, in any order, as a mapping or a pandas Series or table whose keys
    are names or numbers of nodes.

    Raises
    ------
    InvalidValues
        If they do not fit the graph or are not finite. What is wrong is said without showing any of them.
    """
    given: Any = private_values
    check_unmasked(name, given, InvalidValues)
    if keys_of(given) is not None:
        if isinstance(graph, Circulant):
            raise InvalidValues(f"{name} of a Circulant must be in the order of its nodes: they have no names")
        given = by_node(given, graph, name=name)
    try:
        real = not np.iscomplexobj(np.asarray(given))
        values = np.array(given, dtype=np.float64) if real else np.empty(0)
    except (TypeError, ValueError):
        raise InvalidValues(f"{name} must be numbers, one or one vector per node") from None
    if not real:
        raise InvalidValues(f"{name} must be real numbers, got complex ones")
    if values.ndim not in (1, 2) or values.shape[0] != graph.num_nodes or values.size == 0:
        raise InvalidValues(
            f"{name} must have shape ({graph.num_nodes},) or ({graph.num_nodes}, d), got {values.shape}"
        )
    low, high = values.min(axis=0), values.max(axis=0)
    if not -LARGEST_VALUE <= low.min() <= high.max() <= LARGEST_VALUE:
        _refuse(values, name)
    if 0.0 < (high - low).max() < SMALLEST_SPREAD:
        raise InvalidValues(
            f"{name} must be equal or at least {SMALLEST_SPREAD:g} apart, so that their squares are not lost; "
            "scale them"
        )
    values.flags.writeable = False
    return values


def _refuse(values: Array, name: str) -> None:
    """Say what is wrong with values of which one is too large or not a number."""
    if not np.isfinite(values).all():
        where = int(np.argwhere(~np.isfinite(values))[0][0])
        raise InvalidValues(f"{name} must be finite; the entry of node {where} is not")
    raise InvalidValues(
        f"{name} must be at most {LARGEST_VALUE:g} in size, so that their squares are finite; scale them"
    )
