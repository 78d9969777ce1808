"""Structured logs, one JSON object a line, from which private values are kept out by construction.

Two safeguards. Fields: strings, whole numbers and booleans pass; a fractional number passes only under a name on
:data:`FRACTIONS` (durations and the like); arrays, lists and everything else are withheld. Exceptions: the type and
the place are logged, and the message only if the error is one of ours, whose messages never contain a value.
Nothing is configured at import: a library must not take over its user's logging. A peer's own process lets everything
through here (:func:`everything_as_json`), also what asyncio and Python themselves have to say.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TextIO

from ...errors import SottovoceError

__all__ = ["FRACTIONS", "Logger", "configure", "everything_as_json", "get_logger", "withhold_values"]

# Names under which a fractional number may appear in a log line. None of them depends on a private value or on noise.
FRACTIONS = frozenset({"seconds", "timeout", "interval", "skew_seconds", "rate", "tolerance", "days"})
_WITHHELD = "[withheld]"


@dataclass
class _Lines:
    """Where the lines of this process go, the least level that is written, and what every line says."""

    stream: TextIO | None = None
    least: int = logging.INFO
    context: dict[str, str] = field(default_factory=dict)


_LINES = _Lines()


def configure(stream: TextIO | None = None, *, level: str = "info", **context: str) -> None:
    """Send this process's log lines as JSON to `stream` (default: standard error). Called by the command line only."""
    _LINES.stream, _LINES.context = stream, context
    _LINES.least = logging.getLevelNamesMapping()[level.upper()]


class Logger:
    """Writes lines that carry ``component``; :func:`configure` says where they go.

    Written here and not taken from a library: those for structured logs load what draws tracebacks in colour, a tenth
    of the memory of a peer.
    """

    def __init__(self, component: str) -> None:
        self._component = component

    def debug(self, event: str, **fields: Any) -> None:
        """Of interest to who looks for a mistake."""
        self._write("debug", event, fields)

    def info(self, event: str, **fields: Any) -> None:
        """Something that is meant to happen."""
        self._write("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Something that is not, and passes."""
        self._write("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Something that the operator must see to."""
        self._write("error", event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """An error, with the exception that is being handled."""
        self._write("error", event, {"exc_info": True, **fields})

    def _write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        if logging.getLevelNamesMapping()[level.upper()] < _LINES.least:
            return
        said = describe_exception({"component": self._component, **fields, "event": event})
        line = {**_LINES.context, "level": level, **withhold_values(said), "timestamp": _now()}
        print(json.dumps(line), file=_LINES.stream or sys.stderr, flush=True)


def get_logger(name: str) -> Logger:
    """A logger whose lines carry ``component=name``."""
    return Logger(name)


def withhold_values(event: dict[str, Any]) -> dict[str, Any]:
    """Replace everything that could hold a value.

    Examples
    --------
    >>> withhold_values({"event": "started", "port": 7001, "estimate": 3.5, "seconds": 0.25})
    {'event': 'started', 'port': 7001, 'estimate': '[withheld]', 'seconds': 0.25}
    """
    return {key: value if _harmless(key, value) else _WITHHELD for key, value in event.items()}


def describe_exception(event: dict[str, Any]) -> dict[str, Any]:
    """Turn ``exc_info`` into type, place and, for our own errors only, the message."""
    given = event.pop("exc_info", None)
    error = sys.exc_info()[1] if given is True else given
    if isinstance(error, BaseException):
        event |= {"error": type(error).__name__, "place": _place(error)}
        if isinstance(error, SottovoceError):
            event["reason"] = str(error)
    return event


class _Bridge(logging.Handler):
    """Turns the standard library's records into our lines: the template and the exception's type, never arguments.

    Arguments, and everything after the first line (where asyncio shows tasks and their exceptions), could hold a value.
    """

    def emit(self, record: logging.LogRecord) -> None:
        level = "error" if record.levelno >= logging.ERROR else "warning"
        event = str(record.msg).partition("\n")[0]
        getattr(get_logger(record.name), level)(event, exc_info=record.exc_info[1] if record.exc_info else None)


@contextlib.contextmanager
def everything_as_json() -> Iterator[None]:
    """While it lasts, warnings of libraries and errors that nobody caught become lines as all others."""
    bridge, root = _Bridge(logging.WARNING), logging.getLogger()
    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    sys.excepthook = lambda _kind, error, _trace: _uncaught(error)
    threading.excepthook = lambda failed: _uncaught(failed.exc_value)
    sys.unraisablehook = lambda failed: _uncaught(failed.exc_value)
    root.addHandler(bridge)
    try:
        yield
    finally:
        root.removeHandler(bridge)
        sys.excepthook, threading.excepthook, sys.unraisablehook = before


def _uncaught(error: BaseException | None) -> None:
    get_logger("python").error("an error that nobody caught", exc_info=error)


def _harmless(key: str, value: object) -> bool:
    if value is None or isinstance(value, str | bool):
        return True
    # A private value may be a whole number, but never a Python int: values travel as float64 arrays.
    if isinstance(value, int):
        return True
    return isinstance(value, float) and key in FRACTIONS


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
