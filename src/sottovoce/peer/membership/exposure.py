"""What the other members can learn about each member: from the roster alone, before anybody starts; and, once it runs,
from the roster and the member's own ledger.

By the theorem on sealed edges (:mod:`sottovoce.privacy.gaussian.seals`): whatever a coalition hears, of the others it
learns the sum of each group that is still connected without it, and beyond that only what the seals let through. So a
place in the graph is bad if one other member alone can cut somebody off, or cut off a pair.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import ConfigError
from .cuts import component_without
from .roster import Roster

__all__ = ["Exposure", "Knowledge", "check_accepted", "exposed", "promise", "what_others_know", "what_others_learn"]

_MOST_TRIALS = 500
"""Coalitions that are tried for the table; a second or two."""

_MOST_MEMBERS = 100
"""In a larger network a running peer tries its neighbours only: each trial takes some n³ steps."""


@dataclass(frozen=True)
class Exposure:
    """A member in a place where one other member learns its value, or the sum of its value and one more.

    Parameters
    ----------
    member, observer
        Who is exposed to whom.
    partner
        The member whose sum with ``member`` the observer learns; ``None``: it learns the value itself.
    """

    member: str
    observer: str
    partner: str | None

    def __str__(self) -> str:
        if self.partner is None:
            return f"{self.observer} will know {self.member}'s value once the noise is withdrawn"
        return f"{self.observer} will know the sum of {self.member}'s and {self.partner}'s values"


def exposed(roster: Roster) -> list[Exposure]:
    """The members that a single other member cuts off alone or in a pair, the worst for each.

    In a network of three everybody learns the sum of the two others from the average itself, so a pair does not count
    there.
    """
    graph, names, found = roster.graph, roster.names, []
    for i, name in enumerate(names):
        worst: Exposure | None = None
        for j in graph.neighbours_of(i).tolist():
            left = component_without(graph, i, [j])
            if len(left) == 1:
                worst = Exposure(name, names[j], None)
                break
            if len(left) == 2 and len(names) > 3 and worst is None:
                [partner] = left - {i}
                worst = Exposure(name, names[j], names[partner])
        if worst is not None:
            found.append(worst)
    return found


def check_accepted(roster: Roster) -> None:
    """Refuse a roster in which an exposed member did not say yes.

    Raises
    ------
    ConfigError
        Naming the member, and what it would have to accept.
    """
    missing = [one for one in exposed(roster) if one.member not in roster.accepted]
    if missing:
        said = "; ".join(map(str, missing))
        yes = " ".join(f"--accept {one.member}" for one in missing)
        raise ConfigError(f"{said}. Choose a graph without such places (the default is one), or ask them and say {yes}")


def promise(roster: Roster) -> str:
    """One sentence: how many members may put their heads together and learn nothing but what the average tells."""
    least, count = roster.vertex_connectivity, len(roster.members)
    head = f"vertex connectivity {least}: "
    if count == 2:
        return head + "with two members the average and one's own number tell the other's"
    if least == 1:
        return head + "one member can stand between others, and learns their sums; see the table"
    hold = min(least - 1, count - 2)
    who = "no single member learns" if hold == 1 else f"no {hold} members together learn"
    return head + f"{who} more than the average tells them, as far as the seals hide it (table)"


def what_others_learn(roster: Roster) -> list[tuple[str, ...]]:
    """For each member: how closely its value is known beforehand, and at best to one other, to two, to all others.

    Deviations from the theorem, with the declared range as what is known beforehand: values spread evenly over it, so
    that the deviation is (high − low)/√12. All others together know the value, from the average.

    Returns
    -------
    list of rows
        Member, beforehand, worst single member (and who), worst pair (and who; "not tried" if there are too many),
        all others.
    """
    from ...privacy.gaussian.seals import worst_coalition

    names, edges = roster.names, roster.graph.edges
    low, high, seal = (float(roster.settings[key]) for key in ("low", "high", "seal_std"))
    prior = (high - low) / math.sqrt(12.0)
    columns = []
    for size in (1, 2):
        if size > len(names) - 1 or math.comb(len(names), size) > _MOST_TRIALS:
            columns.append(["-" if size > len(names) - 1 else "not tried"] * len(names))
            continue
        worst = worst_coalition(edges, len(names), size=size, seal_std=seal, prior_std=prior)
        columns.append(
            [_say(float(worst.std[i]), prior, [names[m] for m in worst.members[i].tolist()]) for i in range(len(names))]
        )
    return [(name, f"± {prior:.3g}", columns[0][i], columns[1][i], "exactly") for i, name in enumerate(names)]


@dataclass(frozen=True)
class Knowledge:
    """How closely others can know one member's value, at the best: deviations, by the theorem on sealed edges.

    Parameters
    ----------
    beforehand
        From the declared range alone.
    neighbours
        Each single neighbour.
    one, two
        The worst single member and the worst pair, as text with their names; "not tried" if there are too many pairs.
    unsealed
        Neighbours whose edge has no seal yet, so that it hides nothing.
    """

    beforehand: float
    neighbours: Mapping[str, float]
    one: str
    two: str
    unsealed: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**vars(self), "neighbours": dict(self.neighbours), "unsealed": list(self.unsealed)}


def what_others_know(roster: Roster, name: str, sealed: Collection[str]) -> Knowledge:
    """What others can know about one member while it runs.

    Its own edges count as its ledger has them, all other edges as the roster has them: nobody has to be asked, and of
    the other edges it is assumed that they are sealed. An edge that never opened, or whose neighbour has left, hides
    nothing.

    Parameters
    ----------
    roster, name
        The network and the member.
    sealed
        Its neighbours with whom it shares a seal now.
    """
    from ...privacy.gaussian.seals import sealed_std

    names, around = roster.names, sorted(roster.neighbours_of(name))
    low, high, seal = (float(roster.settings[key]) for key in ("low", "high", "seal_std"))
    prior = (high - low) / math.sqrt(12.0)
    own, open_edges = names.index(name), {names.index(other) for other in sealed if other in names}
    edges = roster.graph.edges
    seals = [seal if own not in (i, j) or (i + j - own) in open_edges else 0.0 for i, j in edges.tolist()]

    def left(*coalition: int) -> float:
        return float(sealed_std(edges, len(names), coalition, seal_std=seals, prior_std=prior)[own])

    def worst(size: int) -> str:
        large = len(names) > _MOST_MEMBERS
        others = [names.index(other) for other in around] if large else [k for k in range(len(names)) if k != own]
        if size > len(others):
            return "-"
        if math.comb(len(others), size) > _MOST_TRIALS:
            return "not tried"
        std, who = min((left(*coalition), coalition) for coalition in itertools.combinations(others, size))
        return _say(std, prior, [names[k] for k in who]) + (", of the neighbours" if large else "")

    return Knowledge(
        beforehand=prior,
        neighbours={other: left(names.index(other)) for other in around},
        one=worst(1),
        two=worst(2),
        unsealed=tuple(other for other in around if other not in sealed),
    )


def _say(std: float, prior: float, who: Sequence[str]) -> str:
    known = "exactly" if std <= 1e-9 * prior else f"± {std:.3g}"
    return f"{known} ({', '.join(who)})"
