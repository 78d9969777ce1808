"""How a peer's status looks to a person: one table for one peer, one row per peer for a network."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from ..peer.membership.roster import Roster

__all__ = ["network_table", "one_peer", "roster_view", "say_estimate"]

_STATE_STYLE = {"open": "green", "blank": "yellow", "parted": "dim", "parting": "yellow", "unreachable": "red"}


def say_estimate(status: Mapping[str, Any]) -> str:
    """The estimate in a few words; a vector by its first coordinates."""
    estimate = status.get("estimate")
    if estimate is None:
        return "-"
    shown = ", ".join(f"{number:.6g}" for number in estimate[:3])
    dimension = status.get("dimension", len(estimate))
    return shown if dimension <= 3 else f"{shown}, … ({dimension})"


def _say_error(status: Mapping[str, Any]) -> str:
    error = status.get("plus_minus")
    return "-" if error is None else f"± {error:.2g}"


def _say_roster(status: Mapping[str, Any]) -> str:
    roster = status.get("roster")
    return "-" if roster is None else f"{roster['number']}, digest {str(roster['digest'])[:32]}"


def _say_budget(status: Mapping[str, Any]) -> str:
    share = status.get("budget_share")
    return "no limit" if share is None else f"{share:.0%} spent"


def _say_known(status: Mapping[str, Any]) -> str:
    std = status.get("known_to")
    if std is None:
        return "nothing yet"
    known = f"± {std:.2g}" if std > 1e-6 * (status.get("noise_std") or 0.0) else "exactly"
    return f"{known}, if all of them put their heads together"


def _say_std(std: float | None, beforehand: float) -> str:
    if std is None:
        return "-"
    return f"± {std:.3g}" if std > 1e-9 * beforehand else "exactly"


def _say_refusals(answer: Mapping[str, Any]) -> str:
    counts = answer.get("refusals", {}).items()
    return ", ".join(f"{event.removeprefix('refused-')}: {count}" for event, count in counts) or "nothing"


def _say_state(neighbour: Mapping[str, Any]) -> str:
    state = str(neighbour.get("state", "?"))
    style, since = _STATE_STYLE.get(state, ""), neighbour.get("parting_since")
    if since is not None:
        moment = dt.datetime.fromtimestamp(since, dt.UTC)
        return f"[{style}]parting since {moment:%Y-%m-%d %H:%M} UTC, not yet heard[/]"
    return f"[{style}]{state}[/]" if style else state


def _say_missing(missing: Mapping[str, Any]) -> str:
    from ..peer.protocol.absences import Missing

    return str(Missing(**missing))


def one_peer(answer: Mapping[str, Any]) -> RenderableType:
    """Everything about one peer."""
    from rich.console import Group
    from rich.table import Table

    status = answer["status"]
    known = status.get("known") or {}
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold")
    facts.add_column()
    settled = "[green]yes[/]" if status.get("settled") else str(status.get("statement", "not yet"))
    for name, text in (
        ("peer", f"{status['name']} of {status['network']}"),
        ("roster", _say_roster(status)),
        ("estimate", f"{say_estimate(status)}  {_say_error(status)}"),
        ("settled", settled),
        ("noise left", f"{status.get('noise_left') or 0:.2g} of {status.get('noise_std') or 0:.2g}"),
        ("privacy budget", _say_budget(status)),
        ("known beforehand to", "-" if not known else f"± {known['beforehand']:.3g}"),
        ("one other knows it to", known.get("one", "-")),
        ("two others know it to", known.get("two", "-")),
        ("all neighbours know it to", _say_known(status)),
        ("exchanges", str(status.get("exchanges", 0))),
        ("refused", _say_refusals(answer)),
        *(("notice", notice) for notice in status.get("notices", ())),
        *(("missing", _say_missing(one)) for one in status.get("missing", ())),
        *((f"topic {name}", one["statement"]) for name, one in status.get("topics", {}).items()),
    ):
        facts.add_row(name, text)
    neighbours = Table(box=None, header_style="bold")
    for title in ("neighbour", "state", "seal", "knows it to", "roster", "last heard"):
        neighbours.add_column(title)
    for name, neighbour in sorted(status.get("neighbours", {}).items()):
        heard = neighbour.get("last_heard")
        neighbours.add_row(
            name,
            _say_state(neighbour),
            "sealed" if neighbour.get("sealed") else "none",
            _say_std(known.get("neighbours", {}).get(name), known.get("beforehand", 0.0)),
            "-" if neighbour.get("roster") is None else str(neighbour["roster"]),
            "-" if heard is None else f"{heard:.1f} s ago",
        )
    return Group(facts, "", neighbours)


def roster_view(roster: Roster) -> RenderableType:
    """A roster: number, digest, terms, who is next to whom, and who can learn what about whom."""
    from rich.console import Group
    from rich.table import Table

    from ..peer.membership.exposure import exposed, promise, what_others_learn

    terms = roster.settings
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold")
    facts.add_column()
    for name, text in (
        ("network", f"{roster.network}, roster {roster.number}, {len(roster.members)} members"),
        ("digest", roster.digest.hex()[:32]),
        ("founder's key", roster.founder_fingerprint),
        ("values", f"from {terms['low']:g} to {terms['high']:g}, multiples of {terms['unit']}"),
        ("settled", f"when all agree to {terms['tolerance']:g}"),
        ("noise, seal", f"{terms['noise_std']:g} × {terms['noise_decay']:g}^t, {terms['seal_std']:g}"),
        ("gone", ", ".join(roster.tombstones) or "nobody"),
    ):
        facts.add_row(name, text)
    learned = Table(box=None, header_style="bold")
    for title in ("member", "neighbours", "before", "to one other", "to two others", "to all"):
        learned.add_column(title)
    for name, *known in what_others_learn(roster):
        learned.add_row(name, ", ".join(roster.neighbours_of(name)), *known)
    notes = [f"accepted: {one}" for one in exposed(roster)]
    return Group(facts, "", "how closely each value can be known, at the best:", learned, promise(roster), *notes)


def network_table(statuses: Mapping[str, Mapping[str, Any] | None], title: str = "") -> Table:
    """One row per peer; ``None`` for a peer that does not answer."""
    from rich.table import Table

    table = Table(title=title or None, box=None, header_style="bold", title_justify="left")
    for name in ("peer", "estimate", "±", "settled", "noise left", "exchanges", "roster", "edges"):
        table.add_column(name, justify="left" if name in ("peer", "settled", "edges") else "right")
    for name, status in statuses.items():
        if status is None:
            table.add_row(name, "[red]down[/]", *[""] * 6)
            continue
        table.add_row(
            name,
            say_estimate(status),
            _say_error(status).removeprefix("± "),
            "[green]yes[/]" if status.get("settled") else "[yellow]…[/]",
            f"{status.get('noise_left') or 0:.1e}",
            str(status.get("exchanges", 0)),
            "-" if status.get("roster") is None else str(status["roster"]["number"]),
            _edges(status),
        )
    return table


def _edges(status: Mapping[str, Any]) -> str:
    """One coloured dot per neighbour."""
    states = [str(neighbour.get("state")) for _, neighbour in sorted(status.get("neighbours", {}).items())]
    return "".join(f"[{_STATE_STYLE.get(state, 'red')}]●[/]" for state in states)
