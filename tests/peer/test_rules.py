"""The rule book in the documentation is about this code: its rows, its functions, its tests."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sottovoce.peer

TESTS = Path(__file__).parents[1]
PAGES = TESTS.parent / "docs" / "explanation"
SOURCES = Path(sottovoce.peer.__file__).parents[1]
ROW = re.compile(r"^\| (R\d+) \| (.+?) \| `([\w.]+)` \| `([\w/]+\.py)::(\w+)` \|$", re.MULTILINE)
RULE = re.compile(r"\bR\d+\b")


class Row(NamedTuple):
    rule: str
    words: str
    function: str
    file: str
    test: str


ROWS = [Row(*found) for found in ROW.findall((PAGES / "protocol-rules.md").read_text(encoding="utf-8"))]


def resolve(path: str) -> tuple[Any, Any]:
    """The module and the thing that a dotted path inside ``sottovoce.peer`` names."""
    names = path.split(".")
    module = importlib.import_module(f"sottovoce.peer.{names[0]}.{names[1]}")
    thing: Any = module
    for name in names[2:]:
        thing = getattr(thing, name)
    return module, thing


def test_every_rule_has_one_row() -> None:
    """R1 to R50 and some later ones, each once."""
    numbers = [int(row.rule[1:]) for row in ROWS]
    assert len(numbers) == len(set(numbers))
    assert set(range(1, 51)) <= set(numbers)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_a_row_names_code_and_a_test(row: Row) -> None:
    """The function exists, in a module that cites the rule, and the test exists and states a claim."""
    module, function = resolve(row.function)
    assert callable(function)
    assert row.rule in RULE.findall(inspect.getsource(module))
    functions = {
        node.name: node
        for node in ast.walk(ast.parse((TESTS / row.file).read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert ast.get_docstring(functions[row.test])


def test_every_rule_that_is_cited_is_written_out() -> None:
    """A number in the sources, in the tests or on the page that explains the protocol leads to a row."""
    files = [
        *SOURCES.glob("peer/**/*.py"),
        *SOURCES.glob("testing/*.py"),
        *TESTS.glob("peer/**/*.py"),
        PAGES / "protocol.md",
    ]
    cited = {rule for file in files for rule in RULE.findall(file.read_text(encoding="utf-8"))}
    assert cited <= {row.rule for row in ROWS}
