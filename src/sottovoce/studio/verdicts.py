"""What is said of an observer's knowledge: one word for each value, and numbers with the digits that they deserve.

Everything is decided from deviations that an audit found, relative to the scale of the question (what was believed
beforehand, or the spread of the values), never from absolute sizes. The page draws these words and decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["KINDS", "Verdict", "Yardstick", "closeness", "guess_text", "value_text"]

KINDS = ("own", "known", "undecided", "partly", "answer", "sum", "hidden")
"""Its own value; known exactly; digits did not suffice to say; known within a deviation; almost nothing beyond what the
answer tells; nothing but a sum that it is part of; nothing learned."""

EXACTLY = 1e-6
"""A deviation of at most this share of the scale is none."""

NOTHING_BEYOND = 0.99
"""Who keeps this share of the deviation that the answer alone leaves has lost almost nothing more."""

NOTHING = 0.995
"""Who keeps this share of the deviation that was believed beforehand has lost nothing."""

PLAIN = 1e7
"""Numbers of this size and above are written with a power of ten."""

MINUS = "−"


def guess_text(estimate: float, std: float, *, scale: float = 0.0) -> str:
    """A guess and its deviation, with the digits that the deviation supports: one, or two if the first is a 1.

    Examples
    --------
    >>> guess_text(293.1284, 0.4871), guess_text(-0.02531, 0.00142), guess_text(1234567.8, 5432.1)
    ('293.1 ± 0.5', '−0.0253 ± 0.0014', '1235000 ± 5000')
    >>> guess_text(293.1284, 0.0, scale=0.5), guess_text(3.2e11, 4.4e9), guess_text(math.nan, math.inf)
    ('293.1284', '(3.20 ± 0.04)e11', 'nothing')
    """
    if not math.isfinite(std):
        return "nothing"
    if std <= EXACTLY * scale:
        return value_text(estimate, scale)
    place, deviation = _place_of(std)
    if not math.isfinite(estimate):
        return f"± {closeness(std)}"
    size = max(abs(estimate), deviation)
    if size >= PLAIN or place < -8:
        power = math.floor(math.log10(size))
        shown = [_at(number / 10.0**power, place - power) for number in (estimate, deviation)]
        return f"({shown[0]} ± {shown[1]})e{str(power).replace('-', MINUS)}"
    return f"{_at(estimate, place)} ± {_at(deviation, place)}"


def closeness(std: float) -> str:
    """A deviation by itself, to two digits, so that two of them can be compared.

    Examples
    --------
    >>> closeness(0.2828), closeness(1.0), closeness(2.5e-10), closeness(123456.0)
    ('0.28', '1', '2.5e−10', '120000')
    """
    rounded = float(f"{std:.1e}")
    shown = f"{rounded:.0f}" if 10.0 <= rounded < PLAIN else f"{rounded:g}"
    return shown.replace("e-0", "e-").replace("e+", "e").replace("-", MINUS)


def value_text(value: float, scale: float) -> str:
    """A number to about a ten-thousandth of the scale on which it is compared with others.

    Examples
    --------
    >>> value_text(293.12841, 0.5), value_text(0.4631954, 0.29), value_text(5.0, 0.0), value_text(9e-9, 3e-9)
    ('293.1284', '0.4632', '5', '9.000e−9')
    """
    size = abs(value)
    if value == 0.0 or not scale > 0.0 or not math.isfinite(value):
        return f"{value:g}".replace("-", MINUS)
    place = math.floor(math.log10(scale)) - 3
    if size >= PLAIN or place < -8:
        power = math.floor(math.log10(size))
        digits = max(0, min(15, power - place))
        return f"{value / 10.0**power:.{digits}f}e{power}".replace("-", MINUS)
    return _at(value, place)


def _place_of(std: float) -> tuple[int, float]:
    """The decimal place to which a deviation is told, and the deviation at it."""
    place = math.floor(math.log10(std))
    if round(std / 10.0**place, 1) < 1.95:
        place -= 1
    rounded = round(std / 10.0**place) * 10.0**place
    return place, rounded


def _at(number: float, place: int) -> str:
    """Rounded to this decimal place."""
    shown = f"{number:.{-place}f}" if place < 0 else f"{round(number / 10.0**place) * 10**place:d}"
    return (shown if float(shown) else shown.lstrip("-")).replace("-", MINUS)


@dataclass(frozen=True)
class Yardstick:
    """What deviations are compared with."""

    before: float
    """What was believed beforehand; infinite for a flat prior."""
    answer: float
    """What the answer alone leaves."""
    scale: float
    """The prior deviation, or the spread of the values if the prior is flat."""
    candidates: int = 0
    """Of how many numbers a value is one; 0: it is any number."""
    answer_right: float = 0.0
    """How often the answer alone names the right candidate."""

    def kind(self, std: float, *, known: bool, undecided: bool = False, in_sum: bool = False) -> str:
        """One of :data:`KINDS` for a value of somebody else."""
        if known or std <= EXACTLY * self.scale:
            return "known"
        if undecided or math.isnan(std):
            return "undecided"
        if std >= NOTHING * self.before and not in_sum:
            return "hidden"
        if self.answer > EXACTLY * self.scale and std >= NOTHING_BEYOND * self.answer:
            return "answer" if not in_sum else "sum"
        return "partly" if math.isfinite(std) else "sum"

    def kind_of_guess(self, right: float) -> str:
        """The same for one of a few numbers, from how often the best guess is right."""
        if right >= 1.0 - EXACTLY:
            return "known"
        if right <= 1.0 / self.candidates + 1.0 - NOTHING:
            return "hidden"
        return "answer" if right <= self.answer_right + 1.0 - NOTHING_BEYOND else "partly"


WORDS = {
    "own": "its own value",
    "known": "known exactly",
    "undecided": "cannot be decided",
    "answer": "almost nothing beyond the answer",
    "sum": "nothing but a sum it is part of",
    "hidden": "nothing learned",
}
"""Of every kind but *partly*, which is told by its number."""


@dataclass(frozen=True)
class Verdict:
    """How many values are known, and how well."""

    known: int
    partly: int
    hidden: int
    """Including those of which little more than the answer is known."""
    sentence: str

    @classmethod
    def of(cls, kinds: Sequence[str], sums: int = 0) -> Verdict:
        """From the kind of each node.

        Examples
        --------
        >>> Verdict.of(["own", "known", "partly", "answer", "answer"]).sentence
        'Knows 1 of 4 values exactly and 1 partly; of the other 2 almost nothing beyond the answer.'
        >>> Verdict.of(["own", "hidden", "hidden"]).sentence
        'Has learned nothing of the 2 values.'
        >>> Verdict.of(["own", "answer", "answer"]).sentence
        'Knows almost nothing beyond the answer of the 2 values.'
        """
        others = [kind for kind in kinds if kind != "own"]
        known, partly = others.count("known"), others.count("partly")
        undecided = others.count("undecided")
        return cls(known, partly, len(others) - known - partly - undecided, _sentence(others, sums))


def _sentence(others: list[str], sums: int) -> str:
    total, known, partly = len(others), others.count("known"), others.count("partly")
    values = f"{total:,} values" if total != 1 else "one value"
    if total == 1 and known + partly:
        return f"Knows the one value {'exactly' if known else 'partly'}."
    rest = total - known - partly - others.count("undecided")
    beyond = "almost nothing beyond the answer" if others.count("hidden") < rest else "nothing"
    if "sum" in others or sums:
        beyond = "nothing but sums" if beyond == "nothing" else "little more than the answer and sums"
    if rest == total:
        text = f"Has learned nothing of the {values}" if beyond == "nothing" else f"Knows {beyond} of the {values}"
    else:
        parts = [f"{known:,} of {values} exactly"] if known else []
        parts += [f"{partly:,} partly" if known else f"{partly:,} of {values} partly"] if partly else []
        text = "Knows " + (" and ".join(parts) or f"none of {values} exactly")
        text += f"; of the other {rest:,} {beyond}" if rest else ""
    if others.count("undecided"):
        text += f"; of {others.count('undecided'):,} digits do not suffice to say"
    return f"{text}."
