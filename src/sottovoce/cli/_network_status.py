"""What can be known about a network from one machine: its peers here are asked, and what they see of the others.

A peer answers its neighbours and its own operator, nobody else; so a peer on another machine cannot be asked from
here, and this says so instead of calling it down.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError

if TYPE_CHECKING:
    from ..peer.membership.config import PeerConfig
    from ..peer.membership.roster import Roster

__all__ = ["NetworkStatus", "look_at"]


@dataclass(frozen=True)
class NetworkStatus:
    """A network, seen from this machine.

    Parameters
    ----------
    here
        Statuses of the peers on this machine by name, ``None`` for one that does not answer.
    elsewhere
        Members on other machines: what each neighbour of theirs on this machine sees of them.
    """

    here: Mapping[str, dict[str, Any] | None]
    elsewhere: Mapping[str, Mapping[str, dict[str, Any]]]

    def to_dict(self) -> dict[str, Any]:
        """One entry per member."""
        others = {name: {"elsewhere": True, "seen_by": dict(seen)} for name, seen in self.elsewhere.items()}
        return {**self.here, **others}

    def sentences(self) -> list[str]:
        """About the members on other machines."""
        return [f"{name} is not on this machine and cannot be asked: {_sight(s)}" for name, s in self.elsewhere.items()]


def look_at(folder: Path) -> NetworkStatus:
    """Ask the peers of a network that have their folders in ``folder`` or beside it.

    Raises
    ------
    ConfigError
        There is neither a roster nor a peer.
    """
    from ..peer.membership.changes import current
    from ..peer.membership.founding import ROSTER, members
    from ..peer.process.control import peek

    roster = current(folder) if (folder / ROSTER).exists() else None
    configs = members(folder) if roster is None else _on_this_machine(folder, roster)
    here = {name: peek(config.data_dir) for name, config in configs.items()}
    others = () if roster is None else roster.names
    return NetworkStatus(here, {name: _seen(name, here) for name in others if name not in here})


def _on_this_machine(folder: Path, roster: Roster) -> dict[str, PeerConfig]:
    from ..peer.membership.config import PeerConfig

    found = {}
    for path in sorted([*folder.glob("*/peer.toml"), *folder.absolute().parent.glob("*/peer.toml")]):
        with contextlib.suppress(ConfigError):  # somebody else's business
            config = PeerConfig.load(path)
            founder = None if config.identity is None else config.identity.founder
            if founder == roster.founder_fingerprint and config.name in roster.members:
                found[config.name] = config
    return dict(sorted(found.items()))


def _seen(name: str, here: Mapping[str, dict[str, Any] | None]) -> dict[str, dict[str, Any]]:
    up = {seer: status["neighbours"] for seer, status in here.items() if status is not None}
    return {seer: neighbours[name] for seer, neighbours in up.items() if name in neighbours}


def _sight(seen: Mapping[str, Mapping[str, Any]]) -> str:
    if not seen:
        return "no peer that runs here is its neighbour"
    told = []
    for seer, neighbour in seen.items():
        heard = neighbour.get("last_heard")
        when = "not heard since the start" if heard is None else f"heard {heard:.1f} s ago"
        told.append(f"{seer} sees it {neighbour.get('state')}, {when}")
    return "; ".join(told)
