"""Set-ups as files: graph, values, methods, seed, length, and what of the page belongs to them, as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidFile, InvalidInput
from .limits import Limits
from .messages import read_json
from .reading import read_scenario

__all__ = ["read_setup", "write_setup"]

FORMAT = "sottovoce set-up"
VERSION = 1

PROBLEM = ("graph", "values", "methods", "seed", "num_steps")
_WATCH = re.compile(r"(but-|wire-)?[0-9,-]{1,2000}")


def write_setup(problem: object, page: object, limits: Limits) -> str:
    """The text of the file; what cannot be run is refused, so every file that is written can be read.

    Examples
    --------
    >>> problem = {"graph": "cycle:5", "values": "ramp", "methods": ["standard"], "seed": 1, "num_steps": 10}
    >>> read_setup(write_setup(problem, {"at": 3}, Limits()), "mine.json", Limits())["page"]
    {'at': 3}
    """
    read_scenario(problem, limits)
    assert isinstance(problem, Mapping)
    kept = {key: problem[key] for key in PROBLEM if key in problem}
    return json.dumps({"format": FORMAT, "version": VERSION, "problem": kept, "page": _page(page)}, indent=1) + "\n"


def read_setup(text: str, name: str, limits: Limits) -> dict[str, Any]:
    """What a file describes, checked as if a page had asked for it.

    Raises
    ------
    InvalidFile
        If it is no set-up, or one of a later version, or what it describes cannot be run here.
    """
    try:
        content = read_json(text, name)
    except InvalidInput:
        raise InvalidFile(f"{name} is not a set-up: it is not JSON") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidFile(f"{name} is not a set-up of this studio")
    if content.get("version") != VERSION:
        raise InvalidFile(f"{name} is a set-up of another version; this studio reads version {VERSION}")
    problem = content.get("problem")
    try:
        read_scenario(problem, limits)
    except InvalidInput as error:
        raise InvalidFile(f"{name}: {error}") from None
    assert isinstance(problem, dict)
    return {"problem": {key: problem[key] for key in PROBLEM if key in problem}, "page": _page(content.get("page"))}


def _page(given: object) -> dict[str, Any]:
    """Step, speed, observer and prior; what makes no sense is left out."""
    if not isinstance(given, Mapping):
        return {}
    at, speed, watch, prior = (given.get(key) for key in ("at", "speed", "watch", "prior"))
    page: dict[str, Any] = {}
    if _is_count(at):
        page["at"] = at
    if speed == "max" or _is_count(speed):
        page["speed"] = speed
    if isinstance(watch, str) and _WATCH.fullmatch(watch):
        page["watch"] = watch
    if isinstance(prior, str) and re.fullmatch(r"none|[0-9.eE+-]{1,30}", prior):
        page["prior"] = prior
    return page


def _is_count(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 2**53
