"""What every method is: a frozen value that knows its parameters and its update.

A method states its rule once, as a plain function on a *node table* (see :class:`PairMethod`). The
plain-Python runner and the compiled driver call that same function; neither knows which method it
runs. No driver and no randomness lives here: draws arrive as arguments.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParameter
from ..graphs.graph import Graph

__all__ = ["VALUE", "Array", "Method", "PairMethod", "checked", "per_node"]

Array = npt.NDArray[np.float64]

VALUE = 0
"""The column of a node table that holds the node's current value x."""


class Method:
    """Base of all methods. Subclasses are either abstract or final, and final ones are frozen dataclasses."""

    name: ClassVar[str]
    """Short lower-case name used on the command line, in tables and in data files."""

    def label(self) -> str:
        """For legends and tables: the name with the parameters that matter."""
        return self.name

    def validate(self, graph: Graph) -> None:
        """Raise :class:`~sottovoce.errors.InvalidParameter` if the parameters do not fit ``graph``."""


class PairMethod(Method):
    """A method in which one edge fires per step and only its two ends act.

    The state is a *node table*: an ``(n, num_fields)`` array of floats, one row per node so that all
    a node owns lies together in memory; column :data:`VALUE` is its current value.
    """

    num_fields: ClassVar[int]
    """Width of the node table."""

    outstanding_field: ClassVar[int | None] = None
    """Column of the node table that holds the outstanding noise, if the method inserts any."""

    uses_noise: ClassVar[bool] = False
    """Whether :attr:`update` reads its two draws; the driver generates none otherwise."""

    @staticmethod
    def update(nodes: Array, i: int, j: int, draw_i: float, draw_j: float, step: int, parameters: Array) -> None:
        """One firing of edge (i, j), in place.

        Subclasses set this to a plain module-level function written in the subset of Python that Numba
        compiles. ``draw_i`` and ``draw_j`` are independent standard normals; ``parameters`` is what
        :meth:`parameters` returned.
        """
        raise NotImplementedError

    def initial(self, graph: Graph, private_values: Array) -> Array:
        """``(n, num_fields)`` node table before the first step, for one coordinate of the values."""
        nodes = np.zeros((graph.num_nodes, self.num_fields))
        nodes[:, VALUE] = private_values
        return nodes

    def parameters(self, graph: Graph) -> Array:
        """Numbers common to all nodes that :attr:`update` needs, as a flat array."""
        return np.zeros(1)


def per_node(name: str, value: float | Array, num_nodes: int) -> Array:
    """A scalar or one number per node, as ``(n,)`` floats.

    Raises
    ------
    InvalidParameter
        If a sequence was given whose length is not the number of nodes.
    """
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0:
        return np.full(num_nodes, float(array))
    if array.shape != (num_nodes,):
        raise InvalidParameter(f"{name} must be one number or one per node ({num_nodes}), got {len(array)} numbers")
    return array


def checked(name: str, value: object, *, low: float, high: float = np.inf, high_open: bool = False) -> float | Array:
    """A finite number, or a read-only vector of them, with every entry in [low, high] or [low, high).

    Examples
    --------
    >>> checked("noise_decay", 1.5, low=0, high=1, high_open=True)
    Traceback (most recent call last):
    ...
    sottovoce.errors.InvalidParameter: noise_decay must be finite and in [0, 1), got 1.5
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(f"{name} must be a number or one number per node, got {type(value).__name__}") from None
    if array.ndim > 1:
        raise InvalidParameter(f"{name} must be a number or one number per node, got shape {array.shape}")
    outside = ~np.isfinite(array) | (array < low) | (array >= high if high_open else array > high)
    if outside.any():
        interval = f"[{low:g}, {high:g}{')' if high_open or np.isinf(high) else ']'}"
        got = array if array.ndim == 0 else array[outside][0]
        where = "" if array.ndim == 0 else f" at node {int(np.argmax(outside))}"
        raise InvalidParameter(f"{name} must be finite and in {interval}, got {float(got):g}{where}")
    if array.ndim == 0:
        return float(array)
    array.flags.writeable = False
    return array
