"""What was printed beside what the page shows.

Pages are written in UTF-8 and the newcomer's terminal has ASCII letters only, so both are spelled in ASCII first. The
lines of a table's frame and the width of its columns say nothing. What differs from run to run (times, digests, dates,
paths, drawn ports) is masked. Numbers agree to one part in a hundred, and two that are below 1e-11 are both rounding.
"""

from __future__ import annotations

import math
import re

from sottovoce.cli.spelling import spelled

FRAME = re.compile(r"[┏┳┓┃┡╇┩│├┼┤└┴┘┌┬┐╔╦╗║╚╩╝╠╬╣═╭╮╰╯┗┻┛]|(?<=\s)\|(?=\s)|^\||\|$")
RULES = re.compile(r"^[\s+\-=|━─┄═]*$")
ROUNDING = 1e-11
MASKS = [
    (re.compile(r"\b[0-9a-f]{32,}\b"), "DIGEST"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)"), "DATE"),
    (re.compile(r"[\d.,]+(e[+-]?\d+)? (µs|us|ms|s|min)\b(, [\d,]+ steps/s)?( ago)?"), "TIME"),
    (re.compile(r"\b127\.0\.0\.1:\d+|\b\w+\.example\.org:\d+"), "ADDRESS"),
    (re.compile(r"(?<![\w.])/(?:[\w.@+-]+/)+[\w.@+-]*"), "PATH"),
]


def lines(text: str) -> list[str]:
    """Lines in ASCII without frames, runs of blanks, and what differs from run to run."""
    return [_masked(line) for line in _plain(text)]


def _plain(text: str) -> list[str]:
    plain = (FRAME.sub(" ", line) for line in text.splitlines())
    found = (" ".join(spelled(line, "ascii").split()) for line in plain if not RULES.match(line))
    return [line for line in found if line]


def difference(shown: str, printed: str) -> str:
    """A sentence about the first place where the two differ, empty if they agree.

    A line ``…`` stands for any lines. Where lines are broken says nothing: signs that are spelled out take more room.
    """
    if _agree(_masked(" ".join(_plain(shown))), _masked(" ".join(_plain(printed)))):
        return ""
    return _by_lines(lines(shown), lines(printed))


def _by_lines(expected: list[str], found: list[str]) -> str:
    place = 0
    for number, line in enumerate(expected):
        if line == "...":
            following = expected[number + 1 :]
            if not following:
                return ""
            ahead = [k for k in range(place, len(found)) if _agree(following[0], found[k])]
            if not ahead:
                return f"the page shows {following[0]!r}, which was not printed"
            place = ahead[0]
            continue
        if place == len(found):
            return f"the page shows {line!r} where nothing more was printed"
        if not _agree(line, found[place]):
            return f"the page shows {line!r}, printed was {found[place]!r}"
        place += 1
    return "" if place == len(found) else f"the page ends before {found[place]!r}"


def _masked(line: str) -> str:
    for pattern, word in MASKS:
        line = pattern.sub(word, line)
    return line


def _agree(shown: str, printed: str) -> bool:
    ours, theirs = shown.split(), printed.split()
    return len(ours) == len(theirs) and all(map(_same, ours, theirs))


def _same(shown: str, printed: str) -> bool:
    if shown == printed:
        return True
    left, right = (_number(word.strip("(),;:")) for word in (shown, printed))
    if left is None or right is None:
        return False
    if max(abs(left), abs(right)) < ROUNDING:
        return True
    return math.isclose(left, right, rel_tol=0.01)


def _number(word: str) -> float | None:
    try:
        return float(word.replace(",", ""))
    except ValueError:
        return None
