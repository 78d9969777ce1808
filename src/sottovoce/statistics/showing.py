"""How a report is shown: as text, or as a page with bars; and what several reports tell together.

Everything here takes a report as it is read from JSON.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidFile
from ..privacy.releases import ReleaseCost
from .base import Row

__all__ = ["FORMAT", "page_of", "text_of", "together_of"]

FORMAT = "sottovoce-study-1"
BARS = {"histogram": "count", "proportion": "share", "mean": "mean", "count": "count"}
"""Kinds that are drawn, and the number that a bar shows."""
LARGEST = 10**300
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:.5rem 0 1.5rem}th,td{padding:.2rem .8rem;border-bottom:1px solid #ddd}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}rect{fill:#3b6ea5}.wide{overflow-x:auto}
.bars{display:grid;grid-template-columns:fit-content(40%) 1fr max-content;gap:0 .4rem;max-width:42rem;font-size:12px}
.bars *{line-height:18px;text-align:right;overflow-wrap:anywhere}svg{width:100%;height:18px}"""


def _checked(report: Any) -> Mapping[str, Any]:
    if not isinstance(report, Mapping) or report.get("format") != FORMAT:
        raise InvalidFile(f"a report must be a JSON object with format {FORMAT!r}")
    results: Any = report.get("results")
    release: Any = report.get("release")
    whole = (
        isinstance(report.get("smallest_group"), int)
        and isinstance(report.get("rows", ""), int | None)
        and isinstance(report.get("clipped"), Mapping)
        and all(isinstance(report.get(key), str) for key in ("study", "digest"))
        and _all_are(report.get("contributors"), str)
        and _all_are(results, Mapping)
        and all(_is_result(result) for result in results)
        and (release is None or (isinstance(release, Mapping) and _is_release(release)))
    )
    if not whole:
        raise InvalidFile(
            "this is not a report of a study: it must have all that `study run` writes, and is damaged or cut off"
        )
    return report


def _is_result(given: Mapping[str, Any]) -> bool:
    kind, rows = given.get("kind"), given.get("rows")
    texts = all(isinstance(text, str) for text in (given.get("name"), kind, given.get("about", "")))
    if not texts or not _all_are(rows, Mapping):
        return False
    values = [value for row in rows or () for value in row.values()]
    drawn = [row.get(BARS[kind]) for row in rows or ()] if kind in BARS else []
    return all(value is None or isinstance(value, str) or _is_number(value) for value in values) and all(
        value is None or _is_number(value) for value in drawn
    )


def _is_number(given: Any) -> bool:
    """Whether it can be drawn; no whole number that is too large for that."""
    return isinstance(given, float) or (isinstance(given, int) and abs(given) <= LARGEST)


def _all_are(given: Any, kind: Any) -> bool:
    return isinstance(given, list) and all(isinstance(each, kind) for each in given)


def _is_release(given: Mapping[str, Any]) -> bool:
    numbers = ("honest", "delta", "epsilon", "runs", "epsilon_of_all_runs", "rho", "closeness")
    fewer = given.get("epsilon_by_honest")
    return (
        given.get("protects") in ("row", "party")
        and all(_is_number(given.get(name)) for name in numbers)
        and isinstance(fewer, Mapping)
        and all(str(h).isdecimal() and len(h) < 20 and _is_number(epsilon) for h, epsilon in fewer.items())
    )


def _opening(report: Mapping[str, Any]) -> list[str]:
    few = f"fewer than {report['smallest_group']}"
    rows = few if report["rows"] is None else report["rows"]
    lines = [f"{rows} rows of {len(report['contributors'])} contributors: {', '.join(report['contributors'])}"]
    moved = [f"{few if count is None else count} of {name}" for name, count in report["clipped"].items() if count != 0]
    if moved:
        lines.append(f"Moved to a bound: {', '.join(moved)}")
    lines.append(f"Study {report['study']}, digest {report['digest'][:12]}; groups of {few} rows are not shown")
    return lines if report.get("release") is None else [*lines, *_noise(report["release"], len(report["contributors"]))]


def _noise(release: Mapping[str, Any], contributors: int) -> list[str]:
    """What a release says of itself."""
    what = {"row": "one row more or fewer", "party": "one party's rows or none"}[release["protects"]]
    told = f"Private release: {what} is hidden with ε = {release['epsilon']:.3g} at δ = {release['delta']:g}"
    if release["runs"] > 1:
        told += f"; with ε = {release['epsilon_of_all_runs']:.3g} by all {release['runs']} runs that are agreed"
    relied = f"It relies on {release['honest']} of {contributors} contributors to add their noise and keep it secret"
    fewer = [
        f"{h} ε is {epsilon:.3g}" for h, epsilon in release["epsilon_by_honest"].items() if int(h) != release["honest"]
    ]
    relied += f"; with only {', with '.join(reversed(fewer))}." if fewer else "."
    return [told, relied, "Every number carries noise; its deviation is in the column noise where it is known."]


