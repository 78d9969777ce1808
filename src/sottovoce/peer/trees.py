"""Values with a shape: numbers, arrays, and dictionaries, lists and tuples of them, as one vector and back.

What a program averages is seldom a flat list of numbers. :func:`flatten` puts the leaves of a tree side by side, in the
order of a dictionary's sorted keys, and gives the function that makes the same tree from the vector of the answer.
Arrays of 32-bit floats come back as such.
"""

from __future__ import annotations

import datetime
import hashlib
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InvalidValues

__all__ = ["Flat", "Rebuild", "flatten", "place_of"]

Floats = npt.NDArray[np.float64]
Rebuild = Callable[[Floats], Any]
"""Makes a tree of the same shape from a vector."""

Shape = tuple[int, ...] | str
"""Of a branch: that of an array, or a text about everything else."""

LONGEST_SHAPE = 48
"""Characters of an array's shape that are told."""


class Flat(NamedTuple):
    """A tree as a vector: its numbers, what makes such a tree from another vector, and its shape as text."""

    vector: Floats
    rebuild: Rebuild
    shape: str


def flatten(value: Any) -> Flat:
    """The leaves of ``value`` as one vector of floats, what makes such a tree from another vector, and its shape.

    The shape is a short text, the same for trees whose numbers stand for the same things: that of an array as it is; of
    any other tree a digest, because keys may be long, and may tell something. A list of arrays of one shape counts as
    an array, what kind of numbers they are does not count, and of a named tuple the names do.

    Parameters
    ----------
    value
        A number, an array of numbers of any shape, or a dictionary, list or tuple of those, nested as you like. A list
        of plain numbers is one array; a named tuple stays one. Keys are texts, numbers, dates, bytes, or tuples of
        those. What comes back is a tree as it was given, whatever becomes of this one meanwhile.

    Raises
    ------
    InvalidValues
        Something else is in it, or nothing at all, or a masked number. Says where, never what.

    Examples
    --------
    >>> vector, rebuild, _ = flatten({"b": [1.0, 2.0], "a": np.ones((2, 2), dtype=np.float32)})
    >>> vector
    array([1., 1., 1., 1., 1., 2.])
    >>> rebuild(vector / 2)
    {'b': array([0.5, 1. ]), 'a': array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)}
    >>> [flatten(value).shape for value in (1.0, [1.0, 2.0], np.ones((2, 2)), [[1, 2], [3, 4]])]
    ['()', '(2,)', '(2, 2)', '(2, 2)']
    >>> [flatten(value).shape for value in ({"a": 1.0, "b": 2.0}, {"b": 2, "a": 1}, {"b": 1.0, "z": 2.0})]
    ['tree 6bd85200086b3155', 'tree 6bd85200086b3155', 'tree f42df39ae82ea619']
    """
    parts: list[Floats] = []
    try:
        rebuild, shape = _walk(value, "the value", parts)
    except RecursionError:
        raise InvalidValues("the value must not hold itself, nor be nested hundreds of levels deep") from None
    if not parts or sum(part.size for part in parts) == 0:
        raise InvalidValues("the value must hold at least one number")
    return Flat(np.concatenate(parts), rebuild, _text(shape))


def place_of(value: Any, coordinate: int) -> str:
    """Where a coordinate of the vector of :func:`flatten` is in the tree, for errors.

    Examples
    --------
    >>> place_of({"b": [1.0, 2.0], "a": np.ones((2, 2))}, 2), place_of({"b": 1.0}, 0), place_of([1.0, 2.0], 1)
    ("value['a'][1, 0]", "value['b']", 'coordinate 1 of the private value')
    """
    left = coordinate
    for where, array in _leaves(value, "value"):
        if left < array.size and (where != "value" or array.ndim > 1):
            index = ", ".join(str(int(k)) for k in np.unravel_index(left, array.shape))
            return f"{where}[{index}]" if index else where
        left -= array.size
    return f"coordinate {coordinate} of the private value"


