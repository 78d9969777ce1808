"""A comparison's rows as cells, and cells as plain text, Markdown, LaTeX and CSV. No numbers are computed here."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    left = "–" if row.neighbour_left is None else f"{row.neighbour_left:.3f}"
    return [
        row.method,
        f"{row.steps:,}",
        f"{row.messages:,}",
        f"{row.relative_error:.1e}",
        f"{row.accuracy:.1e}",
        "–" if row.factor_fitted is None else _factor(row.factor_fitted),
        "–" if row.factor_guaranteed is None else _factor(row.factor_guaranteed),
        "–" if row.messages_per_decade is None else f"{row.messages_per_decade:,.0f}",
        left,
        row.neighbour,
        row.status.removeprefix("completed ") if row.status != "completed" else "completed",
    ]


def _factor(factor: float) -> str:
    """Factors crowd together below 1: show four digits of the distance to it."""
    return f"{factor:.5f}"


def plain(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Columns padded with spaces, the first to the left and numbers to the right."""
    widths = [max(_width(row[k]) for row in [headings, *rows]) for k in range(len(headings))]
    words = {0, len(headings) - 2, len(headings) - 1}

    def line(row: Sequence[str]) -> str:
        padded = [
            cell + " " * (widths[k] - _width(cell)) if k in words else " " * (widths[k] - _width(cell)) + cell
            for k, cell in enumerate(row)
        ]
        return "  ".join(padded).rstrip()

    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([line(headings), rule, *(line(row) for row in rows), rule, caption])


def _width(text: str) -> int:
    return sum(not unicodedata.combining(letter) for letter in text)


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """A pipe table with the caption below."""
    words = {0, len(headings) - 2, len(headings) - 1}
    rule = ["---" if k in words else "--:" for k in range(len(headings))]
    lines = ["| " + " | ".join(row) + " |" for row in [headings, rule, *rows]]
    return "\n".join([*lines, "", caption]) + "\n"


def latex(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    r"""A ``table`` with ``booktabs`` rules; Greek letters as mathematics, numbers as 1.2 × 10⁻³."""
    words = {0, len(headings) - 2, len(headings) - 1}
    layout = "".join("l" if k in words else "r" for k in range(len(headings)))
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
