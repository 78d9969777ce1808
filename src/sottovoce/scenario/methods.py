"""Methods in words: ``standard``, ``noise-insertion:noise_std=1,noise_decay=0.9``.

The registry says which names there are and the class which parameters. A parameter is a number or a word; the word
``free`` as ``noise_decay`` is every node's largest decay that leaves the guaranteed rate as it is, which needs the
graph.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from typing import Any, cast

from ..errors import InvalidParameter
from ..foundation.text import number_in
from ..graphs.graph import Graph
from ..methods import Method
from ..methods.registry import find_method, is_ours

__all__ = ["FREE", "MethodSpec", "parse_method", "split_method"]

FREE = "free"
"""Instead of a number for ``noise_decay``, where the class has ``largest_free``."""


@dataclass(frozen=True)
class MethodSpec:
    """A method's name and its parameters, in the order of the class.

    Raises
    ------
    InvalidParameter
        If no method has that name, or it does not take these parameters.

    Examples
    --------
    >>> str(MethodSpec.parse("noise-insertion: noise_decay=free, noise_std=1.0"))
    'noise-insertion:noise_std=1,noise_decay=free'
    """

    name: str
    parameters: tuple[tuple[str, float | str], ...] = ()

    def __post_init__(self) -> None:
        signature = inspect.signature(find_method(self.name))
        try:
            bound = signature.bind(**dict(self.parameters))
        except TypeError as error:
            takes = ", ".join(signature.parameters) or "nothing"
            raise InvalidParameter(f"method {str(self)!r}: {error}; {self.name} takes {takes}") from None
        object.__setattr__(self, "parameters", tuple(bound.arguments.items()))

    @classmethod
    def parse(cls, text: str) -> MethodSpec:
        """Read ``name`` or ``name:parameter=value,…``."""
        name, parameters = split_method(text)
        return cls(name, tuple(parameters.items()))

    def __str__(self) -> str:
        parameters = ",".join(f"{name}={value}" for name, value in self.parameters)
        return f"{self.name}:{parameters}" if parameters else self.name

    def build(self, graph: Graph | None = None) -> Method:
        """Make the method, and check that it fits ``graph`` if one is given."""
        cls: Any = find_method(self.name)
        given = dict(self.parameters)
        if self._is_free:
            if graph is None:
                raise InvalidParameter(f"{self}: which decay is free depends on the graph, and none is given here")
            del given["noise_decay"]
        method: Method = cls.largest_free(graph, **given) if self._is_free else cls(**given)
        if graph is not None:
            method.validate(graph)
        return method

    @property
    def _is_free(self) -> bool:
        return dict(self.parameters).get("noise_decay") == FREE and hasattr(find_method(self.name), "largest_free")

    def to_python(self, graph: Graph) -> str:
        """An expression that makes the same method, after ``import sottovoce as sv`` and an assignment to ``graph``.

        A class of somebody else's stands under its own name.
        """
        method = self.build(graph)
        cls = type(method)
        home = "sv." if is_ours(cls) else ""
        given = [field.name for field in dataclasses.fields(cast("Any", method)) if field.init]
        values = {name: value for name in given if (value := getattr(method, name)) is not None}
        if self._is_free:
            del values["noise_decay"]
        words = [f"{name}={value!r}" for name, value in values.items()]
        if self._is_free:
            return f"{home}{cls.__name__}.largest_free({', '.join(['graph', *words])})"
        return f"{home}{cls.__name__}({', '.join(words)})"


def split_method(text: str) -> tuple[str, dict[str, float | str]]:
    """The name and the parameters that ``text`` gives; whether they make a method is not looked at."""
    name, _, rest = text.partition(":")
    parameters: dict[str, float | str] = {}
    for part in rest.split(",") if rest else []:
        key, _, value = (word.strip() for word in part.partition("="))
        number = number_in(value)
        parameters[key] = value if number is None else number
    return name, parameters


def parse_method(text: str, graph: Graph | None = None) -> Method:
    """The method that ``text`` describes, on ``graph`` if it depends on it.

    Examples
    --------
    >>> parse_method("noise-insertion:noise_std=1,noise_decay=0.9")
    NoiseInsertion(noise_std=1, noise_decay=0.9)
    """
    return MethodSpec.parse(text).build(graph)
