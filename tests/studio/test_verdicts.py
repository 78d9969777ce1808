"""One word for each value, and numbers with the digits that they deserve."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.studio.verdicts import KINDS, WORDS, Verdict, Yardstick, closeness, guess_text, value_text


def read(text: str) -> tuple[float, float]:
    """The two numbers of a guess, as a person reads them."""
    plain = text.replace("−", "-")
    power = 10.0 ** int(found[1]) if (found := re.search(r"\)e(-?\d+)$", plain)) else 1.0
    first, second = re.sub(r"\)e.*$", "", plain).strip("()").split(" ± ")
    return float(first) * power, float(second) * power


@pytest.mark.parametrize(
    ("estimate", "std", "text"),
    [
        (293.1284, 0.4871, "293.1 ± 0.5"),
        (293.1284, 0.1421, "293.13 ± 0.14"),
        (293.1284, 0.0961, "293.13 ± 0.10"),
        (293.1284, 47.0, "290 ± 50"),
        (-0.00012, 0.0003, "−0.0001 ± 0.0003"),
        (0.00001, 0.3, "0.0 ± 0.3"),
        (2.5e12, 3.2e10, "(2.50 ± 0.03)e12"),
        (4e-10, 2e-11, "(4.0 ± 0.2)e−10"),
        (0.5, math.inf, "nothing"),
        (math.nan, 0.25, "± 0.25"),
    ],
)
def test_a_guess_has_the_digits_that_its_deviation_supports(estimate: float, std: float, text: str) -> None:
    """Neither "about 300 ± 0.5" nor digits that mean nothing."""
    assert guess_text(estimate, std) == text


@given(
    estimate=st.floats(-1e12, 1e12, allow_subnormal=False),
    std=st.floats(1e-9, 1e12),
)
def test_rounding_never_moves_a_guess_by_more_than_half_its_deviation(estimate: float, std: float) -> None:
    """And the deviation that is shown is within a third of the true one."""
    first, second = read(guess_text(estimate, std, scale=0.0))
    assert abs(first - estimate) <= 0.51 * std + 1e-9 * abs(estimate)
    assert second == pytest.approx(std, rel=0.34)


@given(value=st.floats(-1e15, 1e15), scale=st.floats(1e-12, 1e12))
def test_a_known_value_is_told_to_a_thousandth_of_the_scale(value: float, scale: float) -> None:
    """However large the mean is beside the spread, as far as doubles go."""
    shown = value_text(value, scale).replace("−", "-")
    assert abs(float(shown) - value) <= 1e-3 * scale + 1e-14 * abs(value)


STICK = Yardstick(before=1.0, answer=0.9, scale=1.0)


@pytest.mark.parametrize(
    ("std", "more", "kind"),
    [
        (0.0, {}, "known"),
        (1e-7, {}, "known"),
        (0.5, {"known": True}, "known"),
        (0.5, {"undecided": True}, "undecided"),
        (math.nan, {}, "undecided"),
        (0.5, {}, "partly"),
        (0.895, {}, "answer"),
        (0.95, {}, "answer"),
        (0.999, {}, "hidden"),
        (0.999, {"in_sum": True}, "sum"),
        (math.inf, {"in_sum": True}, "sum"),
    ],
)
def test_every_word_has_its_case(std: float, more: dict[str, bool], kind: str) -> None:
    """Relative to the scale; where a sum is known, it is never "nothing learned"."""
    assert STICK.kind(std, **({"known": False} | more)) == kind


@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
def test_words_do_not_depend_on_the_unit(factor: float) -> None:
    """Metres or nanometres: the same words."""
    stick = Yardstick(before=factor, answer=0.9 * factor, scale=factor)
    shares = [0.0, 1e-7, 1e-5, 0.3, 0.895, 0.999]
    kinds = [stick.kind(share * factor, known=False) for share in shares]
    assert kinds == ["known", "known", "partly", "partly", "answer", "hidden"]


@pytest.mark.parametrize(
    ("right", "kind"), [(1.0, "known"), (0.8, "partly"), (0.52, "answer"), (0.5, "hidden"), (0.503, "hidden")]
)
def test_a_yes_or_no_is_judged_by_how_often_the_guess_is_right(right: float, kind: str) -> None:
    """Half of all guesses are right without listening."""
    stick = Yardstick(before=0.5, answer=0.49, scale=0.5, candidates=2, answer_right=0.52)
    assert stick.kind_of_guess(right) == kind


def test_every_kind_is_told() -> None:
    """All but *partly*, which is a number, have words; a count of all adds up."""
    assert set(WORDS) == set(KINDS) - {"partly"}
    verdict = Verdict.of([*KINDS, *KINDS])
    assert (verdict.known, verdict.partly, verdict.hidden) == (2, 2, 6)
    assert "digits do not suffice" in verdict.sentence


def test_a_deviation_alone_has_two_digits() -> None:
    """So that before, the answer and the run can be compared."""
    assert [closeness(std) for std in (0.3, 0.2828, 0.0)] == ["0.3", "0.28", "0"]
