"""Whether a peer's process works, and whether the peer takes part: what supervisors and load balancers ask.

*Alive* means that nothing is broken that only a restart repairs. *Ready* means that the peer can take part in
exchanges now: a network that has not settled, or a neighbour that is away, is no reason to restart anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Health", "health_of"]


@dataclass(frozen=True)
class Health:
    """What is wrong; empty texts if nothing is.

    Parameters
    ----------
    broken
        Why the process has to be started again.
    waiting
        Why the peer cannot take part now.
    """

    broken: str
    waiting: str

    @property
    def alive(self) -> bool:
        """Whether the process works."""
        return not self.broken

    @property
    def ready(self) -> bool:
        """Whether the peer can take part in exchanges."""
        return self.alive and not self.waiting


def health_of(status: Mapping[str, Any], trouble: str, needed: int) -> Health:
    """The health of a peer.

    Parameters
    ----------
    status
        Of the peer, as plain data.
    trouble
        Why it does not work any more, if so.
    needed
        How many neighbours must be there before it shows anything: ``min_open_edges``.

    Examples
    --------
    >>> health_of({"neighbours": {"bob": {"state": "open"}, "cleo": {"state": "blank"}}}, "", 2)
    Health(broken='', waiting='1 of the 2 neighbours needed are here; not: cleo')
    """
    states = {name: neighbour.get("state") for name, neighbour in status.get("neighbours", {}).items()}
    away = sorted(name for name, state in states.items() if state != "open")
    here = len(states) - len(away)
    if here < needed:
        missing = ", ".join(away) or "nobody else is a neighbour"
        return Health(trouble, f"{here} of the {needed} neighbours needed are here; not: {missing}")
    if status.get("budget_spent") and not status.get("draws"):
        return Health(trouble, "the privacy budget is spent, and nothing is shown")
    return Health(trouble, "")
