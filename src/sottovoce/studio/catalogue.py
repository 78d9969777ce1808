"""What the page offers: graph families, private values and methods, read from the package itself.

A new generator or method appears in the page without a change here: forms are made from signatures
and dataclass fields.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from typing import Any

from .._version import __version__
from ..errors import InvalidInput
from ..methods import NoiseInsertion
from ..scenario.graphs import FAMILIES
from ..scenario.methods import METHODS, parse_method
from .limits import Limits
from .problem import VALUES

__all__ = ["catalogue", "method_entry"]

_STARTING_SIZES: dict[str, float] = {
    "n": 24, "rows": 5, "cols": 6, "dimension": 4, "clique": 6, "path_length": 1, "degree": 4,
    "p": 0.2, "k": 4, "attach": 2,
}  # fmt: skip
"""What a form shows first; a parameter that is not here starts empty, at its default."""

_STARTING_PARAMETERS: dict[str, object] = {
    "noise_std": 1.0, "noise_decay": 0.9, "num_rounds": 10, "binary-oracle.step_size": "adaptive", "gap": 0.02,
    "momentum": 0.4, "block_size": 5,
}  # fmt: skip
_GUESS = 0.5
"""For a number that must be given and is not in the list above; in the range of most."""


def catalogue(limits: Limits) -> dict[str, Any]:
    """Everything the page needs to build its forms."""
    return {
        "version": __version__,
        "limits": {"nodes": limits.nodes, "edges": limits.edges, "steps": limits.steps, "methods": limits.methods},
        "families": [_family_entry(name) for name in FAMILIES if name != "random-geometric"],
        "values": [{"name": name, "title": kind.title} for name, kind in VALUES.items()],
        "methods": [entry for name in METHODS if (entry := method_entry(name)) is not None],
    }


def _family_entry(name: str) -> dict[str, Any]:
    parameters = inspect.signature(FAMILIES[name]).parameters.values()
    return {
        "name": name,
        "title": "random geometric" if name == "rgg" else name.replace("-", " "),
        "about": _first_sentence(FAMILIES[name]),
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
    fields = [f for f in dataclasses.fields(typing.cast("Any", cls)) if f.init]
    parameters = [
        {"name": f.name, "start": start, "about": about.get(f.name, "")}
        for f in fields
        if (start := _start(name, f)) is not None
    ]
    spec = ",".join(f"{p['name']}={p['start']}" for p in parameters)
    try:
        method = parse_method(f"{name}:{spec}" if spec else name)
    except InvalidInput:
        return None
    return {
        "name": name,
        "title": re.split(r"[,(:]", method.label())[0].strip(),
        "about": _first_sentence(cls),
        "decay": cls is NoiseInsertion,
        "parameters": parameters,
    }


def _start(method: str, field: dataclasses.Field[Any]) -> object:
    """A number or word to begin with; ``None`` for what cannot be typed into a form."""
    value = _STARTING_PARAMETERS.get(f"{method}.{field.name}", _STARTING_PARAMETERS.get(field.name))
    if value is None:
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        value = _GUESS if required else field.default
    return value if isinstance(value, int | float | str) else None


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
