"""What was seen of running peers: the last words of each, when all had settled, and a history to replay.

Nothing here is more than peers said: estimates and states, never a private value.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .verdicts import guess_text

__all__ = ["Memory"]

LONGEST = 2_000
"""Looks that are kept; beyond it every second of them is dropped, so that the whole story stays."""

Status = Mapping[str, Any]


@dataclass(frozen=True)
class _Moment:
    """One look."""

    elapsed: float
    estimates: dict[str, float | None]
    settled: int
    up: int
    exchanges: int


class Memory:
    """Turns answers of peers into what a page is told.

    Parameters
    ----------
    clock
        Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._words: dict[str, tuple[float, Status]] = {}
        self._moments: list[_Moment] = []
        self._settled_after: float | None = None
        self.network = ""
        self.edges: Sequence[tuple[int, ...]] = ()
        self.names: list[str] = []

    def look(
        self, network: str, edges: Sequence[tuple[int, ...]], answers: Mapping[str, Status | None]
    ) -> dict[str, Any]:
        """Take in one look, and tell it; ``None`` stands for a peer that does not answer."""
        now = self._clock()
        elapsed = now - self._began
        self.network, self.edges, self.names = network, edges, list(answers)
        for name, answer in answers.items():
            if answer is not None:
                self._words[name] = (now, answer)
        peers = [self._told(name, answer, now) for name, answer in answers.items()]
        settled = [bool(peer.get("settled")) for peer in peers]
        if all(settled) and peers and self._settled_after is None:
            self._settled_after = elapsed
        if not all(settled) and any(peer["up"] and not peer.get("settled") for peer in peers):
            self._settled_after = None  # somebody joined, or was set back
        exchanges = sum(peer.get("exchanges") or 0 for peer in peers) // 2
        state = self._state(peers)
        if state != "ended":
            self._note(_Moment(elapsed, {p["name"]: _first(p) for p in peers}, sum(settled), _up(peers), exchanges))
        return {
            "available": True,
            "state": state,
            "sentence": self._sentence(state, peers, exchanges),
            "elapsed": elapsed,
            "settledAfter": self._settled_after,
            "network": network,
            "edges": list(edges),
            "exchanges": exchanges,
            "peers": peers,
        }

    def history(self) -> dict[str, Any]:
        """All that was seen, oldest first."""
        names = list(dict.fromkeys(name for moment in self._moments for name in moment.estimates))
        return {
            "names": names,
            "times": [moment.elapsed for moment in self._moments],
            "estimates": [[moment.estimates.get(name) for name in names] for moment in self._moments],
            "settled": [moment.settled for moment in self._moments],
            "up": [moment.up for moment in self._moments],
            "exchanges": [moment.exchanges for moment in self._moments],
        }

    def _told(self, name: str, answer: Status | None, now: float) -> dict[str, Any]:
        """A peer as a page sees it: what it says, or what it said last."""
        if answer is not None:
            return {**answer, "name": name, "up": True, "lastSeen": 0.0}
        if name not in self._words:
            return {"name": name, "up": False, "lastSeen": None}
        then, said = self._words[name]
        return {**said, "name": name, "up": False, "lastSeen": now - then}

    def _state(self, peers: list[dict[str, Any]]) -> str:
        if not any(peer["up"] for peer in peers):
            return "ended" if self._words else "waiting"
        return "settled" if self._settled_after is not None else "running"

    def _sentence(self, state: str, peers: list[dict[str, Any]], exchanges: int) -> str:
        count = len(peers)
        if state == "waiting":
            return f"None of the {count} peers answers yet."
        if state == "running":
            done = sum(bool(peer.get("settled")) for peer in peers)
            return f"{_up(peers)} of {count} peers are up, {done} have settled; about {exchanges:,} exchanges so far."
        agreed = self._agreed(peers)
        if state == "settled":
            when = f"{self._settled_after:.0f} seconds after the studio began to look"
            return f"All {count} peers have settled{agreed}, {when} and after about {exchanges:,} exchanges."
        if self._settled_after is None:
            return "All peers have stopped before they had settled; this is what they said last."
        return f"All {count} peers had settled{agreed} and have stopped; this is what they said last."

    def _agreed(self, peers: list[dict[str, Any]]) -> str:
        """On which number, if it is one."""
        found = [_first(peer) for peer in peers]
        spread = max((peer.get("plus_minus") or 0.0 for peer in peers), default=0.0)
        numbers = [number for number in found if number is not None]
        if len(numbers) < len(found) or any((peer.get("dimension") or 1) > 1 for peer in peers):
            return ""
        middle = sum(numbers) / len(numbers)
        spread = max(spread, max(numbers) - min(numbers))
        return f" on {guess_text(middle, spread) if spread > 0.0 else f'{middle:.6g}'}"

    def _note(self, moment: _Moment) -> None:
        self._moments.append(moment)
        if len(self._moments) > LONGEST:
            self._moments = self._moments[::2]


def _first(peer: Mapping[str, Any]) -> float | None:
    estimate = peer.get("estimate")
    return float(estimate[0]) if estimate else None


def _up(peers: Sequence[Mapping[str, Any]]) -> int:
    return sum(bool(peer["up"]) for peer in peers)
