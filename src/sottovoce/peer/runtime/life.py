"""A peer's life from start to end: its store, its transport, its conversations, and how they stop.

What users and operators ask of it is in :mod:`.node`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, PeerError
from ...foundation.system import keep_freed_memory
from ..membership.config import PeerConfig
from ..protocol import Protocol
from ..protocol.calling import Contacts
from ..protocol.messages import DEFAULT_TOPIC, Message
from ..protocol.noise import Draw, account_for
from ..protocol.state import PeerState, check_value
from ..protocol.units import LONG, Vector
from ..store import Identity, MemoryStore, Store
from ..transport.base import Observer, SilentObserver, Transport
from .clock import Clock, SystemClock
from .conversation import Conversation, Surroundings
from .following import Follower
from .keeping import Keeper
from .randomness import system_coins, system_noise
from .topics import Sources, Topics

__all__ = ["Living"]

Floats = npt.NDArray[np.float64]


class Living:
    """What a peer is made of; :class:`.node.Peer` explains the parameters."""

    def __init__(
        self,
        config: PeerConfig,
        value: Any = None,
        *,
        standing: bool = True,
        replace_value: bool = False,
        store: Store | None = None,
        transport: Transport | None = None,
        clock: Clock | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.config = config
        self._value = None if value is None else self._checked(value)
        self._takes_part, self._replace_value = standing, replace_value
        if not standing and value is not None:
            raise InvalidParameter("value must be left out for a peer without a part in the standing average")
        self._store, self._transport = store, transport
        self._clock: Clock = clock or SystemClock()
        self._observer: Observer = observer or SilentObserver()
        self._contacts = Contacts(config, self._clock.uniform)
        self._keeper: Keeper | None = None
        self._around: Surroundings | None = None
        self._standing: Conversation | None = None
        self._topics: Topics | None = None
        self._follower: Follower | None = None
        self._started = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process: int | None = None
        """In which it was started: it may have been made before a fork."""

    def __repr__(self) -> str:
        return f"<Peer {self.config.name} of {self.config.network}>"

    # -- life -----------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        if self._loop is not None:
            raise PeerError("a Peer is used in one `async with` only, once: make another one")
        self._loop, self._process = asyncio.get_running_loop(), os.getpid()
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
        if max(config.dimension, config.longest_topic) >= LONG:
            keep_freed_memory()
        if self._store is None and (self._value is not None or not self._takes_part or _has_store(config)):
            self._store = _store_for(config)
        if not self._takes_part:
            self._begin_without_value()
            return
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
        self._keeper = Keeper(protocol, self._store, self._observer, self._has_stopped)
        self._keeper.commit()

    def _begin_without_value(self) -> None:
        """A protocol that has no neighbours, shows nothing and is kept nowhere; topics have their own."""
        config, nothing = self.config, np.zeros(self.config.dimension, dtype=np.int64)
        protocol = Protocol.resume(
            config, None, value=nothing, account=account_for(config.noise_std, config.noise_decay, None),
            neighbours=(), draw=self._draw(), coin=self._coin(), stamp=self._clock.stamp,
        )  # fmt: skip
        self._keeper = Keeper(protocol, MemoryStore(), self._observer, self._has_stopped)

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
        assert self._store is not None
        self._topics = Topics(
            self._store, self._around, Sources(self._draw(), self._coin()), on_event=self._happened,
            failed=self._kept.fail,
        )  # fmt: skip
        self._follower = self._new_follower(self._transport)
        self._note_callers()
        self._started = self._clock.now()
        self._listen_to_the_dropped(self._transport)
        await self._transport.serve(self._hear, None if self._follower is None else self._follower.answer)
        if self._takes_part:
            self._standing.begin()
        self._topics.resume()

    def _hear(self, name: str, message: Message) -> asyncio.Future[Message | None]:
        """What the transport calls; ``name`` is authenticated."""
        if message.topic == DEFAULT_TOPIC and self._takes_part:
            return self._reached.talker.hear(name, message)
        return self._known_topics.hear(name, message)

    def _new_follower(self, transport: Transport) -> Follower | None:
        """Who keeps the roster up to date; nobody for a peer without one."""
        if self.config.identity is None:
            return None
        return Follower(
            lambda: self.config, self.config.identity, transport, self._clock, self._observer,
            spawn=self._reached.spawn, apply=self._take_up, stop=self._kept.fail,
        )  # fmt: skip

    async def _take_up(self, config: PeerConfig) -> None:
        """R49, R61: work with another roster from now on. The epoch ends before anything else changes."""
        standing, transport = self._reached, self._transport
        assert transport is not None
        self._protocol.reconfigure(config)
        for name in set(self._protocol.state.edges) - set(config.neighbours):
            self._protocol.drop(name)
            await standing.talker.say_goodbye(name, config.timeout)  # before its certificate is gone; R51 goes on
        self._protocol.align(config.neighbours if self._takes_part else ())
        self.config = config
        await transport.renew(config)
        self._listen_to_the_dropped(transport)
        self._note_callers()
        self._known_topics.reconfigure(config)
        self._kept.commit()
        self._kept.tell()
        standing.greet(self._protocol.state.edges)

    def _noticed(self, name: str, message: Message) -> None:
        if self._follower is not None and message.roster != self.config.roster:
            self._follower.heard(name, message)

    def _has_stopped(self, reason: PeerError) -> None:
        """The peer works no more: its store has failed, or it is no member any more. Topics wait in vain."""
        if self._topics is not None:
            self._topics.fail(reason)

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
        if self._process not in (None, os.getpid()):  # a fork: the store and all connections are the other process's
            return
        if self._standing is not None and self._kept.failure is None:
            names = [name for name in self._protocol.state.active if not self._contacts.unreachable(name)]
            await self._standing.stop()
            with contextlib.suppress(PeerError):
                await self._known_topics.stop()
                await asyncio.gather(*(self._standing.talker.greet(name) for name in names))
        await self._end()

    async def _halt(self) -> None:
        """Stop moving, without storing or saying anything more. (What ``testing`` calls a crash.)"""
        for part in (self._standing, self._topics):
            if part is not None:
                await part.halt()

    async def _end(self) -> None:
        if self._standing is not None:
            await self._standing.stop()
        if self._topics is not None:
            with contextlib.suppress(PeerError):
                await self._topics.stop()
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

    def _draw(self) -> Draw:
        """Where noise comes from: the operating system, always. (The seeded peer in ``testing`` replaces this.)"""
        return system_noise

    def _coin(self) -> Callable[[int], Any]:
        """Where fair coins come from: likewise."""
        return system_coins

    async def _aside(self, work: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Compute something that takes long, in a thread, so that the peer goes on. (``testing`` does it at once.)"""
        return await asyncio.to_thread(work, *arguments, **keywords)

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

    @property
    def _known_topics(self) -> Topics:
        if self._topics is None:
            raise PeerError("the peer has not been started: use `async with`")
        return self._topics

    def _check_loop(self) -> None:
        """Refuse a call from another event loop, as from another thread: nothing there would ever wake it."""
        if self._loop is not None and asyncio.get_running_loop() is not self._loop:
            raise PeerError(
                "a peer is called in the event loop in which it was started: from another thread use BlockingPeer, or "
                "asyncio.run_coroutine_threadsafe"
            )

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

    identity = Identity(config.network, config.name, config.dimension, config.unit)
    store = SqliteStore(config.data_dir, identity)
    if config.account_file is None:
        return store
    return WitnessedStore(store, config.account_file, exact=config.smallest_std is not None)
