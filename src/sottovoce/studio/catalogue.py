"""What the page offers: graph families, private values and methods, read from the package itself.

A new generator or method appears in the page without a change here: forms are made from signatures, dataclass fields
and the settings that a method calls customary.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._version import __version__
from ..errors import InvalidInput
from ..graphs import cycle
from ..methods import METHODS, Method
from ..scenario.graphs import FAMILIES
from ..scenario.methods import FREE, MethodSpec
from ..scenario.values import WAYS
from .limits import Limits

__all__ = ["catalogue", "method_entry"]

_STARTING_SIZES: dict[str, float] = {
    "n": 24, "rows": 5, "cols": 6, "dimension": 4, "clique": 6, "path_length": 1, "degree": 4,
    "p": 0.2, "k": 4, "attach": 2,
}  # fmt: skip
"""What a form shows first; a parameter that is not here starts empty, at its default."""

_EXAMPLE = cycle(10)
"""The graph with which the page opens: customary settings are asked for it."""

_GUESSES = (0.5, 1)
"""For a number that a method needs and says nothing about; the first that it takes."""


def catalogue(limits: Limits) -> dict[str, Any]:
    """Everything the page needs to build its forms."""
    return {
        "version": __version__,
        "limits": {"nodes": limits.nodes, "edges": limits.edges, "steps": limits.steps, "methods": limits.methods},
        "families": [_family_entry(name) for name in FAMILIES if name != "random-geometric"],
        "values": [{"name": name, "title": way.title} for name, way in WAYS.items()],
        "methods": [entry for name in METHODS if (entry := method_entry(name)) is not None],
    }


def _family_entry(name: str) -> dict[str, Any]:
    parameters = FAMILIES[name].parameters.values()
    return {
        "name": name,
        "title": "random geometric" if name == "rgg" else name.replace("-", " "),
        "about": _first_sentence(FAMILIES[name].generator),
        "parameters": [
            {
                "name": p.name,
                "whole": "float" not in str(p.annotation),
                "required": p.default is p.empty,
                "start": _STARTING_SIZES.get(p.name),
            }
            for p in parameters
            if p.name != "seed"
        ],
        "seeded": any(p.name == "seed" for p in parameters),
    }


def method_entry(name: str) -> dict[str, Any] | None:
    """One method: its fields, what they start at, what they mean; ``None`` if no form can make it."""
    cls = METHODS[name]
    about = _parameter_texts(cls)
    for start in _starts(cls):
        try:
            method = MethodSpec(name, tuple(start.items())).build(_EXAMPLE)
        except InvalidInput:
            continue
        return {
            "name": name,
            "title": re.split(r"[,(:]", method.label())[0].strip(),
            "about": _first_sentence(cls),
            "decay": hasattr(cls, "largest_free"),
            "parameters": [{"name": key, "start": value, "about": about.get(key, "")} for key, value in start.items()],
        }
    return None


def _starts(cls: type[Method]) -> Iterator[dict[str, float | str]]:
    """Parameters that a form could begin with: customary ones (of several the last), or defaults and a guess."""
    fields = [f for f in dataclasses.fields(typing.cast("Any", cls)) if f.init]
    for method in reversed(cls.customary(_EXAMPLE)):
        yield _typed({f.name: getattr(method, f.name) for f in fields})
    for guess in _GUESSES:
        needed = dataclasses.MISSING
        yield _typed({f.name: guess if f.default is f.default_factory is needed else f.default for f in fields})


def _typed(parameters: dict[str, Any]) -> dict[str, float | str]:
    """Those that can be typed into a form; a decay of every node's own is the free one."""
    if isinstance(parameters.get("noise_decay"), np.ndarray):
        parameters["noise_decay"] = FREE
    return {name: value for name, value in parameters.items() if isinstance(value, int | float | str)}


def _first_sentence(thing: object) -> str:
    text = inspect.cleandoc(getattr(thing, "__doc__", "") or "").split("\n\n")[0].replace("\n", " ")
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("``", "")


def _parameter_texts(cls: type) -> dict[str, str]:
    """Field → its description in a numpydoc ``Parameters`` section."""
    doc = inspect.cleandoc(cls.__doc__ or "")
    _, _, section = doc.partition("Parameters\n----------\n")
    texts: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if re.fullmatch(r"\w+( :.*)?", line):
            name = line.split()[0]
            texts[name] = ""
        elif line.startswith("    ") and name:
            texts[name] = f"{texts[name]} {line.strip()}".strip()
        elif line:
            break
    return {key: text.replace("``", "") for key, text in texts.items()}
