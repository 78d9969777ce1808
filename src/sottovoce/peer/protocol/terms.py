"""R60: what all members of a network must have in common, and the sentence for two that do not.

A HELLO carries its sender's terms. Nothing in them is private: they are in every member's roster. Two peers that read
numbers in different units, or expect another dimension, must never merge a ledger, whatever rosters they hold. The
other terms follow from the roster; they are compared when both ends hold the same number, because a difference between
two numbers ends when the end that is behind has fetched the later one.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LONGEST_NAME", "LONGEST_UNIT", "WIRE", "Terms", "dispute"]

WIRE = 2
"""Version of the protocol between peers."""

LONGEST_UNIT = 64
"""Characters of a unit on the wire."""

LONGEST_NAME = 256
"""Characters of a topic's name."""

_ALWAYS = ("wire", "unit", "dimension")
"""Terms without which a message cannot even be read."""


class Terms(NamedTuple):
    """The shared settings, as they travel; of a topic also its name, so that others can say what they miss."""

    wire: int
    unit: str
    dimension: int
    low: float
    high: float
    noise_std: float
    noise_decay: float
    seal_std: float
    tolerance: float
    diameter: int
    missing: str = ""
    topic: str = ""


def dispute(name: str, own: Terms, other: str, theirs: Terms, *, same_roster: bool) -> str | None:
    """One sentence that names both sides and both values, or ``None`` if nothing stands between them.

    Parameters
    ----------
    name, own
        This peer and its terms.
    other, theirs
        The neighbour and its terms.
    same_roster
        Whether both hold rosters of the same number; otherwise only what is needed to read a message counts.

    Examples
    --------
    >>> ours = Terms(2, "0.01", 1, 0.0, 10.0, 1.0, 0.9, 10.0, 0.1, 3)
    >>> print(dispute("ada", ours, "bob", ours._replace(tolerance=0.2), same_roster=True))
    ada has tolerance 0.1 and bob has 0.2; all members of a network must have the same
    >>> dispute("ada", ours, "bob", ours._replace(tolerance=0.2), same_roster=False) is None
    True
    """
    compared = [field for field in Terms._fields if field != "topic"] if same_roster else _ALWAYS
    for field in compared:
        here, there = getattr(own, field), getattr(theirs, field)
        if here != there:
            what = "wire version" if field == "wire" else field
            who = "members of a network" if not own.topic else f"contributors to topic {own.topic!r}"
            return f"{name} has {what} {here} and {other} has {there}; all {who} must have the same"
    return None
