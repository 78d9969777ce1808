"""The asyncio shell around the protocol: it moves messages and time, and decides nothing.

Inputs are handled one at a time, on the event loop: compute, store, then send (R1). An input that has
nothing to say is stored with the next one that has, or a moment later: a crash in between is the loss of a
message, which the protocol survives anyway, and an exchange costs one transaction on each side.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np

from ...errors import ConfigError, InvalidParameter, PeerError, ProtocolViolation, StoreError
from ..membership.config import PeerConfig
from ..process.values import check_value
from ..protocol import PeerState, Protocol, Settings
from ..protocol.messages import Message, Vector
from ..store import Identity, MemoryStore, Store
from ..transport.base import CallFailed, Observer, SilentObserver, Transport
from .budget import account_for, system_normal
from .clock import Backoff, Clock, Pace, SystemClock, exponential, own_rate
from .status import NeighbourStatus, Status, explain

__all__ = ["Peer"]

_FLUSH_DELAY = 0.05
"""Seconds after which an input that nothing was sent for is stored on its own."""
_LONGEST_TALK = 4
"""Messages in a row to one neighbour in one turn; more can wait for the next tick."""
_SECONDS_PER_COORDINATE = 1e-6
"""What a timeout is lengthened by, so that a million coordinates have time to travel and to be stored."""


class Peer:
    """One party of a private average.

    Parameters
    ----------
    config
        Everything but the private value.
    value
        The private value: a number, or as many as ``config.dimension``. It may be left out when the store has one.
        If it differs from the stored one, it is taken as a change of value that may be related to the old one
        (:meth:`set_value` with ``new_secret=False``).
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
        store: Store | None = None,
        transport: Transport | None = None,
        clock: Clock | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.config = config
        self._value = None if value is None else self._checked(value)
        self._store = store
        self._transport = transport
        self._clock: Clock = clock or SystemClock()
        self._observer: Observer = observer or SilentObserver()
        self._timeout = config.timeout + _SECONDS_PER_COORDINATE * config.dimension
        self._backoff = Backoff(self._timeout, config.backoff_max, self._clock.uniform)
        self._pace = Pace(max(100.0, 20.0 * config.rate, 20.0 * config.bucket_burst))
        self._protocol: Protocol | None = None
        self._saved: PeerState | None = None
        self._flush: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: PeerError | None = None
        self._news = asyncio.Event()
        self._started = 0.0
        self._heard: dict[str, float] = {}

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
        """Open the store and bring its state in line with the configuration (R2, R3)."""
        config = self.config
        if self._store is None:
            if self._value is None and not _has_store(config):  # before a folder is made
                raise _needs_value(config)
            self._store = _store_for(config)
        state = self._store.load()
        recovering = state is None
        account = account_for(config.noise_std, config.noise_decay, config.smallest_std)
        if state is None:
            if self._value is None:
                raise _needs_value(config)
            state = PeerState(self._value, account)
        else:
            account = replace(account, information=state.account.information, messages=state.account.messages)
            state = replace(state, account=account)
        self._protocol = protocol = Protocol(
            _settings_for(config),
            state,
            draw=self._draw(),
            stamp=self._clock.stamp,
            recovering=recovering,
            on_event=self._observer.count,
        )
        if self._value is not None and not np.array_equal(self._value, state.value):
            protocol.set_value(self._value, new_secret=False)
        self._value = None  # kept in one place only
        for name in set(state.edges) - set(config.neighbours):
            protocol.drop(name)
        for name in config.neighbours:
            protocol.add(name)
        self._commit()

    async def _reach_out(self) -> None:
        """Listen, say HELLO to everybody, and start the clock."""
        if self._transport is None:
            from ..transport.grpc import GrpcTransport

            self._transport = GrpcTransport.from_config(self.config, self._observer)
        self._started = self._clock.now()
        await self._transport.serve(self._on_message)
        for name in self.config.neighbours:
            self._spawn(self._greet, name)
        self._spawn(self._patience)
        self._spawn(self._keep_time)

    async def close(self) -> None:
        """Stop cleanly: show the neighbours the ledger once more (R22), store, let go."""
        if self._protocol is not None and self._failure is None:
            names = [n for n in self._running.state.active if not self._backoff.unreachable(n)]
            await self._stop_tasks()
            with contextlib.suppress(PeerError):
                await asyncio.gather(*(self._greet(name) for name in names))
        await self._end()

    async def _end(self) -> None:
        await self._stop_tasks()
        with contextlib.suppress(StoreError):
            if self._failure is None:
                self._commit()
        if self._transport is not None:
            await self._transport.close()
        if self._store is not None:
            self._store.close()

    async def _stop_tasks(self) -> None:
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _draw(self) -> Callable[[int], Any]:
        """Where noise comes from: the operating system, always. (The seeded peer in ``testing`` replaces this.)"""
        return system_normal

    # -- what users ask -------------------------------------------------------------------------

    @property
    def estimate(self) -> float | Vector:
        """The current estimate of the mean: a number if values are numbers, else a copy of the vector."""
        shown = self._running.state.shown
        return float(shown[0]) if self.config.dimension == 1 else shown.copy()

    async def settled(self, timeout: float | None = None) -> float | Vector:  # noqa: ASYNC109 - convenience
        """Wait until all peers are known to agree to the tolerance; return the estimate.

        Raises
        ------
        TimeoutError
            Not within ``timeout`` seconds.
        PeerError
            The peer had to stop, because its store failed.
        """
        await asyncio.wait_for(self._until(lambda: self._running.settled), timeout)
        return self.estimate

    async def quiet(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - convenience
        """Wait until all neighbours have settled too, so that none of them still needs this peer."""
        await asyncio.wait_for(self._until(lambda: self._running.quiet), timeout)

    async def failed(self) -> PeerError:
        """Wait until the peer has to stop because its store failed; return the reason."""
        try:
            await self._until(lambda: False)
        except PeerError as failure:
            return failure
        raise AssertionError("never comes true")

    async def _until(self, holds: Callable[[], bool]) -> None:
        while True:
            if self._failure is not None:
                raise self._failure
            if holds():
                return
            await self._news.wait()

    def status(self) -> Status:
        """What may be said about this peer now; no private value, no noise, no flow."""
        protocol, config = self._running, self.config
        state, account, now = protocol.state, protocol.state.account, self._clock.now()
        unreachable = [name for name in state.active if self._backoff.unreachable(name)]
        return Status(
            name=config.name,
            network=config.network,
            dimension=config.dimension,
            estimate=state.shown if _was_moved(state) else None,
            plus_minus=protocol.error_bound,
            settled=protocol.settled,
            statement=explain(protocol, unreachable),
            noise_left=state.amplitude,
            noise_std=config.noise_std,
            draws=account.messages,
            account=account.information,
            known_to=account.std,
            smallest_std=config.smallest_std,
            budget_spent=not account.affords(),
            exchanges=protocol.exchanges,
            round=protocol.rule.round,
            uptime=now - self._started,
            neighbours={name: self._neighbour_status(name, now) for name in sorted(state.edges)},
        )

    def _neighbour_status(self, name: str, now: float) -> NeighbourStatus:
        edge = self._running.state.edges[name]
        state = "parted" if edge.parted else "blank" if edge.blank else "open"
        if self._backoff.unreachable(name) and not edge.parted:
            state = "unreachable"
        heard = self._heard.get(name)
        return NeighbourStatus(state, None if heard is None else now - heard)

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
        self._running.set_value(self._checked(value), new_secret=new_secret)
        self._commit()
        self._tell()

    async def add_neighbour(self, name: str, address: str) -> None:
        """A new neighbour (R23); its operator must add this peer, too."""
        transport = self._line
        message = self._running.add(name)
        transport.add_neighbour(name, address)
        self._commit()
        self._tell()
        self._spawn(self._talk, name, message)

    async def drop_neighbour(self, name: str) -> bool:
        """Forget a neighbour and the flow to it (R23). Returns whether it could be told."""
        if name not in self._running.state.edges:
            raise InvalidParameter(f"neighbour must be one of this peer's, got {name!r}")
        told = await self._part(name)
        await self._line.drop_neighbour(name)
        self._tell()
        return told

    async def leave(self) -> list[str]:
        """Leave the network for good: the others' average will be that of those who stay.

        Returns
        -------
        list of str
            Neighbours that could not be told. Their operators must drop this peer.
        """
        await self._stop_tasks()
        names = sorted(self._running.state.edges)
        told = await asyncio.gather(*(self._part(name) for name in names))
        self._observer.log("info", "left", told=sum(told), neighbours=len(names))
        return [name for name, heard in zip(names, told, strict=True) if not heard]

    async def _part(self, name: str) -> bool:
        message = self._running.drop(name)
        self._commit()
        timeout = self._timeout
        for _ in range(self.config.retries + 1):
            if message is None:
                return True
            try:
                await self._line.call(name, message, timeout)
            except CallFailed as failure:
                if failure.reason == "refused":
                    return False
                timeout *= 2.0
                await self._clock.sleep(timeout * (0.5 + 0.5 * self._clock.uniform()))
            else:
                return True
        return False

    # -- time -----------------------------------------------------------------------------------

    async def _keep_time(self) -> None:
        """R27: an exponential clock; each time it rings, one neighbour is called."""
        while True:
            protocol, config = self._running, self.config
            neighbours = max(len(protocol.state.active), 1)
            rate = own_rate(config.rate, neighbours, settled=protocol.quiet, sync_interval=config.sync_interval)
            hurried = await self._sleep_unless_unsettled(exponential(rate, self._clock.uniform()), quiet=protocol.quiet)
            if not hurried:
                await self._turn()

    async def _sleep_unless_unsettled(self, seconds: float, *, quiet: bool) -> bool:
        """Sleep; a settled peer wakes early when that ends. Returns whether it did."""
        if not quiet:
            await self._clock.sleep(seconds)
            return False
        try:
            await asyncio.wait_for(self._until(lambda: not self._running.quiet), seconds)
        except TimeoutError:
            return False
        return True

    async def _turn(self) -> None:
        """R16: one own tick."""
        active = self._running.state.active
        choice = active[int(self._clock.uniform() * len(active))] if active else None
        if choice is not None and self._backoff.silent(choice, self._clock.now()):
            choice = None
        message = self._running.tick(choice)
        if message is not None and choice is not None:
            await self._talk(choice, message)

    async def _patience(self) -> None:
        """R3: neighbours that did not answer in time are not waited for."""
        await self._clock.sleep(self.config.grace)
        self._running.recovering = False

    async def _greet(self, name: str) -> None:
        if name in self._running.state.edges:
            await self._talk(name, self._running.greet(name))

    # -- messages -------------------------------------------------------------------------------

    async def _talk(self, name: str, message: Message | None) -> None:
        """Send, take the reply as an input, send what follows from it. A request is not pending afterwards."""
        request = message
        for _ in range(_LONGEST_TALK):
            if message is None or self._failure is not None:
                break
            reply = await self._ask(name, message)
            message = None if reply is None else self._receive(name, reply)
        pending = self._protocol.pending if self._protocol is not None else None
        if pending is not None and pending.message is request:
            self._running.give_up()

    async def _ask(self, name: str, message: Message | None) -> Message | None:
        """One call; a request is repeated as R17 says, as long as only time has run out."""
        timeout = self._timeout
        self._commit()
        while message is not None:
            try:
                reply = await self._line.call(name, message, timeout)
            except CallFailed as failure:
                self._failed(name, failure)
                pending = self._running.pending
                repeat = failure.reason == "timeout" and pending is not None and pending.message is message
                message = self._running.expire() if repeat else None
                timeout *= 2.0
            else:
                self._answered(name)
                return reply
        return None

    def _failed(self, name: str, failure: CallFailed) -> None:
        """Leave a silent neighbour alone for a while, unless it has just been heard."""
        now = self._clock.now()
        if failure.reason == "timeout" and now - self._heard.get(name, -np.inf) < 4.0 * self._timeout:
            return
        first = not self._backoff.unreachable(name)
        pause = self._backoff.failed(name, now)
        if first:
            self._observer.log("warning", "neighbour unreachable", neighbour=name, reason=failure.reason, seconds=pause)

    def _answered(self, name: str) -> None:
        if self._backoff.unreachable(name):
            self._observer.log("info", "neighbour reachable", neighbour=name)
        self._backoff.answered(name)
        self._heard[name] = self._clock.now()

    async def _on_message(self, name: str, message: Message) -> Message | None:
        """What the transport calls; ``name`` is authenticated."""
        if self._failure is not None:
            raise self._failure
        if not self._pace.allows(name, self._clock.now()):
            self._observer.count("flood", name)
            return None
        return self._receive(name, message)

    def _receive(self, name: str, message: Message) -> Message | None:
        """One input. Returns what to say, already stored."""
        was_settled = self._running.settled
        message = message if message.src == name else replace(message, src=name)  # names are the transport's affair
        try:
            reply = self._running.receive(message)
        except ProtocolViolation as violation:
            self._observer.count("violation", name)
            self._observer.log("warning", "message refused", neighbour=name, why=str(violation))
            return None
        self._answered(name)
        if reply is not None:
            self._commit()
        elif self._flush is None and self._running.state is not self._saved:
            self._flush = asyncio.get_running_loop().call_later(_FLUSH_DELAY, self._commit_quietly)
        if was_settled != self._running.settled:
            self._observer.log("info", "settled" if self._running.settled else "no longer settled")
        self._tell()
        return reply

    def _tell(self) -> None:
        """Wake whoever waits for something to be so."""
        self._news.set()
        self._news = asyncio.Event()

    # -- the store ------------------------------------------------------------------------------

    def _commit(self) -> None:
        """R1: what is about to be said must be on disk. A store that fails ends the peer."""
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        if self._protocol is None or self._protocol.state is self._saved or self._store is None:
            return
        if self._failure is not None:
            raise self._failure
        try:
            self._store.save(self._protocol.state)
        except StoreError as failure:
            self._failure = failure
            self._observer.log("error", "store failed", why=str(failure))
            self._tell()
            raise
        self._saved = self._protocol.state

    def _commit_quietly(self) -> None:
        self._flush = None
        with contextlib.suppress(StoreError):  # remembered, and told to whoever waits
            self._commit()

    # -- helpers --------------------------------------------------------------------------------

    @property
    def _running(self) -> Protocol:
        if self._protocol is None:
            raise PeerError("the peer has not been started: use `async with`")
        return self._protocol

    @property
    def _line(self) -> Transport:
        if self._transport is None:
            raise PeerError("the peer has not been started: use `async with`")
        return self._transport

    def _checked(self, value: Any) -> Vector:
        checked = check_value(value, dimension=self.config.dimension, limit=self.config.value_limit)
        return np.array(checked, dtype=np.float64)

    def _spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        task = asyncio.ensure_future(self._guarded(work, *arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        """A failed store ends the background work; it is told to whoever waits for the peer."""
        try:
            await work(*arguments)
        except PeerError as failure:
            if self._failure is None:
                self._failure = failure
            self._tell()


def _was_moved(state: PeerState) -> bool:
    """Whether the value shown is no longer the private value alone."""
    exchanged = any(not edge.blank and edge.s + edge.r > 0 for edge in state.edges.values())
    return exchanged and state.noise is not None


def _needs_value(config: PeerConfig) -> ConfigError:
    return ConfigError(f"peer {config.name!r} has no stored state, so it needs its private value")


def _has_store(config: PeerConfig) -> bool:
    return config.data_dir is not None and (config.data_dir / "peer.sqlite").exists()


def _store_for(config: PeerConfig) -> Store:
    if config.data_dir is None:
        return MemoryStore()
    from ..store.sqlite import SqliteStore

    return SqliteStore(config.data_dir, Identity(config.network, config.name, config.dimension))


def _settings_for(config: PeerConfig) -> Settings:
    return Settings(
        name=config.name,
        dimension=config.dimension,
        tolerance=config.tolerance,
        diameter=config.diameter,
        value_limit=config.value_limit,
        flow_limit=config.flow_limit,
        net_flow_limit=config.net_flow_limit,
        burst=config.bucket_burst,
        refill=config.bucket_refill,
        retries=config.retries,
        min_open_edges=config.min_open_edges,
    )
