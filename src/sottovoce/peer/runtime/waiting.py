"""What a topic waits for, in words: who is missing, since when, and who says so (R90)."""

from __future__ import annotations

from collections.abc import Sequence

from ..protocol.absences import Missing

__all__ = ["why_alone", "why_silent", "why_waiting"]

_NAMED = 8
"""Members that one part of the sentence names; the others are counted."""


def why_waiting(
    missing: Sequence[Missing], unheard: Sequence[str], waited: float, too_few: str = "", ended: Sequence[str] = ()
) -> str:
    """Why there is no answer yet.

    Parameters
    ----------
    missing
        Members that this peer misses, or others say they miss.
    unheard
        Further members of which nobody has said anything.
    waited
        Seconds since this peer takes part.
    too_few
        What :func:`why_silent` says.
    ended
        Neighbours at which the topic has ended: they hold nothing by which it could go on.

    Examples
    --------
    >>> bob = Missing("bob", contributed=False, seconds=30.0, last_heard=2.0)
    >>> dan = Missing("dan", contributed=True, seconds=12.0, witness="cyd", said=3.0)
    >>> print(why_waiting([bob, dan], ["eve"], 30.0))
    waiting for bob (not contributed for 30 s, last heard 2 s ago); others say they wait for dan (not answering for 12 \
s, cyd said 3 s ago); no word of eve in 30 s
    >>> print(why_waiting([], [], 30.0))
    all were heard of and nobody is known to be missing; agreement takes longer
    >>> print(why_waiting([], [], 30.0, ended=["bob", "cyd"]))
    it has ended at bob, cyd, and cannot go on without them
    """
    own = [str(one) for one in missing if not one.witness]
    told = [str(one) for one in missing if one.witness]
    parts = [
        too_few,
        f"it has ended at {_list(ended)}, and cannot go on without them" if ended else "",
        f"waiting for {_list(own)}" if own else "",
        f"others say they wait for {_list(told)}" if told else "",
        f"no word of {_list(unheard)} in {waited:.0f} s" if unheard else "",
    ]
    said = "; ".join(filter(None, parts))
    return said or "all were heard of and nobody is known to be missing; agreement takes longer"


def why_silent(neighbours: int, needed: int) -> str:
    """Why this peer shows nothing in a topic, whoever else answers: too few neighbours are left in it (R30).

    Examples
    --------
    >>> print(why_silent(1, 2))
    this peer needs 2 open neighbours (min_open_edges) to go on and has 1
    >>> why_silent(2, 2)
    ''
    """
    if neighbours >= needed:
        return ""
    return f"this peer needs {needed} open neighbours (min_open_edges) to go on and has {neighbours}"


def why_alone(left_out: Sequence[Missing]) -> str:
    """Who was left out, where that may be everybody else.

    Examples
    --------
    >>> print(why_alone([Missing("bob", contributed=False, seconds=30.0, last_heard=2.0)]))
    nobody is left to average with; it left out bob (not contributed for 30 s, last heard 2 s ago)
    >>> why_alone([])
    ''
    """
    return f"nobody is left to average with; it left out {_list([str(one) for one in left_out])}" if left_out else ""


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
