"""Why a method does not compile: the core of Numba's report, and the place it is about, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

__all__ = ["why_not"]

OURS = Path(__file__).parent
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)|(?P<path>\S+\.py) \((?P<number>\d+)\)')
FRAME = re.compile(r"Failed in \w+ mode pipeline|During: |There (is|are) \d+ candidate|\s*$")
"""Lines that say where in the compiler it happened."""
INNER = re.compile(r"raised a specific error:\s*\w+: (.+)")
ADDRESS = re.compile(r"Function\(<(?:built-in )?(?:function|class|ufunc) '?([\w.]+)'?(?: at \w+)?>\)")


def why_not(name: str, functions: Iterable[Callable[..., Any]], error: Exception, *, what: str = "method") -> str:
    """What is wrong with the method called ``name``, or with something else, which consists of these functions."""
    report = COLOURS.sub("", str(error))
    return f"{what} {name} does not compile: {_reason(report, error)} ({_place(report, functions) or 'no place given'})"


def _reason(report: str, error: Exception) -> str:
    lines = [line.strip() for line in report.splitlines() if not FRAME.match(line)]
    first = lines[0] if lines else type(error).__name__
    if first.endswith("signature:"):  # a call that Numba does not know; the next line shows it
        first = f"{first.removesuffix('found for signature:')}for {lines[1].removeprefix('>>> ')}"
    if inner := INNER.search(report):
        first += f": {inner[1]}"
    return ADDRESS.sub(r"\1", first.partition(" Raised from")[0]).rstrip(". ")


def _place(report: str, functions: Iterable[Callable[..., Any]]) -> str:
    """The first place in the report that is not ours: the innermost."""
    for match in PLACE.finditer(report):
        file, line = match["file"] or match["path"], match["line"] or match["number"]
        path = Path(file).resolve()
        if OURS not in path.parents and "numba" not in path.parts:
            return f"{file}, line {line}"
    codes = (getattr(getattr(function, "py_func", function), "__code__", None) for function in functions)
    return next((f"{code.co_filename}, in the function at line {code.co_firstlineno}" for code in codes if code), "")
