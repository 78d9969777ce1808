"""What options take: whole numbers, numbers and file names, refused in the words that the library uses.

Click's own types let ``nan`` through, and say "0 is not in the range x>=1" where the rest of the package says "must be
a whole number ≥ 1, got 0".
"""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path
from typing import Any

import click

from ..errors import InvalidParameter
from ..foundation.arguments import number, shown, whole
from ..foundation.text import number_in

__all__ = ["FigureName", "FileName", "Number", "Whole"]

LARGEST = 2**63 - 1
"""The largest count that compiled code can hold."""


class Whole(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A whole number from ``low`` to ``high``; 1e6 is one."""

    name = "integer"

    def __init__(self, low: int, high: int | None = LARGEST) -> None:
        self.low, self.high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        given = number_in(value) if isinstance(value, str) else value
        told = self.high if self.high != LARGEST else None
        found = whole(_name(param), value if given is None else given, low=self.low, high=told)
        return found if self.high is None else whole(_name(param), found, low=self.low, high=self.high)


class Number(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A finite number; the interval is given as in :func:`~sottovoce.foundation.arguments.checked`."""

    name = "number"

    def __init__(self, **interval: Any) -> None:
        self.interval = interval

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        given = number_in(value) if isinstance(value, str) else value
        if given is None or (not self.interval and not isfinite(given)):
            raise InvalidParameter(f"{_name(param)} must be a finite number, got {shown(value)}")
        return number(_name(param), given, **{"low": -inf, **self.interval})


class FileName(click.Path):
    """The name of a file or folder; an empty one is refused."""

    def __init__(self, **how: Any) -> None:
        super().__init__(path_type=Path, **how)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            raise InvalidParameter(f"{_name(param)} must be the name of a file or folder, got an empty text")
        return super().convert(value, param, ctx)


class FigureName(FileName):
    """The name of a figure, with an ending that is a format, or with none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if Path(path).suffix:
            from ..plotting.saving import format_of

            format_of(path, _name(param))
        return path


def _name(param: click.Parameter | None) -> str:
    """What the user wrote: ``--steps``, or the argument as help shows it."""
    if param is None:
        return "the argument"
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
