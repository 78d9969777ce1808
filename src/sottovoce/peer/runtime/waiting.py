"""What a topic waits for, in words: who is missing, since when, and who says so (R90)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from ..protocol.absences import Missing

__all__ = ["why_alone", "why_divided", "why_late", "why_silent", "why_spent", "why_stuck", "why_waiting"]

_NAMED = 8
"""Members that one part of the sentence names; the others are counted."""


def why_waiting(
    missing: Sequence[Missing],
    unheard: Sequence[str],
    waited: float,
    held: str = "",
    ended: Sequence[str] = (),
    stuck: Sequence[str] = (),
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
    held
        What :func:`why_silent`, :func:`why_spent`, :func:`why_late` or :func:`why_divided` says.
    ended
        Neighbours at which the topic has ended: they hold nothing by which it could go on.
    stuck
        What :func:`why_stuck` says.

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
    >>> print(why_waiting([], [], 30.0, stuck=why_stuck(["bob"], [], "")))
    its rounds wait for bob
    """
    own = [str(one) for one in missing if not one.witness]
    told = [str(one) for one in missing if one.witness]
    parts = [
        held,
        f"it has ended at {_list(ended)}, and cannot go on without them" if ended else "",
        f"waiting for {_list(own)}" if own else "",
        f"others say they wait for {_list(told)}" if told else "",
        f"no word of {_list(unheard)} in {waited:.0f} s" if unheard else "",
        *stuck,
    ]
    said = "; ".join(filter(None, parts))
    return said or "all were heard of and nobody is known to be missing; agreement takes longer"


def why_divided(told: Mapping[str, Collection[str]]) -> str:
    """Which sets of members are named, where they are not the same: no answer is made then (R83).

    Parameters
    ----------
    told
        Who says so, and the members of the set.

    Examples
    --------
    >>> print(why_divided({"this peer": ["ada", "bob"], "bob": ["ada", "bob"], "cyd": ["ada", "bob", "eve"]}))
    different sets are named: 2 members by this peer, bob; 3 members with eve by cyd
    >>> why_divided({"this peer": ["ada", "bob"], "bob": ["ada", "bob"]})
    ''
    """
    groups: dict[frozenset[str], list[str]] = {}
    for name, members in told.items():
        groups.setdefault(frozenset(members), []).append(name)
    if len(groups) < 2:
        return ""
    common = frozenset.intersection(*groups)
    parts = []
    for members, who in groups.items():
        more = f" with {_list(sorted(members - common))}" if members > common else ""
        parts.append(f"{len(members)} members{more} by {_list(who)}")
    return f"different sets are named: {'; '.join(parts)}"


def why_late(told: Mapping[str, Collection[str]]) -> str:
    """Which neighbours say that the topic was closed without this peer (R85).

    Parameters
    ----------
    told
        Who says so, and with whom it was closed.

    Examples
    --------
    >>> print(why_late({"bob": ["ada", "bob"]}))
    bob says that it was closed without this peer, with ada, bob
    """
    parts = ((name, _list(sorted(members))) for name, members in told.items())
    return "; ".join(f"{name} says that it was closed without this peer, with {members}" for name, members in parts)


def why_stuck(rounds: Sequence[str], unready: Sequence[str], hindered: str) -> list[str]:
    """What keeps a topic from its end although all answer, in parts of a sentence: who is named may wait for others.

    Parameters
    ----------
    rounds
        Neighbours that keep this peer in its round.
    unready
        Members of the set that was found of which no word has come that it binds them.
    hindered
        The neighbour by whose word the last epoch ended without agreement.

    Examples
    --------
    >>> why_stuck([], ["eve"], "bob")
    ['no word of eve that the set of members is final', 'by what bob told last, values do not agree yet']
    """
    parts = [
        f"its rounds wait for {_list(rounds)}" if rounds else "",
        f"no word of {_list(unready)} that the set of members is final" if unready else "",
        f"by what {hindered} told last, values do not agree yet" if hindered else "",
    ]
    return [part for part in parts if part]


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


def why_spent(noise: float, tolerance: float) -> str:
    """Why this peer's privacy budget lets a topic have no answer: its noise stays, or no noise may cover its value.

    Parameters
    ----------
    noise
        The deviation of the noise that stays; infinite: nothing may be shown.
    tolerance
        To which peers must agree.

    Examples
    --------
    >>> print(why_spent(math.inf, 0.001))
    this peer's privacy budget for this secret (smallest_std) is spent, and it shows nothing
    >>> print(why_spent(0.8, 0.001))
    this peer's privacy budget for this secret (smallest_std) is spent: noise of deviation 0.8 stays for good, too \
much to agree to 0.001
    """
    spent = "this peer's privacy budget for this secret (smallest_std) is spent"
    if noise == math.inf:
        return f"{spent}, and it shows nothing"
    return f"{spent}: noise of deviation {noise:.3g} stays for good, too much to agree to {tolerance:g}"


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
