"""Mistakes of the usual kinds: where they are possible in a piece of source, and the source with one of them made.

Nothing is run here. What is written for readers is left alone: docstrings, messages of errors, lines of a log, reprs,
annotations, f-strings; so are decorators.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["Mistake", "find", "mistakes", "replaced"]

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_ORDERINGS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_UNTOUCHED = {"annotation", "returns", "decorator_list", "type_params"}


@dataclass(frozen=True)
class Mistake:
    """One change: in the function ``inside``, ``old`` became ``new``; ``source`` is the whole file after it."""

    inside: str
    old: str
    new: str
    source: str


def find(tree: ast.Module, names: list[str]) -> ast.AST:
    """The module, class, function, method or constant at ``names``.

    Raises
    ------
    LookupError
        If it is not there.
    """
    found: ast.AST = tree
    for name in names:
        matching = [each for each in getattr(found, "body", []) if name in _defines(each)]
        if not matching:
            raise LookupError(f"there is no {name} in {ast.unparse(found)[:60]!r}")
        found = matching[-1]
    return found


def mistakes(source: str, names: list[str]) -> Iterator[Mistake]:
    """Every mistake that can be made in the part of ``source`` at ``names``; no two give the same file."""
    seen = {source}
    for inside, node in _code(find(ast.parse(source), names), names[:-1]):
        for old, new in _changes(node):
            changed = replaced(source, old, new)
            if changed not in seen:
                seen.add(changed)
                yield Mistake(".".join(inside), ast.unparse(old).splitlines()[0], new, changed)


def replaced(source: str, node: ast.AST, new: str) -> str:
    """``source`` with the text of ``node`` replaced."""
    lines = source.encode().splitlines(keepends=True)  # columns of a syntax tree count bytes
    starts = [0, *accumulate(map(len, lines))]
    begin = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
    end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
    text = b"".join(lines)
    return (text[:begin] + new.encode() + text[end:]).decode()


def _defines(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    return {getattr(node, "name", "")}


def _code(node: ast.AST, inside: list[str]) -> Iterator[tuple[list[str], ast.stmt | ast.expr]]:
    """``node`` and what is below it, except what no test should depend on; each with the names that it is inside."""
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom) or _is_for_readers(node):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        inside = [*inside, node.name]
    if isinstance(node, ast.stmt | ast.expr):
        yield inside, node
    if isinstance(node, ast.Raise):
        return
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in _UNTOUCHED:
                yield from _code(child, inside)


def _is_for_readers(node: ast.AST) -> bool:
    """Docstrings, lines of a log, reprs and lists of public names."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).endswith("observer.log")
    return bool(_defines(node) & {"__repr__", "__all__"})


def _changes(node: ast.stmt | ast.expr) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
    """What may be replaced, and by what, so that a mistake results that belongs to ``node``."""
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not _has_an_opposite(node.test):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    for new in _alternatives(node):
        yield node, new


def _has_an_opposite(node: ast.expr) -> bool:
    """Whether changing the operator of a comparison negates it already."""
    return isinstance(node, ast.Compare) and len(node.ops) == 1 and not isinstance(node.ops[0], _ORDERINGS)


def _alternatives(node: ast.stmt | ast.expr) -> Iterator[str]:
    """What may stand in place of ``node``."""
    match node:
        case ast.Compare():
            for k, operator in enumerate(node.ops):
                other = [*node.ops[:k], _COMPARISONS[type(operator)](), *node.ops[k + 1 :]]
                yield f"({ast.unparse(ast.Compare(node.left, other, node.comparators))})"
        case ast.BoolOp():
            for k in range(len(node.values)):
                rest = [*node.values[:k], *node.values[k + 1 :]]
                yield f"({ast.unparse(ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])})"
        case ast.BinOp() if type(node.op) in _ARITHMETIC and not (_is_text(node.left) or _is_text(node.right)):
            yield f"({ast.unparse(ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right))})"
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield f"({ast.unparse(node.operand)})"
        case ast.Constant():
            yield from _other_constants(node.value)
        case ast.Return() if node.value is not None and not _is_none(node.value):
            yield "return None"
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.AugAssign():
            yield "pass"
        case ast.Assign() if not all(isinstance(target, ast.Name | ast.Tuple) for target in node.targets):
            yield "pass"


def _other_constants(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield repr(not value)
    elif isinstance(value, float):
        yield from (repr(value * 1000.0), repr(value / 1000.0)) if value else ["1.0"]
    elif isinstance(value, int):
        yield repr(value + 1 if value < 10 else value * 1000)
    elif isinstance(value, str | bytes):
        yield repr(type(value)() if value else "something" if isinstance(value, str) else b"something")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
