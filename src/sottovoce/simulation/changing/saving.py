"""Stages in files: those of saved runs, and those that people write (TOML)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from ...errors import InvalidFile, InvalidInput
from .stages import Stage, as_stages

__all__ = ["packed", "read_stages", "unpacked"]

PLAIN = ("start", "loss", "down", "gone")
ARRAYS = ("edges", "edge_probabilities", "node_rates", "values")


def packed(stages: Sequence[Stage]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Numbers and names for the header, and arrays by name."""
    header = [{name: getattr(stage, name) for name in PLAIN} for stage in stages]
    arrays = {
        f"stage.{k}.{name}": getattr(stage, name)
        for k, stage in enumerate(stages)
        for name in ARRAYS
        if getattr(stage, name) is not None
    }
    return header, arrays


def unpacked(header: Sequence[dict[str, Any]], arrays: dict[str, Any]) -> tuple[Stage, ...]:
    """The stages again."""
    given = (
        {name: each[name] for name in PLAIN} | {name: arrays.get(f"stage.{k}.{name}") for name in ARRAYS}
        for k, each in enumerate(header)
    )
    return as_stages([Stage(**each) for each in given])


def read_stages(path: str | PathLike[str]) -> tuple[Stage, ...]:
    """Read a TOML file with one table ``[[stage]]`` per stage; its keys are the parameters of :class:`Stage`.

    Raises
    ------
    InvalidFile
        If it is not such a file.
    """
    path = Path(path)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InvalidFile(f"{path} is not a file of stages: {error}") from None
    stages = given.pop("stage", None)
    if given or not isinstance(stages, list) or not all(isinstance(stage, dict) for stage in stages):
        raise InvalidFile(f"{path} must have tables [[stage]] and nothing else")
    known = {field.name for field in fields(Stage)}
    for stage in stages:
        if unknown := sorted(stage.keys() - known):
            raise InvalidFile(f"{path}: a stage has no {unknown[0]!r}; it may have {', '.join(sorted(known))}")
    try:
        return as_stages([Stage(**stage) for stage in stages])
    except InvalidInput as error:
        raise InvalidFile(f"{path}: {error}") from None
