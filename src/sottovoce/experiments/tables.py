"""A comparison's rows as cells, and cells as plain text, Markdown, LaTeX and CSV. No numbers are computed here."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .compare import Row

from ..foundation.files import write_atomically

__all__ = ["HEADINGS", "cells", "csv_text", "latex", "markdown", "plain", "write"]

HEADINGS = (
    "method",
    "steps",
    "messages",
    "relative error",
    "accuracy",
    "factor",
    "guaranteed",
    "messages per decade",
    "prior left",
    "a neighbour knows",
    "status",
)


def cells(row: Row) -> list[str]:
    """Rounded for people; – where there is nothing to say."""
    return [
        row.method,
        f"{row.steps:,}",
        f"{row.messages:,}",
        f"{row.relative_error:.1e}",
        f"{row.accuracy:.1e}",
        _known(row.factor_fitted, ".5f"),
        _known(row.factor_guaranteed, ".5f"),
        _known(row.messages_per_decade, ",.0f"),
        _known(row.neighbour_left, ".3f"),
        row.neighbour,
        row.status.removeprefix("completed "),
    ]


def _known(number: float | None, layout: str) -> str:
    return "–" if number is None else format(number, layout)


def _sides(headings: Sequence[str]) -> list[Literal["left", "right"]]:
    """The first column and the last two are words, to the left; numbers stand to the right."""
    words = {0, len(headings) - 2, len(headings) - 1}
    return ["left" if k in words else "right" for k in range(len(headings))]


def plain(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Columns padded with spaces, between two rules."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading, side in zip(headings, _sides(headings), strict=True):
        table.add_column(heading, justify=side, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    stream = io.StringIO()
    Console(file=stream, width=10_000, color_system=None, markup=False, force_jupyter=False).print(table)
    head, *body = stream.getvalue().splitlines()
    rule = "─" * len(head)
    return "\n".join([head.rstrip(), rule, *(line.rstrip() for line in body), rule, caption])


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """A pipe table with the caption below."""
    rule = ["---" if side == "left" else "--:" for side in _sides(headings)]
    lines = ["| " + " | ".join(row) + " |" for row in [headings, rule, *rows]]
    return "\n".join([*lines, "", caption]) + "\n"


def latex(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    r"""A ``table`` with ``booktabs`` rules; Greek letters as mathematics, numbers as 1.2 × 10⁻³."""
    layout = "".join(side[0] for side in _sides(headings))
    body = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex_cell(caption)}}}",
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            " & ".join(_latex_cell(heading) for heading in headings) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


_LATEX = {
    "σ": r"$\sigma$", "φ": r"$\varphi$", "λ": r"$\lambda$", "ε": r"$\varepsilon$", "β": r"$\beta$", "ω": r"$\omega$",
    "–": "--", "…": r"\dots{}", "%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "√": r"$\surd$",
}  # fmt: skip


def _latex_cell(text: str) -> str:
    mantissa, sign, exponent = text.partition("e")
    if sign and mantissa.replace(".", "").isdigit() and exponent.lstrip("+-").isdigit():
        return rf"${mantissa} \cdot 10^{{{int(exponent)}}}$"
    return "".join(_LATEX.get(letter, letter) for letter in text)


def csv_text(records: Sequence[dict[str, Any]]) -> str:
    """Comma-separated with a heading; ``None`` is an empty field."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


def write(text: str, path: str | Path | None) -> str:
    """Write ``text`` to ``path`` if there is one, and return it."""
    if path is not None:
        write_atomically(Path(path), lambda temporary: temporary.write_text(text, encoding="utf-8"))
    return text
