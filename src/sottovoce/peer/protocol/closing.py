"""How a topic ends, so that nobody is let in or out between the first declaration and the last: rules R82 to R84, R91.

The settled rule gathers, with the interval, the set of contributors. An epoch that ends in agreement gives each peer a
*certificate*: these members, this interval. Two policies make an answer of it.

**wait.** The answer is the mean of all members. A certificate that names all of them is the answer: nobody is left who
could come late, and nobody is ever left out.

**drop.** Members may be left out, so a certificate alone is not enough: another peer may not have one, and may still
let somebody in or leave somebody out. A peer that has a certificate is therefore *bound*: it opens no edge to a
newcomer and drops nobody any more, also after a restart. It says so in the next epoch. When an epoch ends in agreement
and *all* its contributors have said that they are bound, the set can never change again, and the peer declares it.
Where the rounds stand still, because a member died in that moment, those that are bound follow a neighbour that has
declared their set; or the word of all members of it that they are bound to it, which the dead one may have given before
it died, and which stays true (R91): each of them has seen, while it was bound, that nobody else is connected to it.

**After the answer.** A peer that has declared needs no rounds. To each neighbour that has not declared it answers, in
that neighbour's own round, with its certificate: the mean of these members lies in this interval, which stays true
whatever happens later. So it waits for nobody, remembers nothing that a restart could lose, and is all that the
neighbour would have learned from the peers behind it, some of which may have closed.

So a peer that is not bound knows that nobody has declared, and may act freely. One that is bound, with a member dead
whose word nobody has, has to wait for that member to come back: the price that every agreement of this kind
pays. The wait ends with a time-out that names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from .units import Vector

__all__ = ["Agreement", "Certificate", "followed", "in_the_order_of", "named", "renewed", "renumbered"]


class Agreement(NamedTuple):
    """What an epoch that ended in agreement found."""

    low: Vector
    high: Vector
    contributors: int
    ready: int


@dataclass(frozen=True)
class Certificate:
    """The mean of these members lies in an interval no wider than the tolerance.

    Parameters
    ----------
    contributors
        The members, one bit each in the order of the roster.
    twice
        The sum of the two ends of the interval, in units: twice its middle.
    width
        Its width in units, at most, over the coordinates.
    declared
        Whether it is this topic's answer.
    roll
        The names of the members in that order, if they are known: a later roster has another.
    """

    contributors: int
    twice: Vector
    width: int
    declared: bool = False
    roll: tuple[str, ...] = ()

    @property
    def interval(self) -> tuple[Vector, Vector]:
        """R84: the widest interval with this middle and this width; it holds the one that was found.

        Examples
        --------
        >>> import numpy as np
        >>> [end.tolist() for end in Certificate(0b1, np.array([8, 9]), width=2).interval]
        [[3, 4], [5, 5]]
        """
        return -((self.width - self.twice) >> 1), (self.twice + self.width) >> 1  # many times as fast as // 2

    def __repr__(self) -> str:
        word = "declared" if self.declared else "certified"
        return f"<Certificate {word} contributors={self.contributors:b} width={self.width}>"


def renumbered(members: int, before: Sequence[str], now: Sequence[str]) -> int | None:
    """A set of members in the order of another roster; ``None`` if one of them is not in it.

    Examples
    --------
    >>> bin(renumbered(0b11, ["bob", "cyd"], ["abe", "bob", "cyd"])), renumbered(0b11, ["bob", "cyd"], ["abe", "bob"])
    ('0b110', None)
    """
    names = named(members, before)
    return sum(1 << now.index(name) for name in names) if set(names) <= set(now) else None


def in_the_order_of(roll: tuple[str, ...], certificate: Certificate | None) -> Certificate | None:
    """A certificate with its members in the order of another roster; ``None`` if one of them is not in it."""
    if certificate is None or not certificate.roll or not roll or certificate.roll == roll:
        return certificate
    members = renumbered(certificate.contributors, certificate.roll, roll)
    return None if members is None else replace(certificate, contributors=members, roll=roll)


def named(members: int, roll: Sequence[str]) -> list[str]:
    """Who is in a set of members; those that the roster does not know have numbers.

    Examples
    --------
    >>> named(0b1101, ["ada", "bob", "cyd"])
    ['ada', 'cyd', '#4']
    """
    bits = [bit for bit in range(members.bit_length()) if members >> bit & 1]
    return [roll[bit] if bit < len(roll) else f"#{bit + 1}" for bit in bits]


def renewed(before: Certificate | None, found: Agreement, *, missing: str, members: int) -> Certificate | None:
    """R82, R83: what a peer holds after an epoch that ended in agreement.

    Examples
    --------
    >>> import numpy as np
    >>> found = Agreement(np.array([3]), np.array([5]), contributors=0b011, ready=0b001)
    >>> renewed(None, found, missing="wait", members=3), renewed(None, found, missing="wait", members=2)
    (None, <Certificate declared contributors=11 width=2>)
    >>> renewed(None, found, missing="drop", members=2)
    <Certificate certified contributors=11 width=2>
    >>> renewed(None, found._replace(ready=0b111), missing="drop", members=3)
    <Certificate declared contributors=11 width=2>
    """
    if before is not None and before.declared:
        return before
    everyone = found.contributors.bit_count() == members
    if missing == "wait" and not everyone:
        return before
    bound = found.contributors & ~found.ready == 0
    width = int((found.high - found.low).max())
    return Certificate(found.contributors, found.low + found.high, width, declared=missing == "wait" or bound)


def followed(certificate: Certificate | None, closed: int, holders: int = 0) -> Certificate | None:
    """R84, R91: who is bound to a set declares it if a neighbour has, or if all of it are known to be bound to it.

    Examples
    --------
    >>> import numpy as np
    >>> bound = Certificate(0b111, np.array([8]), width=2)
    >>> followed(bound, 0b011), followed(bound, 0b111)
    (<Certificate certified contributors=111 width=2>, <Certificate declared contributors=111 width=2>)
    >>> followed(bound, 0, holders=0b101), followed(bound, 0, holders=0b111)
    (<Certificate certified contributors=111 width=2>, <Certificate declared contributors=111 width=2>)
    """
    if certificate is None or certificate.declared:
        return certificate
    final = certificate.contributors == closed or certificate.contributors & ~holders == 0
    return replace(certificate, declared=True) if final else certificate
