"""What a peer counts and measures, for Prometheus; :mod:`.pages` serves it.

Metrics hold counts, durations and scales that follow from the configuration (how much noise amplitude is left, what
share of the budget is spent). They never hold a private value, a noise draw, a flow or the estimate.
"""

from __future__ import annotations

import math
import platform
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..._version import __version__
from ..membership.roster import WIRE

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

__all__ = ["NEIGHBOUR_STATES", "PeerObserver"]

NEIGHBOUR_STATES = ("open", "blank", "unreachable", "parted", "parting")
"""In what state a neighbour can be; all are exported, also with a count of zero."""

_LATENCIES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class PeerObserver:
    """Counts and logs what one peer's node and transport report; a registry of its own, so peers can share a process.

    Examples
    --------
    >>> observer = PeerObserver()
    >>> observer.count("refused-not-a-neighbour")
    >>> observer.counts("refused-")
    {'refused-not-a-neighbour': 1}
    """

    def __init__(self, logger: Any = None) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

        self.registry: CollectorRegistry = CollectorRegistry()
        self._logger = logger
        self._actions: dict[str, Callable[[str], None]] = {}
        into: dict[str, Any] = {"registry": self.registry, "namespace": "sottovoce"}
        self._events = Counter("events", "What happened, by event and neighbour.", ["event", "neighbour"], **into)
        self._settled = Gauge("settled", "1 while the network has declared itself settled.", **into)
        self._draws = Gauge("noise_draws", "Noise draws since the value or the membership last changed.", **into)
        self._noise = Gauge("noise_left_ratio", "Noise amplitude left, as a share of the first draw's.", **into)
        self._budget = Gauge("budget_spent_ratio", "Share of the privacy budget spent; 0 without a budget.", **into)
        self._exchanges = Gauge("exchanges", "Exchanges this peer took part in since it started.", **into)
        self._bound = Gauge("error_bound", "Largest possible error of the estimate; +Inf: not known.", **into)
        self._neighbours = Gauge("neighbours", "Neighbours by state.", ["state"], **into)
        self._evasive = Gauge("neighbours_not_answering", "Neighbours that greet and answer no request.", **into)
        self._notices = Gauge("notices", "What waits for the operator; the status says it.", **into)
        self._calls = Histogram(
            "call_seconds", "Answered calls to neighbours.", ["neighbour"], buckets=_LATENCIES, **into
        )
        self._roster = Gauge("roster_number", "Number of the roster in use.", **into)
        self._expiry = Gauge("certificate_expiry_timestamp_seconds", "When this peer's certificate ends.", **into)
        build = Gauge("build_info", "Always 1; what runs here.", ["version", "wire", "python"], **into)
        build.labels(__version__, str(WIRE), platform.python_version()).set(1)
        self._bound.set(math.inf)
        self._show_neighbours({})
        ProcessCollector(registry=self.registry)

    def count(self, event: str, neighbour: str = "") -> None:
        """Count one event, and do what was asked to be done when it comes."""
        self._events.labels(event, neighbour).inc()
        if event in self._actions:
            self._actions[event](neighbour)

    def when(self, event: str, act: Callable[[str], None]) -> None:
        """From now on call ``act`` with the neighbour's name whenever ``event`` is counted."""
        self._actions[event] = act

    def log(self, level: str, event: str, **fields: object) -> None:
        """Write one log line, if there is a logger."""
        if self._logger is not None:
            getattr(self._logger, level)(event, **fields)

    def counts(self, prefix: str = "") -> dict[str, int]:
        """Events so far whose name begins with `prefix`, summed over neighbours."""
        found: dict[str, int] = {}
        for metric in self._events.collect():
            for sample in metric.samples:
                event = sample.labels["event"]
                if sample.name.endswith("_total") and event.startswith(prefix):
                    found[event] = found.get(event, 0) + int(sample.value)
        return found

    def note_identity(self, roster: int, expires: float) -> None:
        """The roster in use, and when this peer's certificate ends, in seconds since 1970."""
        self._roster.set(roster)
        self._expiry.set(expires)

    def note_call(self, neighbour: str, seconds: float) -> None:
        """How long a call took that was answered."""
        self._calls.labels(neighbour).observe(seconds)

    def update(self, status: Mapping[str, Any]) -> None:
        """Take the gauges from a peer's status; keys that are missing are left alone."""
        self._settled.set(1 if status.get("settled") else 0)
        self._draws.set(status.get("draws") or 0)
        self._exchanges.set(status.get("exchanges") or 0)
        if status.get("noise_std"):
            self._noise.set((status.get("noise_left") or 0.0) / status["noise_std"])
        self._budget.set(status.get("budget_share") or 0.0)
        bound = status.get("plus_minus")
        self._bound.set(math.inf if bound is None else bound)
        self._notices.set(len(status.get("notices") or ()))
        self._show_neighbours(status.get("neighbours", {}))

    def _show_neighbours(self, neighbours: Mapping[str, Mapping[str, Any]]) -> None:
        self._evasive.set(sum(neighbour.get("unanswered") is not None for neighbour in neighbours.values()))
        found = Tally(str(neighbour.get("state", "unknown")) for neighbour in neighbours.values())
        for state in {*NEIGHBOUR_STATES, *found}:
            self._neighbours.labels(state).set(found[state])

    def render(self) -> bytes:
        """The Prometheus text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)
