"""The asyncio shell around the protocol: it moves messages and time, and decides nothing.

What is here: a peer's life from start to end, and what users and operators ask of it. :mod:`.conversation` keeps one
average going, :mod:`.talking` carries messages, :mod:`.keeping` stores the state, and every decision is made in
:mod:`sottovoce.peer.protocol`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, PeerError
from ..membership.config import PeerConfig
from ..protocol import Protocol
from ..protocol.calling import Contacts
from ..protocol.messages import Message
from ..protocol.noise import account_for
from ..protocol.state import PeerState, check_value
from ..protocol.status import PeerStatus, status_of
from ..protocol.units import Vector
from ..store import Identity, MemoryStore, Store
from ..transport.base import Observer, SilentObserver, Transport
from .clock import Clock, SystemClock
from .conversation import Conversation, Surroundings
from .following import Follower
from .keeping import Keeper
from .randomness import system_coins, system_normal

__all__ = ["Peer"]

Floats = npt.NDArray[np.float64]


class Peer:
    """One party of a private average.

    Parameters
    ----------
    config
        Everything but the private value.
    value
        The private value: a number, or as many as ``config.dimension``. It may be left out when the store has one.
        If the store has another, the stored one counts and this one is not used, unless ``replace_value``.
    replace_value
        Let ``value`` take the place of a different stored one, as :meth:`set_value` with ``new_secret=False`` does.
    store, transport, clock, observer
        For tests and special needs; by default SQLite in ``config.data_dir``, gRPC over mutual TLS, the machine's
        clock, and silence.

    Examples
    --------
    ::

        async with Peer(PeerConfig.load("ada.toml"), value=12.5) as peer:
            print(await peer.settled())
    """

    def __init__(
        self,
        config: PeerConfig,
        value: Any = None,
        *,
        replace_value: bool = False,
        store: Store | None = None,
        transport: Transport | None = None,
        clock: Clock | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.config = config
        self._value = None if value is None else self._checked(value)
        self._replace_value = replace_value
        self._store, self._transport = store, transport
        self._clock: Clock = clock or SystemClock()
        self._observer: Observer = observer or SilentObserver()
        self._contacts = Contacts(config, self._clock.uniform)
        self._keeper: Keeper | None = None
        self._around: Surroundings | None = None
        self._standing: Conversation | None = None
        self._follower: Follower | None = None
        self._started = 0.0

    def __repr__(self) -> str:
        return f"<Peer {self.config.name} of {self.config.network}>"

    # -- life -----------------------------------------------------------------------------------

    async def __aenter__(self) -> Peer:
        try:
            self._begin()
            await self._reach_out()
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _begin(self) -> None:
        """Open the store and go on from it, as configured now (R2, R3)."""
        config = self.config
        if self._store is None and (self._value is not None or _has_store(config)):
            self._store = _store_for(config)
        stored = None if self._store is None else self._store.load()
        account = account_for(config.noise_std, config.noise_decay, config.smallest_std)
        if self._store is not None and self._store.went_back:
            self._observer.log("error", _WENT_BACK, neighbour="")
        protocol = Protocol.resume(
            config,
            stored,
            value=self._value if stored is None else self._successor(stored),
            account=account if self._store is None else account.carrying(self._store.shown),
            neighbours=config.neighbours,
            draw=self._draw(),
            coin=self._coin(),
            stamp=self._clock.stamp,
            on_event=self._happened,
        )
        self._value = None  # kept in one place only
        assert self._store is not None  # without a store and without a value there is nothing to resume
        self._keeper = Keeper(protocol, self._store, self._observer)
        self._keeper.commit()

    def _successor(self, stored: PeerState) -> Vector | None:
        """The value that takes the place of the stored one, if any may: the store is its owner."""
        if self._value is None or np.array_equal(self._value, stored.value):
            return None
        if self._replace_value:
            self._observer.log("warning", "the stored private value is replaced by the given one")
            return self._value
        self._observer.log("warning", "the given private value is not used: the store has another, and it counts")
        return None

    async def _reach_out(self) -> None:
        """Listen, say HELLO to everybody, and start the clock."""
        if self._transport is None:
            from ..transport.grpc import GrpcTransport

            self._transport = GrpcTransport.from_config(self.config, self._observer)
        self._around = Surroundings(
            lambda: self.config, self._transport, self._clock, self._observer, self._contacts, self._noticed
        )
        self._standing = Conversation(self._kept, self._around)
        self._follower = self._new_follower(self._transport)
        self._note_callers()
        self._started = self._clock.now()
        self._listen_to_the_dropped(self._transport)
        await self._transport.serve(
            self._standing.talker.hear, None if self._follower is None else self._follower.answer
        )
        self._standing.begin()

    def _new_follower(self, transport: Transport) -> Follower | None:
        """Who keeps the roster up to date; nobody for a peer without one."""
        if self.config.identity is None:
            return None
        return Follower(
            lambda: self.config, self.config.identity, transport, self._clock, self._observer,
            spawn=self._reached.spawn, apply=self._take_up, stop=self._kept.fail,
        )  # fmt: skip

    def _noticed(self, name: str, message: Message) -> None:
        if self._follower is not None and message.roster != self.config.roster:
            self._follower.heard(name, message)

    def _note_callers(self) -> None:
        assert self._around is not None
        self._around.callers.clear()
        known = {**self.config.others, **self.config.neighbours}
        self._around.callers.update(name for name, address in known.items() if address is None)

    def _listen_to_the_dropped(self, transport: Transport) -> None:
        """R51: whoever was dropped may ask, and is told, until it has heard it or a roster says that it is gone."""
        config = self.config
        for name in set(self._protocol.state.partings).difference(config.others):
            self._protocol.gone(name)
        for name in {*self._protocol.state.partings, *config.without}.intersection(config.others):
            transport.add_neighbour(name, config.others[name])

    async def close(self) -> None:
        """Stop cleanly: show the neighbours the ledger once more (R22), store, close."""
        if self._standing is not None and self._kept.failure is None:
            names = [name for name in self._protocol.state.active if not self._contacts.unreachable(name)]
            await self._standing.stop()
            with contextlib.suppress(PeerError):
                await asyncio.gather(*(self._standing.talker.greet(name) for name in names))
        await self._end()

    async def _end(self) -> None:
        if self._standing is not None:
            await self._standing.stop()
        if self._keeper is not None:
            with contextlib.suppress(PeerError):
                self._keeper.commit()
        if self._transport is not None:
            await self._transport.close()
        if self._keeper is not None:  # what was heard meanwhile
            with contextlib.suppress(PeerError):
                self._keeper.commit()
        if self._store is not None:
            self._store.close()

    def _draw(self) -> Callable[[int], Any]:
        """Where noise comes from: the operating system, always. (The seeded peer in ``testing`` replaces this.)"""
        return system_normal

    def _coin(self) -> Callable[[int], Any]:
        """Where fair coins come from: likewise."""
        return system_coins

    # -- what users ask -------------------------------------------------------------------------

    @property
    def estimate(self) -> float | Floats:
        """The current estimate of the mean as floats: a number if values are numbers, else a vector.

        :attr:`PeerStatus.estimate_text` has it exactly, in decimal digits.
        """
        shown = self.config.units.to_values(self._protocol.state.shown)
        return float(shown[0]) if self.config.dimension == 1 else shown

    async def settled(self, timeout: float | None = None) -> float | Floats:  # noqa: ASYNC109 - convenience
        """Wait until all peers are known to agree to the tolerance; return the estimate.

        Raises
        ------
        TimeoutError
            Not within ``timeout`` seconds.
        PeerError
            The peer had to stop, because its store failed.
        """
        await asyncio.wait_for(self._kept.until(lambda: self._protocol.settled), timeout)
        return self.estimate

    async def quiet(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - convenience
        """Wait until all neighbours have settled too, so that none of them still needs this peer."""
        await asyncio.wait_for(self._kept.until(lambda: self._protocol.quiet), timeout)

    async def failed(self) -> PeerError:
        """Wait until the peer has to stop because its store failed; return the reason."""
        try:
            await self._kept.until(lambda: False)
        except PeerError as failure:
            return failure
        raise AssertionError("never comes true")

    @property
    def durable_state(self) -> PeerState:
        """What is kept on disk, the private value included: for backups only."""
        return self._protocol.state

    @property
    def trouble(self) -> str:
        """Why this peer does not work any more; empty as long as it does."""
        if self._keeper is not None and self._keeper.failure is not None:
            return str(self._keeper.failure)
        if self._standing is None or not self._standing.ticking:
            return "its own clock has stopped"
        return ""

    def status(self) -> PeerStatus:
        """What may be said about this peer now; no private value, no noise, no flow."""
        return status_of(
            self._protocol,
            self._contacts,
            network=self.config.network,
            smallest_std=self.config.smallest_std,
            now=self._clock.now(),
            started=self._started,
            notice="" if self._follower is None else self._follower.notice,
        )

    # -- what operators ask ---------------------------------------------------------------------

    async def set_value(self, value: Any, *, new_secret: bool = False) -> None:
        """Replace the private value; noise starts afresh (R24).

        Parameters
        ----------
        value
            The new one.
        new_secret
            The new value tells nothing about the old one, so the privacy account starts at zero. If in doubt leave
            it false: the account then goes on, and a budget may be spent sooner.
        """
        self._protocol.set_value(self._checked(value), new_secret=new_secret)
        self._kept.commit()
        self._kept.tell()

    async def follow_roster(self) -> str:
        """Take up the roster that was put in place while this peer runs (R61).

        Returns
        -------
        str
            What waits for the operator or for the next start, in a sentence; empty if the roster is in use.
        """
        if self._follower is None:
            raise PeerError("this peer has no roster")
        await self._follower.take_up()
        return self._follower.notice

    async def _take_up(self, config: PeerConfig) -> None:
        """R49, R61: work with another roster from now on. The epoch ends before anything else changes."""
        standing, transport = self._reached, self._transport
        assert transport is not None
        self._protocol.reconfigure(config)
        for name in set(self._protocol.state.edges) - set(config.neighbours):
            self._protocol.drop(name)
            await standing.talker.say_goodbye(name, config.timeout)  # before its certificate is gone; R51 goes on
        self._protocol.align(config.neighbours)
        self.config = config
        await transport.renew(config)
        self._listen_to_the_dropped(transport)
        self._note_callers()
        self._kept.commit()
        self._kept.tell()
        standing.greet(config.neighbours)

    async def add_neighbour(self, name: str, address: str | None) -> None:
        """A new neighbour (R23); its operator must add this peer, too."""
        standing, transport = self._reached, self._transport
        assert transport is not None
        message = self._protocol.add(name)
        transport.add_neighbour(name, address)
        self._kept.commit()
        self._kept.tell()
        standing.spawn(standing.talker.talk, message)

    async def drop_neighbour(self, name: str) -> bool:
        """Forget a neighbour and the flow to it (R23). Returns whether it has heard it.

        If not, this peer goes on telling it, also after a restart, until it answers or a roster says that it is gone
        (R51); until then its state in :meth:`status` is ``parting``.
        """
        talker = self._reached.talker
        if name not in self._protocol.state.edges:
            raise InvalidParameter(f"neighbour must be one of this peer's, got {name!r}")
        told = await talker.part(name)
        self._kept.tell()
        return told

    async def leave(self) -> list[str]:
        """Leave the network for good: the others' average will be that of those who stay.

        Returns
        -------
        list of str
            Neighbours that could not be told. Their operators must drop this peer.
        """
        talker = self._reached.talker
        await self._reached.stop()
        names = sorted(self._protocol.state.edges)
        told = await asyncio.gather(*(talker.part(name) for name in names))
        self._observer.log("info", "left", told=sum(told), neighbours=len(names))
        return [name for name, heard in zip(names, told, strict=True) if not heard]

    # -- helpers --------------------------------------------------------------------------------

    def _happened(self, event: str, name: str) -> None:
        """Count what the protocol reports, and log what an operator must know."""
        self._observer.count(event, name)
        if event in _TOLD:
            self._observer.log(*_TOLD[event], neighbour=name)

    @property
    def _kept(self) -> Keeper:
        if self._keeper is None:
            raise PeerError("the peer has not been started: use `async with`")
        return self._keeper

    @property
    def _protocol(self) -> Protocol:
        return self._kept.protocol

    @property
    def _reached(self) -> Conversation:
        if self._standing is None:
            raise PeerError("the peer has not been started: use `async with`")
        return self._standing

    def _checked(self, value: Any) -> Vector:
        config = self.config
        return config.units.from_values(
            check_value(value, dimension=config.dimension, low=config.low, high=config.high)
        )


_WENT_BACK = "store went back: it is older than the privacy account beside the key, which goes on from there"

_TOLD = {
    "parting-heard": ("info", "a neighbour that was dropped has heard it"),
    "store-went-back": ("error", "store went back: this peer's state is older than what a neighbour remembers"),
}
"""Events that are logged, too: at which level and in which words."""


def _has_store(config: PeerConfig) -> bool:
    return config.data_dir is not None and (config.data_dir / "peer.sqlite").exists()


def _store_for(config: PeerConfig) -> Store:
    if config.data_dir is None:
        return MemoryStore()
    from ..store.sqlite import SqliteStore
    from ..store.witnessed import WitnessedStore

    store = SqliteStore(config.data_dir, Identity(config.network, config.name, config.dimension, config.unit))
    return store if config.account_file is None else WitnessedStore(store, config.account_file)
