"""A topic whose answer is a private release: each contribution carries noise that stays.

The topic's full name carries the agreement, and how many members there are. So whoever agreed to something else, or to
no noise, is in another topic and never mixed in; and what was released can be read from the store after a restart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter
from ...privacy.releases import Release, ReleaseCost
from ..membership.config import PeerConfig
from ..protocol.openings import topic_id

__all__ = ["as_begun", "check_plain", "check_room", "cost_of", "disagreement", "released_name", "with_noise"]

# Names come from neighbours, too. What ends a field is never part of it: a name is read once, whatever it looks like.
_AGREEMENT = re.compile(
    r" \[release ε=(\S+) δ=(\S+) ([^\s…]+)…([^\s…]+) unit (\S+) honest (\d+)/(\d+) × (\d+) × (\d+)\]$"
)

_MEMBERS = re.compile(r"(?<=\d)/\d+(?= × \d+ × \d+\]$)")
"""In a full name: how many members there were."""

_FIELDS = ("epsilon", "delta", "low", "high", "unit", "honest", "members", "releases", "dimension")


def released_name(topic: str, release: Release, members: int) -> str:
    """The full name of a topic under this agreement.

    Examples
    --------
    >>> agreed = Release(epsilon=1, delta=1e-6, low=0, high=100, unit="0.01", honest=8)
    >>> released_name("2026-11", agreed, 10)
    '2026-11 [release ε=1.0 δ=1e-06 0.0…100.0 unit 0.01 honest 8/10 × 1 × 1]'
    """
    check_plain(topic)
    topic_id(topic)  # refuses what is no text: it would be one in the full name
    given: object = release
    if not isinstance(given, Release):
        raise InvalidParameter(f"release must be a Release, got {given!r:.80}")
    numbers = f"ε={float(release.epsilon)!r} δ={float(release.delta)!r} {float(release.low)!r}…{float(release.high)!r}"
    counts = f"honest {release.honest}/{members} × {release.releases} × {release.dimension}"
    return f"{topic} [release {numbers} unit {release.unit} {counts}]"


def as_begun(name: str, known: Iterable[str]) -> str:
    """The full name under which this release was begun here, if it was: by a roster with other members, perhaps.

    Who joins or leaves makes no other release of it. It would have another draw of noise, and be shown twice.

    Examples
    --------
    >>> agreed = Release(epsilon=1, delta=1e-6, low=0, high=100, unit="0.01", honest=8)
    >>> ten, eleven = (released_name("2026-11", agreed, members) for members in (10, 11))
    >>> as_begun(eleven, [ten]) == ten, as_begun(eleven, [ten, eleven]) == eleven, as_begun(eleven, []) == eleven
    (True, True, True)
    """
    begun = [other for other in known if _MEMBERS.sub("", other) == _MEMBERS.sub("", name)]
    return name if name in begun or not begun else begun[-1]


def check_plain(topic: str) -> None:
    """A name that a program gives must not look like that of a release: its values would have no noise."""
    given: object = topic
    if isinstance(given, str) and _AGREEMENT.search(given):
        raise InvalidParameter(f"topic must not end like the name of a release; give release=, got {topic!r:.80}")


def check_room(release: Release, size: int, config: PeerConfig) -> None:
    """The agreement must fit the value and the network, and the noise must fit into the network's range.

    Raises
    ------
    InvalidParameter
        It does not; the message names both sides.
    """
    if release.unit != config.unit:
        raise InvalidParameter(f"the release's unit must be the network's, {config.unit}, got {release.unit}")
    if release.dimension != size:
        raise InvalidParameter(f"the release's dimension must be that of the value, {size}, got {release.dimension}")
    if release.honest > config.members:
        raise InvalidParameter(f"the release's honest must be at most {config.members} members, got {release.honest}")
    low, high = release.low - 10.0 * release.share_std, release.high + 10.0 * release.share_std
    if not (config.low <= low and high <= config.high):
        raise InvalidParameter(
            f"the network's range must leave room for the release's noise, {low:g} … {high:g}; "
            f"it is {config.low:g} … {config.high:g}"
        )


def with_noise(flat: npt.NDArray[np.float64], release: Release, *, clip: bool) -> tuple[npt.NDArray[np.float64], int]:
    """Values and noise; how many were clipped."""
    drawn = release.contribution(flat, clip=clip)
    return np.asarray(drawn.value), drawn.clipped


def disagreement(own: str, ours: str, other: str, theirs: str) -> str | None:
    """One sentence about two full names of the same topic under different agreements; ``None``: they are not that.

    Examples
    --------
    >>> agreed = Release(epsilon=1, delta=1e-6, low=0, high=100, unit="0.01", honest=8)
    >>> other = Release(epsilon=9, delta=1e-6, low=0, high=100, unit="0.01", honest=8)
    >>> disagreement("ada", released_name("x", agreed, 10), "bob", released_name("x", other, 10))
    "in the release of topic 'x', ada has epsilon 1.0 and bob has 9.0"
    >>> disagreement("ada", released_name("x", agreed, 10), "bob", "x")
    "of topic 'x', ada makes a private release and bob does not"
    """
    one, two = _AGREEMENT.search(ours), _AGREEMENT.search(theirs)
    topic = _AGREEMENT.sub("", ours)
    if topic != _AGREEMENT.sub("", theirs) or ours == theirs:
        return None
    if one is None or two is None:
        does, does_not = (other, own) if one is None else (own, other)
        return f"of topic {topic!r}, {does} makes a private release and {does_not} does not"
    pairs = zip(_FIELDS, one.groups(), two.groups(), strict=True)
    differ = [f"{own} has {field} {here} and {other} has {there}" for field, here, there in pairs if here != there]
    return f"in the release of topic {topic!r}, {', '.join(differ)}"


def cost_of(name: str, contributors: int | None) -> ReleaseCost | None:
    """What the topic of this full name tells of a contributor; ``None``: it is no release.

    Every member that did not contribute is counted as one of the honest, and nobody beyond the members is. Of a name
    that a program has marked with a cost, such as a study's, it is that one.

    Parameters
    ----------
    name
        The full name.
    contributors
        How many there were; ``None``: not known yet, and counted as all.
    """
    found = _AGREEMENT.search(name)
    if found is None:
        return ReleaseCost.marked_in(name)
    epsilon, delta, low, high, unit, honest, members, releases, dimension = found.groups()
    agreed = Release(
        float(epsilon), float(delta), float(low), float(high), unit, int(honest), int(releases), int(dimension)
    )
    missing = 0 if contributors is None else max(0, int(members) - contributors)
    return agreed.cost(max(1, agreed.honest - missing))
