"""What makes a method a value: parameters that are checked once, and equality, hash and repr that see vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParameter
from ..foundation.arguments import Array, brief, number, per_node
from ..graphs.graph import Graph

__all__ = ["Value"]


class Value:
    """Base of frozen dataclasses whose fields are numbers, words, vectors and matrices."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # What stands in the class itself is not replaced by @dataclass, whose == fails on vectors.
        for special in ("__eq__", "__hash__", "__repr__"):
            if special not in vars(cls):
                setattr(cls, special, getattr(cls, special))

    def check(self, field: str, kind: Callable[..., Any] = number, **limits: Any) -> None:
        """For ``__post_init__``: replace a field by its checked form.

        ``kind`` is a function of :mod:`sottovoce.foundation.arguments` such as ``number`` or ``checked`` (one
        number, or one per node); ``limits`` are its range.
        """
        object.__setattr__(self, field, kind(field, getattr(self, field), **limits))

    def check_lengths(self, *names: str) -> None:
        """For ``__post_init__``: vectors among these fields must have the same length."""
        lengths = {len(value) for name in names if isinstance(value := getattr(self, name), np.ndarray)}
        if len(lengths) > 1:
            raise InvalidParameter(
                f"{' and '.join(names)} must have one entry per node each, got lengths {sorted(lengths)}"
            )

    def each(self, name: str, graph: Graph) -> Array:
        """A field that is one number or one per node, as ``(n,)``."""
        return per_node(name, getattr(self, name), graph.num_nodes)

    def _given(self) -> dict[str, Any]:
        this: Any = self
        return {f.name: getattr(self, f.name) for f in fields(this)} if is_dataclass(this) else {}

    def _key(self) -> tuple[object, ...]:
        return tuple(_comparable(value) for value in self._given().values())

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__qualname__, self._key()))

    def parameters_in_words(self) -> list[str]:
        """Each parameter as ``name = value``, with underscores as spaces."""
        return [f"{name.replace('_', ' ')} = {_shown(value)}" for name, value in self._given().items()]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={_shown(value)}" for name, value in self._given().items())
        return f"{type(self).__name__}({given})"


def _comparable(value: Any) -> object:
    if hasattr(value, "toarray"):
        return ("sparse", value.shape, value.data.tobytes(), value.indices.tobytes(), value.indptr.tobytes())
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _shown(value: Any) -> str:
    if hasattr(value, "shape") and len(value.shape) != 1:
        return f"<{' × '.join(map(str, value.shape))} numbers>"
    if isinstance(value, np.ndarray):
        return brief(value)
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else repr(value)
