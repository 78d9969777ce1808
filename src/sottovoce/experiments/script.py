"""Whether the running script may start worker processes: each of them imports it again."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from types import FrameType

from ..errors import InvalidInput

__all__ = ["UnguardedScript", "refuse_unguarded_script"]


class UnguardedScript(InvalidInput):
    """A script starts worker processes outside of ``if __name__ == "__main__":``."""


def refuse_unguarded_script() -> None:
    """Raise if this call comes from a line of the main script that its workers would run as well.

    Interactive sessions and modules started with ``-m package`` are not imported by workers.

    Raises
    ------
    UnguardedScript
        With the line and what to write instead.
    """
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    name = getattr(getattr(main, "__spec__", None), "name", "")
    if file is None or name.endswith("__main__"):
        return
    frame = inspect.currentframe()
    while frame is not None and not _is_top_level(frame, vars(main)):
        frame = frame.f_back
    if frame is not None and not _is_guarded(Path(file), frame.f_lineno):
        raise UnguardedScript(
            f"line {frame.f_lineno} of {file} starts a sweep, and so would every worker process, because workers "
            "import the script: put it under 'if __name__ == \"__main__\":', or give an executor"
        )


def _is_top_level(frame: FrameType, names: dict[str, object]) -> bool:
    return frame.f_code.co_name == "<module>" and frame.f_globals is names


def _is_guarded(file: Path, line: int) -> bool:
    """Whether the statement at ``line`` is under a condition on ``__name__``; also if nobody can say."""
    try:
        statements = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return True
    for statement in statements:
        if statement.lineno <= line <= (statement.end_lineno or line):
            return isinstance(statement, ast.If) and any(
                isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test)
            )
    return True