def _leaves(value: Any, where: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """The arrays of a tree that can be flattened, in that order, and where they are."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield from _leaves(value[key], f"{where}[{key!r}]")
    elif isinstance(value, list | tuple) and not _flat(value):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{where}[{index}]")
    else:
        yield where, np.asarray(value)


def _walk(value: Any, where: str, parts: list[Floats]) -> tuple[Rebuild, Shape]:
    """Append the leaves of one branch, and say how to make such a branch, and what shape it has."""
    if isinstance(value, Mapping):
        return _mapping(value, where, parts)
    if isinstance(value, list | tuple) and not _flat(value):
        make = _maker(value, where)
        made = [_counted(item, f"{where}[{index}]", parts) for index, item in enumerate(value)]
        return lambda vector: make(_each(made, vector)), _of_all(value, [shape for _, _, shape in made])
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


def _mapping(value: Mapping[Any, Any], where: str, parts: list[Floats]) -> tuple[Rebuild, Shape]:
    given = list(value)  # the dictionary may change before the answer is there
    told = {key: _key(key, where) for key in given}
    try:
        order = sorted(given)
    except TypeError:
        raise InvalidValues(f"the keys of {where} must be of one kind, so that all sort them alike") from None
    made = [_counted(value[key], f"{where}[{key!r}]", parts) for key in order]

    def rebuild(vector: Floats) -> dict[Any, Any]:
        found = dict(zip(order, _each(made, vector), strict=True))
        return {key: found[key] for key in given}

    shapes = (f"{told[key]}: {shape}" for key, (_, _, shape) in zip(order, made, strict=True))
    return rebuild, f"{{{', '.join(shapes)}}}"


def _leaf(value: Any, where: str, parts: list[Floats]) -> tuple[Rebuild, Shape]:
    array = _array(value, where)
    parts.append(array.astype(np.float64).ravel())
    kept = np.float32 if array.dtype.type is np.float32 else np.float64  # in either order of bytes
    shape = array.shape
    if array.ndim == 0 and not isinstance(value, np.ndarray):
        return lambda vector: float(vector[0]), shape
    return lambda vector: vector.reshape(shape).astype(kept), shape


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


def _counted(value: Any, where: str, parts: list[Floats]) -> tuple[Rebuild, int, Shape]:
    """How to make one branch, how many numbers it takes, and its shape."""
    before = len(parts)
    rebuild, shape = _walk(value, where, parts)
    return rebuild, sum(part.size for part in parts[before:]), shape


def _each(made: list[tuple[Rebuild, int, Shape]], vector: Floats) -> Iterator[Any]:
    at = 0
    for rebuild, size, _ in made:
        yield rebuild(vector[at : at + size])
        at += size


def _of_all(value: list[Any] | tuple[Any, ...], shapes: list[Shape]) -> Shape:
    """The shape of a list or tuple whose items have these."""
    if _named(value):
        fields: Any = getattr(value, "_fields")  # noqa: B009 - no attribute of every tuple
        return f"({', '.join(f'{name}={shape}' for name, shape in zip(fields, shapes, strict=True))})"
    if shapes and isinstance(shapes[0], tuple) and len(set(shapes)) == 1:
        return len(shapes), *shapes[0]
    return f"[{', '.join(map(str, shapes))}]"


def _key(key: Any, where: str) -> str:
    """A key as text, the same in every process and another for every other key.

    Keys of other kinds are refused: who cannot compare them would add up what stands for different things. Some, such
    as frozen sets, are not even in the same order everywhere.
    """
    if isinstance(key, str):
        return repr(str(key))
    if isinstance(key, numbers.Integral):
        return repr(int(key))
    if isinstance(key, float | np.floating):
        return repr(float(key))
    if isinstance(key, tuple):
        return f"({', '.join(_key(item, where) for item in key)})"
    if key is None or isinstance(key, bytes | Decimal | numbers.Rational | datetime.date | datetime.time):
        return repr(key)
    raise InvalidValues(
        f"the keys of {where} must be texts, numbers, dates, bytes or tuples of them, so that all can compare them: "
        f"one is a {type(key).__name__}"
    )


def _text(shape: Shape) -> str:
    """A shape as it is told: that of an array; of anything else, and of an array of very many axes, a digest."""
    text = str(shape)
    if isinstance(shape, tuple) and len(text) <= LONGEST_SHAPE:
        return text
    return f"tree {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _flat(value: Any) -> bool:
    if isinstance(value, np.ndarray) or _named(value) or not isinstance(value, list | tuple):
        return False
    return bool(value) and all(isinstance(item, int | float | np.number) for item in value)


def _named(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_make") and hasattr(value, "_fields")
