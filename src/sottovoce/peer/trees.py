"""Values with a shape: numbers, arrays, and dictionaries, lists and tuples of them, as one vector and back.

What a program averages is seldom a flat list of numbers. :func:`flatten` puts the leaves of a tree side by side, in the
order of a dictionary's sorted keys, and gives the function that makes the same tree from the vector of the answer.
Arrays of 32-bit floats come back as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidValues

__all__ = ["Rebuild", "flatten"]

Floats = npt.NDArray[np.float64]
Rebuild = Callable[[Floats], Any]
"""Makes a tree of the same shape from a vector."""


def flatten(value: Any) -> tuple[Floats, Rebuild]:
    """The leaves of ``value`` as one vector of floats, and what makes such a tree from another vector.

    Parameters
    ----------
    value
        A number, an array of numbers of any shape, or a dictionary, list or tuple of those, nested as you like. A list
        of plain numbers is one array; a named tuple stays one.

    Raises
    ------
    InvalidValues
        Something else is in it, or nothing at all, or a masked number. Says where, never what.

    Examples
    --------
    >>> vector, rebuild = flatten({"b": [1.0, 2.0], "a": np.ones((2, 2), dtype=np.float32)})
    >>> vector
    array([1., 1., 1., 1., 1., 2.])
    >>> rebuild(vector / 2)
    {'b': array([0.5, 1. ]), 'a': array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)}
    """
    parts: list[Floats] = []
    try:
        rebuild = _walk(value, "the value", parts)
    except RecursionError:
        raise InvalidValues("the value must not hold itself, nor be nested hundreds of levels deep") from None
    if not parts or sum(part.size for part in parts) == 0:
        raise InvalidValues("the value must hold at least one number")
    return np.concatenate(parts), rebuild


def _walk(value: Any, where: str, parts: list[Floats]) -> Rebuild:
    """Append the leaves of one branch, and say how to make such a branch."""
    if isinstance(value, Mapping):
        return _mapping(value, where, parts)
    if isinstance(value, list | tuple) and not _flat(value):
        make = _maker(value, where)
        made = [_counted(item, f"{where}[{index}]", parts) for index, item in enumerate(value)]
        return lambda vector: make(_each(made, vector))
    return _leaf(value, where, parts)


def _maker(value: list[Any] | tuple[Any, ...], where: str) -> Callable[[Iterable[Any]], Any]:
    """What makes such a list or tuple from its items; tried here, because a contribution cannot be taken back."""
    kind: Any = type(value)
    make: Callable[[Iterable[Any]], Any] = kind._make if _named(value) else kind
    if kind not in (list, tuple):
        try:
            make(iter(value))
        except Exception:
            raise InvalidValues(
                f"{where} must be a plain list or tuple or a named tuple: a {kind.__name__} cannot be made of its items"
            ) from None
    return make


def _mapping(value: Mapping[Any, Any], where: str, parts: list[Floats]) -> Rebuild:
    try:
        order = sorted(value)
    except TypeError:
        raise InvalidValues(f"the keys of {where} must be of one kind, so that all sort them alike") from None
    made = [_counted(value[key], f"{where}[{key!r}]", parts) for key in order]

    def rebuild(vector: Floats) -> dict[Any, Any]:
        found = dict(zip(order, _each(made, vector), strict=True))
        return {key: found[key] for key in value}

    return rebuild


def _leaf(value: Any, where: str, parts: list[Floats]) -> Rebuild:
    array = _array(value, where)
    parts.append(array.astype(np.float64).ravel())
    kept = np.float32 if array.dtype == np.float32 else np.float64
    if array.ndim == 0:
        return lambda vector: float(vector[0])
    return lambda vector: vector.reshape(array.shape).astype(kept)


def _array(value: Any, where: str) -> npt.NDArray[Any]:
    if np.ma.is_masked(value):
        raise InvalidValues(f"{where} has masked numbers: fill them in, or leave them out")
    try:
        array = np.asarray(value)
        if array.dtype == np.object_ and (_flat(value) or isinstance(value, int)):  # whole numbers beyond 64 bits
            array = array.astype(np.float64)
    except OverflowError:
        raise InvalidValues(f"{where} has a number that no float can hold") from None
    except (TypeError, ValueError):
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise InvalidValues(f"{where} must be a number, or an array, dictionary, list or tuple of numbers")
    return array


def _counted(value: Any, where: str, parts: list[Floats]) -> tuple[Rebuild, int]:
    """How to make one branch, and how many numbers it takes."""
    before = len(parts)
    rebuild = _walk(value, where, parts)
    return rebuild, sum(part.size for part in parts[before:])


def _each(made: list[tuple[Rebuild, int]], vector: Floats) -> Iterator[Any]:
    at = 0
    for rebuild, size in made:
        yield rebuild(vector[at : at + size])
        at += size


def _flat(value: Any) -> bool:
    if isinstance(value, np.ndarray) or _named(value) or not isinstance(value, list | tuple):
        return False
    return bool(value) and all(isinstance(item, int | float | np.number) for item in value)


def _named(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_make") and hasattr(value, "_fields")
