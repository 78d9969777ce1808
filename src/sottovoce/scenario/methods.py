"""Methods by name, as command lines, sweep files and web addresses give them."""

from __future__ import annotations

import inspect

from ..errors import InvalidParameter
from ..methods import METHODS, Method
from ..methods.registry import find_method

__all__ = ["METHODS", "parse_method"]


def parse_method(text: str) -> Method:
    """Read ``name`` or ``name:parameter=value,…``; values are numbers or words.

    Examples
    --------
    >>> parse_method("noise-insertion:noise_std=1,noise_decay=0.9")
    NoiseInsertion(noise_std=1, noise_decay=0.9)
    >>> parse_method("standard")
    StandardGossip()
    """
    name, _, rest = text.partition(":")
    cls = find_method(name)
    named: dict[str, float | str] = {}
    for part in rest.split(",") if rest else []:
        key, _, value = part.partition("=")
        named[key.strip()] = _number_or_word(value.strip())
    signature = inspect.signature(cls)
    try:
        signature.bind(**named)
    except TypeError as error:
        raise InvalidParameter(
            f"method {text!r}: {error}; {name} takes {', '.join(signature.parameters) or 'nothing'}"
        ) from None
    return cls(**named)


def _number_or_word(text: str) -> float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
