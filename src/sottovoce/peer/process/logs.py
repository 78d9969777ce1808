"""Structured logs, one JSON object a line, from which private values are kept out by construction.

Two safeguards. Fields: strings, whole numbers and booleans pass; a fractional number passes only under a name on
:data:`FRACTIONS` (durations and the like); arrays, lists and everything else are withheld. Exceptions: the type and
the place are logged, and the message only if the error is one of ours, whose messages never contain a value.
Nothing is configured at import: a library must not take over its user's logging. A peer's own process lets everything
through here (:func:`everything_as_json`), also what asyncio and Python themselves have to say.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, TextIO

from ...errors import SottovoceError

if TYPE_CHECKING:
    import structlog

__all__ = ["FRACTIONS", "configure", "everything_as_json", "get_logger", "withhold_values"]

# Names under which a fractional number may appear in a log line. None of them depends on a private value or on noise.
FRACTIONS = frozenset({"seconds", "timeout", "interval", "skew_seconds", "rate", "tolerance", "days"})
_WITHHELD = "[withheld]"


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger whose lines carry ``component=name``."""
    import structlog

    logger: structlog.stdlib.BoundLogger = structlog.get_logger(component=name)
    return logger


def withhold_values(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Structlog processor: replace everything that could hold a value.

    Examples
    --------
    >>> withhold_values(None, "info", {"event": "started", "port": 7001, "estimate": 3.5, "seconds": 0.25})
    {'event': 'started', 'port': 7001, 'estimate': '[withheld]', 'seconds': 0.25}
    """
    for key, value in event.items():
        if key == "exc_info":
            event[key] = None
        elif not _harmless(key, value):
            event[key] = _WITHHELD
    return event


def describe_exception(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Structlog processor: turn ``exc_info`` into type, place and, for our own errors only, the message."""
    given = event.pop("exc_info", None)
    error = sys.exc_info()[1] if given is True else given
    if isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        event["error"] = type(error).__name__
        event["place"] = _place(error)
        if isinstance(error, SottovoceError):
            event["reason"] = str(error)
    return event


def configure(stream: TextIO | None = None, *, level: str = "info", **context: str) -> None:
    """Send this process's log lines as JSON to `stream` (default: standard error). Called by the command line only."""
    import structlog

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            describe_exception,
            withhold_values,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stderr),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**context)


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
