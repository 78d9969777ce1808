"""R60: what all members of a network must have in common, and the sentence for two that do not.

A HELLO carries its sender's terms. Nothing in them is private: they are in every member's roster. Two peers that read
numbers in different units, or expect another dimension, must never merge a ledger, whatever rosters they hold. The
other terms follow from the roster; they are compared when both ends hold the same number, because a difference between
two numbers ends when the end that is behind has fetched the later one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["LONGEST_NAME", "LONGEST_UNIT", "WEIGHTED", "WIRE", "Terms", "dispute", "same_shape"]

WIRE = 2
"""Version of the protocol between peers."""

LONGEST_UNIT = 64
"""Characters of a unit on the wire, and of a shape."""

LONGEST_NAME = 256
"""Characters of a topic's name."""

WEIGHTED = "weighted "
"""What the shape begins with where the first number is a weight, and the others are multiplied by it."""

_ALWAYS = ("wire", "unit", "dimension", "shape")
"""Terms without which a message cannot be read, or its numbers would be others' than they seem."""


class Terms(NamedTuple):
    """The shared settings, as they travel.

    Of a topic also its name, so that others can say what they miss, and the shape of its numbers: where keys and shapes
    would tell too much or take too long, a digest of them. Empty, as from peers that do not tell it, is not compared.
    """

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
    shape: str = ""


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
    >>> ours = ours._replace(topic="t", dimension=2, shape="(2,)")
    >>> print(dispute("ada", ours, "bob", ours._replace(shape="weighted ()"), same_roster=True))
    ada has shape (2,) and bob has weighted (); all contributors to topic 't' must give the same keys and shapes, and \
all a weight or none
    >>> dispute("ada", ours, "bob", ours._replace(shape=""), same_roster=True) is None
    True
    """
    compared = [field for field in Terms._fields if field != "topic"] if same_roster else _ALWAYS
    for field in _shape_first(compared) if _one_weighs(own, theirs) else compared:
        here, there = getattr(own, field), getattr(theirs, field)
        if here != there and not (field == "shape" and same_shape(here, there)):
            what = "wire version" if field == "wire" else field
            who = "members of a network" if not own.topic else f"contributors to topic {own.topic!r}"
            same = "give the same keys and shapes, and all a weight or none" if field == "shape" else "have the same"
            return f"{name} has {what} {here} and {other} has {there}; all {who} must {same}"
    return None


def same_shape(one: str, other: str) -> bool:
    """Whether two shapes are the same, as far as both are told."""
    return not (one and other) or one == other


def _one_weighs(own: Terms, theirs: Terms) -> bool:
    """Whether a weight is why there is a number more: then that is to be said, and not how many there are."""
    told = own.shape and theirs.shape
    return bool(told) and own.shape.startswith(WEIGHTED) != theirs.shape.startswith(WEIGHTED)


def _shape_first(fields: Sequence[str]) -> list[str]:
    return sorted(fields, key=lambda field: field not in ("wire", "unit", "shape"))
