"""A whole network of peers in one thread and in virtual time, with every failure the protocol must survive.

The peers are the real :class:`~sottovoce.peer.protocol.Protocol`; what is simulated is all around
them: clocks, a network that loses, repeats and delays messages, disks, crashes. Messages travel on their
own, replies too, which is harsher than the request and response of a real connection. Everything follows
from one seed. A seeded peer protects nobody: this is for tests and for studying the protocol.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ProtocolViolation
from ..peer.protocol import PeerState, Protocol, Settings
from ..peer.protocol.messages import DEFAULT_TOPIC, Message
from ..peer.protocol.noise import rounded
from ..peer.protocol.openings import topic_id
from ..peer.protocol.settings import TopicSettings
from ..peer.protocol.units import Unit, Vector
from ..privacy.gaussian.account import Account
from . import balance

__all__ = ["Conditions", "SimulatedNetwork", "SimulatedPeer"]


@dataclass(frozen=True)
class Conditions:
    """What fails, and how often.

    Parameters
    ----------
    loss, duplication
        Probability that a message is lost; that it arrives twice.
    delay
        Mean time on the way, exponential, so that messages overtake each other.
    crash
        Probability that a peer crashes while it handles an input: half of them before the state is stored,
        half after it and before anything is sent.
    disk_loss
        Share of crashes that also lose the disk.
    downtime
        Mean time until a crashed peer is back.
    """

    loss: float = 0.0
    duplication: float = 0.0
    delay: float = 0.005
    crash: float = 0.0
    disk_loss: float = 0.0
    downtime: float = 1.0


class SimulatedPeer:
    """A protocol, its disk, and whether it is running."""

    def __init__(self, settings: Settings, state: PeerState, make: Callable[..., Protocol]) -> None:
        self.settings = settings
        self.disk: PeerState | None = state
        self.origin = state
        """What the operator can always provide again: the private value and the noise parameters (R3)."""
        self._make = make
        self.starts = 0
        self.protocol: Protocol | None = None

    def start(self) -> list[Message]:
        """R2, R3. Returns the HELLOs to send."""
        self.starts += 1
        recovering = self.disk is None
        state = self.disk or self.origin
        self.protocol = self._make(self.settings, state, recovering=recovering)
        self.disk = self.protocol.state
        return [self.protocol.greet(name) for name in self.protocol.state.edges]

    def crash(self, *, lose_disk: bool = False) -> None:
        """Stop without warning."""
        self.protocol = None
        if lose_disk:
            self.disk = None

    @property
    def durable(self) -> PeerState:
        """The state on disk, or what a new start would begin with."""
        return self.disk or self.origin


class SimulatedNetwork:
    """Peers, their neighbours, and the network between them.

    Parameters
    ----------
    edges
        Pairs of names.
    values
        Private value (a number or a vector) per name.
    noise_std, noise_decay, budget
        The same for all peers here.
    seed
        Decides everything random.
    settings
        Of the protocol, the same for all: fields of :class:`~sottovoce.peer.protocol.Settings`. Unless given, the
        diameter is 1, the unit 10⁻⁶, values may lie within ± 1000, seals have deviation 1, there is room for as many
        members again, and times are those of a fast network. With ``missing`` the network is that of a topic.
    """

    def __init__(
        self,
        edges: Iterable[tuple[str, str]],
        values: Mapping[str, Any],
        *,
        noise_std: float,
        noise_decay: float,
        seed: int,
        budget: float = float("inf"),
        conditions: Conditions | None = None,
        **settings: Any,
    ) -> None:
        self.conditions = conditions or Conditions()
        self.random = random.Random(seed)
        self._draws = np.random.default_rng(seed)
        self._budget, self._noise = budget, (noise_std, noise_decay)
        self._settings: dict[str, Any] = {
            "diameter": 1, "timeout": 0.05, "sync_interval": 2.0, "grace": 3.0, "unit": "0.000001", "low": -1e3,
            "high": 1e3, "seal_std": 1.0, "members": 2 * len(values) + 16, "max_degree": len(values) + 8,
            "min_open_edges": 1, **settings,
        }  # fmt: skip
        self.unit = Unit(self._settings["unit"])
        self._joined = 0
        self.now = 0.0
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._groups: dict[str, int] = {}
        self._without: set[tuple[str, str]] = set()
        self.links: set[frozenset[str]] = set()
        self.peers: dict[str, SimulatedPeer] = {}
        self.liars: dict[str, Callable[[Message], Message | None]] = {}
        """What becomes of everything that a peer says: for peers that lie. ``None``: it stays silent."""
        self.witness: Callable[[str, PeerState, PeerState, Message | None], None] = lambda *_: None
        """Told of every input: whose, the state before and after, and what is sent; see :mod:`.transcripts`."""
        self.stopped_ticking = False
        self.messages_sent = 0
        self.crashes = 0
        for name in sorted(values):
            self.join(name, values[name], ())
        for a, b in edges:
            self.connect(a, b)

    # -- membership -----------------------------------------------------------------------------

    def join(self, name: str, value: Any, neighbours: Iterable[str]) -> None:
        """A new peer."""
        vector = self.unit.from_values(value)
        noise_std, noise_decay = self._noise
        kind = TopicSettings if "missing" in self._settings else Settings
        settings = kind(
            name=name, dimension=len(vector), noise_std=noise_std, noise_decay=noise_decay, index=self._joined,
            **self._settings,
        )  # fmt: skip
        self._joined += 1
        account = Account(*self._noise, budget=self._budget)
        self.peers[name] = SimulatedPeer(settings, PeerState(vector, account), self._make)
        self._begin(name)
        for other in neighbours:
            self.connect(name, other)

    def connect(self, a: str, b: str) -> None:
        """Both operators add the other."""
        self.links.add(frozenset((a, b)))
        self._without -= {(a, b), (b, a)}
        for one, other in ((a, b), (b, a)):
            self._act(one, functools.partial(Protocol.add, name=other))

    def disconnect(self, a: str, b: str) -> None:
        """Only ``a``'s operator drops ``b``; ``b`` learns of it by a BYE, perhaps late. A restart brings it back."""
        self._act(a, lambda protocol: protocol.drop(b))

    def leave_out(self, a: str, b: str) -> None:
        """In a topic, ``a`` loses patience with ``b``, which is silent."""
        self._act(a, lambda protocol: protocol.leave_out(b))

    def drop(self, a: str, b: str) -> None:
        """As :meth:`disconnect`, and ``a``'s configuration says so too. If ``a`` is down it acts at its next start."""
        self._without.add((a, b))
        self.disconnect(a, b)

    def leave(self, name: str, *, told: bool = True) -> None:
        """``name`` leaves for good. ``told``: the operators of its neighbours drop it too."""
        peer = self.peers.pop(name)
        others = self._neighbours(name)
        self.links = {link for link in self.links if name not in link}
        if peer.protocol is not None:
            for other in others:
                self._send(peer.protocol.drop(other))
        if told:
            for other in others:
                self._act(other, lambda protocol: protocol.drop(name))
        for rest in self.peers.values():
            if rest.protocol is not None:
                rest.protocol.gone(name)  # as a roster with its tombstone says

    def set_value(self, name: str, value: Any) -> None:
        """Another private value; the operator would also provide this one after a disk loss."""
        vector = self.unit.from_values(value)
        peer = self.peers[name]
        peer.origin = replace(peer.origin, value=vector)
        self._act(name, lambda protocol: protocol.set_value(vector, new_secret=True))

    def partition(self, *groups: Iterable[str]) -> None:
        """Only peers of the same group reach each other; without arguments everybody does."""
        self._groups = {name: index for index, group in enumerate(groups) for name in group}

    def crash(self, name: str, *, lose_disk: bool = False) -> None:
        """Crash now and come back after a while."""
        self.peers[name].crash(lose_disk=lose_disk)
        self.crashes += 1
        self._after(self.random.expovariate(1.0 / self.conditions.downtime), lambda: self._restart(name))

    def heal(self) -> None:
        """From now on nothing fails; crashed peers are started."""
        self.conditions = Conditions(delay=self.conditions.delay)
        self.partition()
        for name, peer in self.peers.items():
            if peer.protocol is None:
                self._begin(name)

    # -- running --------------------------------------------------------------------------------

    def run(self, seconds: float, until: Callable[[], bool] | None = None) -> bool:
        """Run for so long in virtual time, or until something holds. Returns whether it held."""
        end = self.now + seconds
        while self._queue and self._queue[0][0] <= end:
            self.now, _, action = heapq.heappop(self._queue)
            action()
            if until is not None and until():
                return True
        self.now = end
        return until is not None and until()

    def quiesce(self) -> None:
        """No more exchanges: deliver what is on the way, then let all peers show each other their ledgers."""
        self.heal()
        self.stopped_ticking = True
        self.run(1000.0)
        for _ in range(3):
            for peer in self.peers.values():
                assert peer.protocol is not None
                for other in list(peer.protocol.state.edges):
                    self._send(peer.protocol.greet(other))
                self.run(50.0)
        self.stopped_ticking = False
        for name in self.peers:
            self._schedule_tick(name, self.peers[name].starts)

    @property
    def settled(self) -> bool:
        """Whether every peer is running and says so."""
        return all(p.protocol is not None and p.protocol.rule.settled for p in self.peers.values())

    # -- what only an onlooker can know ---------------------------------------------------------

    def states(self) -> dict[str, PeerState]:
        """The state of every peer; of a crashed one what is on its disk."""
        return {n: p.protocol.state if p.protocol is not None else p.durable for n, p in self.peers.items()}

    def estimates(self) -> dict[str, Vector]:
        """x of every peer, in units."""
        return {name: state.shown for name, state in self.states().items()}

    def true_mean(self) -> npt.NDArray[np.float64]:
        """The mean of the private values of the members, in units."""
        return balance.true_mean(self.states())

    def largest_error(self) -> float:
        """Largest |estimate − true mean| over peers and coordinates."""
        return balance.largest_error(self.states()) * self.unit.number

    def asymmetric_edges(self) -> list[tuple[str, str]]:
        """Edges whose two flows do not cancel."""
        return balance.asymmetric_edges(self.states(), self._pairs())

    def mass_error(self) -> int:
        """|Σx − Σc − Σu| in units: zero whenever no reply is missing."""
        return int(abs(balance.unaccounted(self.states())).max())

    def spread(self) -> int:
        """Largest difference between two peers' values in any coordinate, in units."""
        return int(np.ptp(np.stack(list(self.estimates().values())), axis=0).max())

    def broken_invariants(self) -> list[str]:
        """V2 and V3 on every edge whose two ends know each other's life; true at every instant, whatever fails."""
        return balance.broken_invariants(self.states(), self._pairs())

    def _pairs(self) -> list[tuple[str, str]]:
        pairs = sorted((min(link), max(link)) for link in self.links)
        return [(a, b) for a, b in pairs if not {(a, b), (b, a)} & self._without]

    # -- machinery ------------------------------------------------------------------------------

    def _make(self, settings: Settings, state: PeerState, *, recovering: bool) -> Protocol:
        protocol = Protocol(
            settings, state, draw=rounded(self._draws.standard_normal),
            coin=lambda count: self._draws.integers(2, size=count), stamp=self._stamp, recovering=recovering,
            topic=topic_id("simulated") if settings.missing else DEFAULT_TOPIC,
        )  # fmt: skip
        protocol.align(self._neighbours(settings.name))  # an operator may have dropped some while the peer was down
        for other in set(protocol.state.partings).difference(self.peers):
            protocol.gone(other)
        return protocol

    def _neighbours(self, name: str) -> list[str]:
        around = (next(iter(link - {name})) for link in self.links if name in link)
        return sorted(other for other in around if (name, other) not in self._without)

    def _stamp(self) -> int:
        return (int(self.now * 1000) + 1 << 16) | self.random.getrandbits(16)

    def _begin(self, name: str) -> None:
        peer = self.peers[name]
        for message in peer.start():
            self._send(message)
        start = peer.starts
        self._schedule_tick(name, start)
        self._schedule_farewells(name, start)
        self._after(peer.settings.grace, lambda: self._patience_ends(name, start))

    def _schedule_farewells(self, name: str, start: int) -> None:
        def tell() -> None:
            protocol = self._running(name, start)
            if protocol is not None:
                for other in protocol.state.partings:
                    self._send(protocol.farewell(other))
                self._schedule_farewells(name, start)

        self._after(self.peers[name].settings.sync_interval, tell)

    def _restart(self, name: str) -> None:
        if name in self.peers and self.peers[name].protocol is None:
            self._begin(name)

    def _patience_ends(self, name: str, start: int) -> None:
        protocol = self._running(name, start)
        if protocol is not None:
            protocol.recovering = False

    def _running(self, name: str, start: int) -> Protocol | None:
        peer = self.peers.get(name)
        return peer.protocol if peer is not None and peer.starts == start else None

    def _after(self, delay: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (self.now + delay, next(self._order), action))

    def _schedule_tick(self, name: str, start: int) -> None:
        protocol = self._running(name, start)
        if protocol is not None:
            pause = protocol.pause(self.random.random(), lately=2.0 * self.conditions.delay)  # there and back
            self._after(pause, lambda: self._tick(name, start))

    def _tick(self, name: str, start: int) -> None:
        protocol = self._running(name, start)
        if protocol is None or self.stopped_ticking:
            return
        choice = protocol.whose_turn(self.random.random())
        self._act(name, lambda protocol: protocol.tick(choice))
        protocol = self._running(name, start)
        if protocol is not None and protocol.pending is not None:
            self._arm_timer(name, start, protocol.pending.message, protocol.settings.timeout)
        self._schedule_tick(name, start)

    def _arm_timer(self, name: str, start: int, request: Message, wait: float) -> None:
        def expire() -> None:
            protocol = self._running(name, start)
            again = None if protocol is None else protocol.unanswered(request, late=True)
            if again is not None:
                self._send(again)
                self._arm_timer(name, start, again, 2.0 * wait)

        self._after(wait, expire)

    def _act(self, name: str, action: Callable[[Protocol], Message | None]) -> None:
        """One input: compute, store, send, with a crash in between now and then (R1)."""
        peer = self.peers[name]
        if peer.protocol is None:
            return
        before = peer.protocol.state
        message = action(peer.protocol)
        self.witness(name, before, peer.protocol.state, message)
        crash = self.random.random() < self.conditions.crash
        early = crash and self.random.random() < 0.5
        # What nothing was sent for may be stored later: a crash then is the loss of the message that caused it.
        if not early and (message is not None or self.random.random() < 0.5):
            peer.disk = peer.protocol.state
        if crash:
            self.crash(name, lose_disk=self.random.random() < self.conditions.disk_loss)
            return
        self._send(message)
        for greeting in peer.protocol.news():
            self._send(greeting)

    def _send(self, message: Message | None) -> None:
        if message is None:
            return
        self.messages_sent += 1
        lie = self.liars.get(message.src)
        message = message if lie is None else lie(message)
        if message is None or self._groups.get(message.src) != self._groups.get(message.dst):
            return
        if self.random.random() < self.conditions.loss:
            return
        for _ in range(2 if self.random.random() < self.conditions.duplication else 1):
            self._after(self.random.expovariate(1.0 / self.conditions.delay), lambda: self._deliver(message))

    def _deliver(self, message: Message) -> None:
        if message.dst not in self.peers:
            return

        def receive(protocol: Protocol) -> Message | None:
            try:
                return protocol.receive(message)
            except ProtocolViolation:
                return None

        self._act(message.dst, receive)
