"""Private values in words: a way to draw them, a file, or the numbers themselves.

==============================  =================================================================================
``uniform``, ``normal``         drawn from the seed: on [0, 1], or with mean 0 and deviation 1
``ramp``                        evenly from 0 to 1
``spike``                       node 0 holds n, all others 0: the mean is 1
a path                          ``.npy``, or text with one number or one vector per node and line
``1.5,2,0``                     one number per node
==============================  =================================================================================

No error and no repr shows a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import InvalidFile, InvalidValues
from ..foundation.arguments import Array
from ..foundation.files import is_file
from ..foundation.text import listed, number_in, number_rows

__all__ = ["WAYS", "DrawnValues", "ListedValues", "ValuesFile", "describe_values", "read_values", "uniform"]

LARGEST = 1e100


def uniform(num_nodes: int, seed: int) -> Array:
    """On [0, 1], one per node: the paper's private values."""
    return np.random.default_rng([seed, num_nodes]).random(num_nodes)


@dataclass(frozen=True)
class Way:
    """A way to make private values: for people, from (number of nodes, seed), and as an expression of Python."""

    title: str
    make: Callable[[int, int], Array]
    python: str


WAYS: dict[str, Way] = {
    "uniform": Way("random, uniform on [0, 1]", uniform, "np.random.default_rng([{seed}, {n}]).random({n})"),
    "normal": Way(
        "random, normal with deviation 1",
        lambda n, seed: np.random.default_rng([seed, n]).standard_normal(n),
        "np.random.default_rng([{seed}, {n}]).standard_normal({n})",
    ),
    "ramp": Way("evenly from 0 to 1", lambda n, _: np.linspace(0.0, 1.0, n), "np.linspace(0.0, 1.0, {n})"),
    "spike": Way(
        "one node holds n, all others 0",
        lambda n, _: np.where(np.arange(n) == 0, float(n), 0.0),
        "np.where(np.arange({n}) == 0, {n}.0, 0.0)",
    ),
}
"""Name → how the private values are made."""


@dataclass(frozen=True)
class DrawnValues:
    """Values that a name of :data:`WAYS` and a seed determine."""

    way: str

    def __str__(self) -> str:
        return self.way

    def build(self, num_nodes: int, seed: int) -> Array:
        """``(n,)`` values."""
        return WAYS[self.way].make(num_nodes, seed)

    def to_python(self, num_nodes: int, seed: int) -> str:
        """An expression that makes the same numbers, after ``import numpy as np``."""
        return WAYS[self.way].python.format(seed=seed, n=num_nodes)


@dataclass(frozen=True)
class ValuesFile:
    """A file with a number, or a vector, per node."""

    path: str

    def __str__(self) -> str:
        return self.path

    def build(self, num_nodes: int, seed: int) -> Array:
        """``(n,)`` or ``(n, d)`` values; whether they fit the graph is checked where they are used."""
        return read_values(self.path)

    def to_python(self, num_nodes: int, seed: int) -> str:
        """An expression that reads them, after ``import sottovoce.scenario.values``."""
        return f"sottovoce.scenario.values.read_values({self.path!r})"


@dataclass(frozen=True)
class ListedValues:
    """One number per node."""

    numbers: tuple[float, ...] = field(repr=False)

    def __str__(self) -> str:
        return ",".join(map(repr, self.numbers))

    def build(self, num_nodes: int, seed: int) -> Array:
        """``(n,)`` values.

        Raises
        ------
        InvalidValues
            If there is not one per node, or one is not finite or above 1e100 in size.
        """
        if len(self.numbers) != num_nodes:
            raise InvalidValues(
                f"values must be one number per node: the graph has {num_nodes} nodes, got {len(self.numbers)}"
            )
        sizes = np.array([abs(number) <= LARGEST for number in self.numbers])
        if not sizes.all():
            raise InvalidValues(
                f"values must be finite and at most {LARGEST:g} in size; the one of node {int(np.argmin(sizes))} is not"
            )
        return np.array(self.numbers, dtype=np.float64)

    def to_python(self, num_nodes: int, seed: int) -> str:
        """A list."""
        return listed([float(number) for number in self.numbers])


def describe_values(text: str) -> DrawnValues | ValuesFile | ListedValues:
    """Read a name of :data:`WAYS`, numbers separated by commas, or the path of a file.

    Examples
    --------
    >>> describe_values("spike").build(4, seed=1).tolist()
    [4.0, 0.0, 0.0, 0.0]
    >>> str(describe_values("1, 2.50, 0"))
    '1,2.5,0'

    Raises
    ------
    InvalidFile
        If there is no comma and no file of that name.
    InvalidValues
        If there is a comma, and something else than numbers around it.
    """
    if text in WAYS:
        return DrawnValues(text)
    if is_file(text):
        return ValuesFile(text)
    if "," not in text:
        raise InvalidFile(
            f"{text} does not exist or is not a file; values may also be {', '.join(WAYS)} or numbers between commas"
        )
    numbers = [number_in(part) for part in text.split(",")]
    if None in numbers:
        raise InvalidValues(f"values must be one of {', '.join(WAYS)}, a file, or numbers separated by commas")
    return ListedValues(tuple(number for number in numbers if number is not None))


def read_values(path: str) -> Array:
    """Private values: ``.npy``, or text with one number or one vector per node and line.

    Errors name the line, never what stands in it.
    """
    file = Path(path)
    if file.suffix == ".npy":
        try:
            return np.asarray(np.load(file, allow_pickle=False), dtype=np.float64)
        except (ValueError, OSError, EOFError, TypeError):
            raise InvalidFile(f"{path} is not a NumPy array of numbers") from None
    try:
        rows = number_rows(file.read_text(encoding="utf-8-sig"), path)
    except UnicodeDecodeError:
        raise InvalidFile(f"{path} is not a text file of numbers") from None
    if len({len(row) for row in rows}) != 1:
        raise InvalidFile(f"{path} must have the same number of entries on every line")
    array = np.array(rows)
    return array[:, 0] if array.shape[1] == 1 else array
