"""Private values in words: a way to make them, a file, or the numbers themselves.

=======================  ===========================================================================================
``uniform``, ``normal``  drawn from the seed: on [0, 1], or with mean 0 and deviation 1
``ramp``                 evenly from 0 to 1
``spike``                node 0 holds n, all others 0: the mean is 1
a path                   ``.npy``, or text with one number or one vector per node and line, perhaps after its name;
                         ``-`` is standard input
``1.5,2,0``              one number per node
=======================  ===========================================================================================

No error and no repr shows a value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidFile, InvalidValues
from ..foundation.arguments import Array
from ..foundation.files import is_file
from ..foundation.text import listed, named_rows, number_in, number_rows

__all__ = ["WAYS", "ValuesSpec", "read_values", "uniform"]

LARGEST = 1e100
STANDARD_INPUT = "-"


def uniform(num_nodes: int, seed: int) -> Array:
    """On [0, 1], one per node: the paper's private values."""
    return np.random.default_rng([seed, num_nodes]).random(num_nodes)


class Way(NamedTuple):
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
class ValuesSpec:
    """A name of :data:`WAYS` or the path of a file; or one number per node.

    Examples
    --------
    >>> ValuesSpec.parse("spike").build(4, seed=1).tolist()
    [4.0, 0.0, 0.0, 0.0]
    >>> spec = ValuesSpec.parse("1, 2.50, 0")
    >>> spec, str(spec), spec.to_python(3, seed=1)
    (ValuesSpec(source='numbers'), '1,2.5,0', '[1.0, 2.5, 0.0]')
    """

    source: str
    numbers: tuple[float, ...] | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> ValuesSpec:
        """Read a name, the path of a file, or numbers separated by commas.

        Raises
        ------
        InvalidFile
            If there is no comma and no file of that name.
        InvalidValues
            If there is a comma, and something else than numbers around it.
        """
        if text in WAYS or text == STANDARD_INPUT or is_file(text):
            return cls(text)
        known = f"{', '.join(WAYS)}, a file, or numbers separated by commas"
        if "," not in text:
            raise InvalidFile(f"{text} does not exist or is not a file; values must be {known}")
        numbers = [number for part in text.split(",") if (number := number_in(part)) is not None]
        if len(numbers) <= text.count(","):
            raise InvalidValues(f"values must be {known}")
        return cls.of(numbers)

    @classmethod
    def of(cls, numbers: Sequence[float]) -> ValuesSpec:
        """These numbers."""
        return cls("numbers", tuple(numbers))

    def __str__(self) -> str:
        return self.source if self.numbers is None else ",".join(map(repr, self.numbers))

    def build(self, num_nodes: int, seed: int) -> Array | dict[str, Any]:
        """``(n,)`` values, from a file perhaps ``(n, d)`` or by name; whether it fits the graph is checked by its user.

        Raises
        ------
        InvalidValues
            If there is not one number per node, or one is not finite or above 1e100 in size.
        """
        if self.numbers is None:
            return WAYS[self.source].make(num_nodes, seed) if self.source in WAYS else read_values(self.source)
        given = len(self.numbers)
        if given != num_nodes:
            raise InvalidValues(f"values must be one number per node: the graph has {num_nodes} nodes, got {given}")
        fits = [abs(number) <= LARGEST for number in self.numbers]
        if not all(fits):
            where = fits.index(False)
            raise InvalidValues(f"values must be finite and at most {LARGEST:g} in size; that of node {where} is not")
        return np.array(self.numbers, dtype=np.float64)

    def to_python(self, num_nodes: int, seed: int) -> str:
        """An expression that makes the same numbers, after ``import numpy as np``; a file needs :func:`read_values`."""
        if self.numbers is not None:
            return listed([float(number) for number in self.numbers])
        if self.source in WAYS:
            return WAYS[self.source].python.format(seed=seed, n=num_nodes)
        return f"read_values({self.source!r})"


def read_values(path: str) -> Array | dict[str, Any]:
    """Private values from ``.npy``, or text with one number or one vector per node and line; ``-``: standard input.

    If every line begins with a name, what follows is that node's. Errors name the line, never what stands in it.
    """
    if path == STANDARD_INPUT:
        return _from_text(sys.stdin.read().removeprefix("\ufeff"), "standard input")
    file = Path(path)
    if file.suffix == ".npy":
        try:
            return np.asarray(np.load(file, allow_pickle=False), dtype=np.float64)
        except (ValueError, OSError, EOFError, TypeError):
            raise InvalidFile(f"{path} is not a NumPy array of numbers") from None
    try:
        return _from_text(file.read_text(encoding="utf-8-sig"), path)
    except UnicodeDecodeError:
        raise InvalidFile(f"{path} is not a text file of numbers") from None


def _from_text(text: str, name: str) -> Array | dict[str, Any]:
    named = named_rows(text, name)
    rows = number_rows(text, name) if named is None else [row for _, row in named]
    if len({len(row) for row in rows}) != 1:
        raise InvalidFile(f"{name} must have the same number of entries on every line")
    array = np.array(rows)
    values = array[:, 0] if array.shape[1] == 1 else array
    if named is None:
        return values
    found = dict(zip((who for who, _ in named), values, strict=True))
    if len(found) < len(named):
        raise InvalidFile(f"{name} must have one line per node, and one has two")
    return found
