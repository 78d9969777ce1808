"""A comparison's rows as cells, and cells as plain text, Markdown, LaTeX and CSV. No numbers are computed here."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .rows import Row

from ..foundation.files import write_atomically

__all__ = ["COLUMNS", "cells", "csv_text", "headings", "latex", "markdown", "plain", "write"]

NEEDS = " †"
"""Marks a method that needs to know something which its neighbours cannot tell it."""

COLUMNS: dict[str, Callable[[Row], str]] = {
    "method": lambda row: row.method + (NEEDS if row.needs else ""),
    "noise ×": lambda row: _known(row.noise_factor, ".3g"),
    "steps": lambda row: f"{row.steps:,}",
    "messages": lambda row: f"{row.messages:,}",
    "relative error": lambda row: f"{row.relative_error:.1e}",
    "accuracy": lambda row: f"{row.accuracy:.1e}",
    "messages needed": lambda row: _known(row.messages_needed, ",.0f"),
    "factor": lambda row: _known(row.factor, ".5f", "≈ " if row.factor_source == "fitted" else ""),
    "guaranteed": lambda row: _known(row.factor_guaranteed, ".5f"),
    "messages per decade": lambda row: _known(row.messages_per_decade, ",.0f"),
    "prior left": lambda row: (
        row.neighbour
        if row.prior_left is None
        else _between(row.prior_left, row.prior_left_low, row.prior_left_high, "" if row.left_exact else "≤ ")
    ),
    "worst": lambda row: _between(
        row.worst_left, row.worst_left_low, row.worst_left_high, "" if row.left_exact else "≤ "
    ),
    "ε": lambda row: _known(row.epsilon, ".3g"),
    "known exactly": lambda row: "–" if row.known_share is None else f"{100 * row.known_share:.0f} %",
    "status": lambda row: row.status.removeprefix("completed "),
}
"""Heading → cell, rounded for people; – where there is nothing to say."""
ONLY_IF = {"noise ×": "noise_factor", "messages needed": "messages_needed", "ε": "epsilon"}
"""Columns that are left out where no row has anything to say."""
WORDS = {"method", "status"}


def headings(rows: Sequence[Row]) -> list[str]:
    """The columns that these rows need."""
    return [
        name for name in COLUMNS if name not in ONLY_IF or any(getattr(row, ONLY_IF[name]) is not None for row in rows)
    ]


def cells(row: Row, names: Sequence[str]) -> list[str]:
    """One row under these headings."""
    return [COLUMNS[name](row) for name in names]


def _known(number: float | None, layout: str, before: str = "") -> str:
    return "–" if number is None else before + format(number, layout)


def _between(middle: float | None, low: float | None, high: float | None, before: str) -> str:
    """A number, with its interval if that is wider than what is shown."""
    if middle is None or low is None or high is None:
        return "–"
    shown = f"{before}{middle:.3f}"
    return shown if f"{low:.2f}" == f"{high:.2f}" else f"{shown} ({low:.2f}–{high:.2f})"


def _sides(headings: Sequence[str]) -> list[Literal["left", "right"]]:
    """Words stand to the left, numbers to the right."""
    return ["left" if heading in WORDS else "right" for heading in headings]


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


def latex(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str, notes: Sequence[str] = ()) -> str:
    r"""A ``table`` with ``booktabs`` rules; Greek letters as mathematics, numbers as 1.2 × 10⁻³.

    It is plain ASCII but for accented letters, needs the package ``booktabs`` alone, and every letter that means
    something to LaTeX is written as itself.
    """
    layout = "".join(side[0] for side in _sides(headings))
    body = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in rows]
    below = [rf"\par\footnotesize {_latex_text(note)}" for note in notes]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\small",
            r"\setlength{\tabcolsep}{4pt}",
            rf"\caption{{{_latex_text(caption)}}}",
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            " & ".join(_latex_text(heading) for heading in headings) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *below,
            r"\end{table}",
            "",
        ]
    )


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$",
    "–": "--", "—": "---", "−": "$-$", "…": r"\dots{}", "†": r"\dag{}", "±": r"$\pm$", "×": r"$\times$",
    "≈": r"$\approx$", "≤": r"$\le$", "≥": r"$\ge$", "∞": r"$\infty$", "√": r"$\surd$", "·": r"$\cdot$",
    "‖": r"$\|$", "→": r"$\to$", "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$", "δ": r"$\delta$",
    "ε": r"$\varepsilon$", "η": r"$\eta$", "κ": r"$\kappa$", "λ": r"$\lambda$", "μ": r"$\mu$", "ρ": r"$\rho$",
    "σ": r"$\sigma$", "τ": r"$\tau$", "φ": r"$\varphi$", "ψ": r"$\psi$", "ω": r"$\omega$", "Δ": r"$\Delta$",
    "Σ": r"$\Sigma$", "’": "'", "‘": "`", "“": "``", "”": "''",
}  # fmt: skip


def _latex_cell(text: str) -> str:
    mantissa, sign, exponent = text.partition("e")
    if sign and mantissa.replace(".", "", 1).isdigit() and exponent.lstrip("+-").isdigit():
        return rf"${mantissa} \cdot 10^{{{int(exponent)}}}$"
    return _latex_text(text)


def _latex_text(text: str) -> str:
    return "".join(_latex_letter(letter) for letter in text)


def _latex_letter(letter: str) -> str:
    """As it is typed: what no font of plain LaTeX has is named instead."""
    if letter in _LATEX:
        return _LATEX[letter]
    if letter.isascii():
        return letter if letter.isprintable() else " "
    plain = unicodedata.normalize("NFKD", letter).replace("\N{FRACTION SLASH}", "/")
    if plain.isascii() and plain.isprintable():  # raised and lowered digits, fractions, ligatures
        raised = {"<super>": "^", "<sub>": "_"}.get(unicodedata.decomposition(letter).partition(" ")[0])
        return _latex_text(plain) if raised is None else f"${raised}{{{plain}}}$"
    if letter.isalpha() and ord(letter) < 0x180:  # accented Latin letters, which LaTeX reads as UTF-8
        return letter
    return f"[U+{ord(letter):04X}]"


def csv_text(records: Sequence[dict[str, Any]]) -> str:
    """Comma-separated with a heading; ``None`` is an empty field."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


def write(text: str, path: str | Path | None, *, before: str = "", after: str = "") -> str:
    """Write ``text`` to ``path`` if there is one, between what a file says of itself, and return it alone."""
    if path is not None:
        whole = before + text + after
        write_atomically(Path(path), lambda temporary: temporary.write_text(whole, encoding="utf-8"))
    return text
