"""Checks of arguments. An error names the parameter, the allowed range and what it got."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidInput, InvalidParameter

__all__ = [
    "Array",
    "brief",
    "check_unmasked",
    "checked",
    "entries_of",
    "keys_of",
    "number",
    "per_node",
    "shown",
    "unnamed",
    "whole",
]

Array = npt.NDArray[np.float64]

DEVIATIONS = 1e-50, 1e50
"""Parameters named ``…std`` are squared, and divided by where they must not be 0: the range in which that is sound."""


def whole(name: str, value: object, *, low: int, high: int | None = None) -> int:
    """A whole number in [low, high], or ≥ low; 10.0 is one, booleans and fractions are not.

    Examples
    --------
    >>> whole("replicas", 0, low=1, high=10)
    Traceback (most recent call last):
    ...
    sottovoce.errors.InvalidParameter: replicas must be a whole number in [1, 10], got 0
    >>> whole("n", 1e3, low=3)
    1000
    """
    found: int | None = None
    if isinstance(value, float | np.floating) and value.is_integer():
        found = int(value)
    elif not isinstance(value, bool | np.bool_):
        with contextlib.suppress(TypeError):
            found = operator.index(value)  # type: ignore[arg-type]
    if found is None or found < low or (high is not None and found > high):
        allowed = f"≥ {low}" if high is None else f"in [{low}, {high}]"
        raise InvalidParameter(f"{name} must be a whole number {allowed}, got {shown(value)}")
    return found


def shown(value: object) -> str:
    """At most a few characters of what was given, for a message."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


def keys_of(given: object) -> list[Any] | None:
    """What the entries of a mapping, or the rows of a pandas Series or table, are called; ``None``: they have no names.

    Examples
    --------
    >>> keys_of({"bob": 1.0, "ada": 2.0}), keys_of([1.0, 2.0])
    (['bob', 'ada'], None)
    """
    if isinstance(given, Mapping):
        return list(given)
    if hasattr(given, "index") and hasattr(given, "items"):  # pandas, without importing it
        return list(given.index)
    return None


def entries_of(given: Any) -> list[Any]:
    """The entries that :func:`keys_of` names, in the same order."""
    return list(given.values()) if isinstance(given, Mapping) else list(np.asarray(given))


def check_unmasked(name: str, given: object, error: type[InvalidInput] = InvalidParameter) -> None:
    """Refuse a masked array that hides an entry: NumPy would take the number below the mask.

    Raises
    ------
    InvalidParameter
        Or ``error``.
    """
    if np.ma.is_masked(given):
        raise error(f"{name} must have no masked entries: a number is needed in the place of each")


def unnamed(name: str, given: Any, *, of: str = "nodes", error: type[InvalidInput] = InvalidParameter) -> Any:
    """What was given, without its keys: where no graph is known, those of a mapping or Series must be 0, 1, … in order.

    Raises
    ------
    InvalidParameter
        Or ``error``, if it has other keys, or masked entries.

    Examples
    --------
    >>> unnamed("noise_std", {"bob": 1.0, "ada": 2.0})
    Traceback (most recent call last):
    ...
    sottovoce.errors.InvalidParameter: noise_std must be numbers in the order of the graph's nodes (graph.labels)...
    """
    check_unmasked(name, given, error)
    keys = keys_of(given)
    if keys is None:
        return given
    if not keys or keys != list(range(len(keys))):
        order = f"the graph's {of} ({'graph.labels' if of == 'nodes' else f'graph.{of}'})"
        kind = type(given).__name__
        raise error(f"{name} must be numbers in the order of {order}: names mean nothing here; got {kind} with its own")
    return entries_of(given)


def per_node(name: str, value: float | Array, num_nodes: int) -> Array:
    """A scalar or one number per node, as ``(n,)`` floats.

    Raises
    ------
    InvalidParameter
        If a sequence was given whose length is not the number of nodes.
    """
    array = np.asarray(unnamed(name, value), dtype=np.float64)
    if array.ndim == 0:
        return np.full(num_nodes, float(array))
    if array.shape != (num_nodes,):
        raise InvalidParameter(f"{name} must be one number or one per node ({num_nodes}), got {len(array)} numbers")
    return array


def checked(
    name: str,
    value: object,
    *,
    low: float,
    high: float = np.inf,
    low_open: bool = False,
    high_open: bool = False,
    why: str = "",
) -> float | Array:
    """A finite number, or a read-only vector of them, with every entry in [low, high], an end open if so asked.

    ``why`` is added to the message: what goes wrong outside. Deviations, whose names end in ``std``, are kept to
    :data:`DEVIATIONS`.

    Examples
    --------
    >>> checked("noise_decay", 1.5, low=0, high=1, high_open=True)
    Traceback (most recent call last):
    ...
    sottovoce.errors.InvalidParameter: noise_decay must be finite and in [0, 1), got 1.5
    """
    if name.endswith("std"):
        low, low_open = (max(low, DEVIATIONS[0]), False) if low_open else (low, False)
        high = min(high, DEVIATIONS[1])
    array = _as_array(name, value)
    if array.ndim > 1:
        raise InvalidParameter(f"{name} must be a number or one number per node, got shape {array.shape}")
    outside = (
        ~np.isfinite(array)
        | (array <= low if low_open else array < low)
        | (array >= high if high_open else array > high)
    )
    if outside.any():
        interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high_open or np.isinf(high) else ']'}"
        got = array if array.ndim == 0 else array[outside][0]
        where = "" if array.ndim == 0 else f" at node {int(np.argmax(outside))}"
        because = f" ({why})" if why else ""
        raise InvalidParameter(f"{name} must be finite and in {interval}{because}, got {float(got):g}{where}")
    if array.ndim == 0:
        return float(array)
    array.flags.writeable = False
    return array


def _as_array(name: str, value: object) -> Array:
    value = unnamed(name, value)
    if value is not None and not isinstance(value, bool | str | bytes):  # NumPy would read None as NaN, True and "1"
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return np.array(value, dtype=np.float64)
    got = "None" if value is None else type(value).__name__
    raise InvalidParameter(f"{name} must be a number or one number per node, got {got}")


def number(name: str, value: object, **interval: Any) -> float:
    """One finite number in the interval, which is given as in :func:`checked`; sequences are refused."""
    result = checked(name, value, **interval)
    if not isinstance(result, float):
        raise InvalidParameter(f"{name} must be one number, got {len(result)} numbers")
    return result


def brief(parameter: float | Array) -> str:
    """A number, or the range of a vector, for labels and reprs."""
    if not isinstance(parameter, np.ndarray):
        return f"{parameter:g}"
    low, high = f"{parameter.min():.4g}", f"{parameter.max():.4g}"
    return low if low == high else f"{low}…{high}"
