"""Small tables for notebooks, with everything escaped: names may come from anybody's file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table"]


def html_table(
    rows: Iterable[Sequence[object]], *, headings: Sequence[str] = (), caption: str = "", notes: Sequence[str] = ()
) -> str:
    """A table as HTML; the first column is to the left, the others are to the right.

    Examples
    --------
    >>> html_table([["<b>", 1]], headings=["name", "count"])
    '<div style="overflow-x:auto"><table><thead><tr><th style="text-align:left">name</th><th>count</th></tr></thead><tbody><tr><td style="text-align:left">&lt;b&gt;</td><td>1</td></tr></tbody></table></div>'
    """  # noqa: E501  one line, as it is returned
    head = f"<thead>{_row(headings, 'th')}</thead>" if headings else ""
    body = "".join(_row(row, "td") for row in rows)
    above = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f'<div style="overflow-x:auto"><table>{above}{head}<tbody>{body}</tbody></table></div>{below}'


def _row(cells: Sequence[object], tag: str) -> str:
    texts = [escape(str(cell)) for cell in cells]
    first = f'<{tag} style="text-align:left">{texts[0]}</{tag}>' if texts else ""
    return f"<tr>{first}{''.join(f'<{tag}>{text}</{tag}>' for text in texts[1:])}</tr>"