def together_of(reports: Sequence[Any]) -> str:
    """What several reports, read from JSON, tell together of what they protect.

    Raises
    ------
    InvalidFile
        One is no report, has no noise, or protects something else or at another δ.
    """
    releases: list[Any] = [_checked(report).get("release") for report in reports]
    if None in releases:
        raise InvalidFile("a report without a release is exact, and nothing bounds what it adds to others")
    kinds = {(release["protects"], release["delta"]) for release in releases}
    if len(kinds) > 1:
        raise InvalidFile("reports add up only if they protect the same, at the same δ")
    ((protects, delta),) = kinds
    cost = ReleaseCost(sum(r["rho"] for r in releases), sum(r["closeness"] for r in releases))
    epsilon = cost.epsilon(delta)
    return f"These {len(releases)} reports together hide one {protects} with ε = {epsilon:.3g} at δ = {delta:g}"


def _what(result: Mapping[str, Any]) -> str:
    """Its kind, and of which column; reports from before do not say that."""
    return f"{result['kind']} of {result['about']}" if result.get("about") else str(result["kind"])


def _columns(rows: Sequence[Row]) -> list[str]:
    """The names of all columns, in the order in which they come."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def text_of(report: Any) -> str:
    """A report, read from JSON, for a terminal.

    Raises
    ------
    InvalidFile
        It is no report.
    """
    report = _checked(report)
    lines = _opening(report)
    for result in report["results"]:
        names = _columns(result["rows"])
        cells = [names, *([_shown(row.get(name)) if name in row else "" for name in names] for row in result["rows"])]
        widths = [max(len(row[k]) for row in cells) for k in range(len(names))]
        lines += ["", f"{result['name']} ({_what(result)})"]
        lines += ["  " + "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join(lines) + "\n"


def page_of(report: Any) -> str:
    """A report, read from JSON, as a page.

    Raises
    ------
    InvalidFile
        It is no report.
    """
    report = _checked(report)
    title = html.escape(f"Study {report['study']}")
    body = [f"<h1>{title}</h1>", *(f"<p>{html.escape(line)}</p>" for line in _opening(report))]
    for result in report["results"]:
        body.append(f"<h2>{html.escape(result['name'])} <small>{html.escape(_what(result))}</small></h2>")
        if result["kind"] in BARS:
            body.append(_bars(result["rows"], BARS[result["kind"]]))
        body.append(_table(result["rows"]))
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    head += f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style>'
    return head + "</head><body>\n" + "\n".join(body) + "\n</body></html>\n"


def _table(rows: Sequence[Row]) -> str:
    names = _columns(rows)
    kinds = {name: "number" if any(isinstance(row.get(name), int | float) for row in rows) else "" for name in names}
    head = "".join(f'<th class="{kinds[name]}">{html.escape(name)}</th>' for name in names)
    lines = [
        "<tr>"
        + "".join(
            f'<td class="{kinds[name]}">{html.escape(_shown(row.get(name)) if name in row else "")}</td>'
            for name in names
        )
        + "</tr>"
        for row in rows
    ]
    return f'<div class="wide"><table><tr>{head}</tr>' + "".join(lines) + "</table></div>"


def _bars(rows: Sequence[Row], number: str) -> str:
    """A horizontal bar for each row, from zero, to the left if negative; a row whose number is not shown has none."""
    shown = [row.get(number) or 0 for row in rows]
    lowest, highest = min([0, *shown]), max([0, *shown])
    scale = max(abs(lowest), highest) or 1  # first divided by: the difference of two large floats may not be finite
    zero, whole = -lowest / scale, (highest / scale - lowest / scale) or 1
    parts = []
    for row, drawn in zip(rows, shown, strict=True):
        label = ", ".join(
            _shown(row[name]) for name in row if name not in {number, "count", "to", "share", "noise", "why"}
        )
        begin, end = sorted((zero, zero + drawn / scale))
        left, width = round(100 * begin / whole, 2), round(100 * (end - begin) / whole, 2)
        parts.append(
            f'<span>{html.escape(label)}</span><svg><rect x="{left}%" y="3" width="{width}%" height="13"/></svg>'
            f"<span>{html.escape(_shown(row.get(number)))}</span>"
        )
    return f'<div class="bars" role="img" aria-label="{number}">' + "".join(parts) + "</div>"
