"""R61: rosters travel. The end that is behind gets the later roster from its neighbour, and the peer takes it up.

Every message says which roster its sender holds. Who is behind asks for the later one; who is ahead and cannot be
called, because it has no address, hands its own over. Whoever brings it, a roster is believed for the founder's
signature alone, is put on disk before it counts, and is then applied to the running peer. Neighbours that will be none
any more get it before they are parted from: they could not ask for it later. A peer that is no member any more hands it
on and stops.

Two things are not done without the operator, and are said in the status: a term that stored numbers, noise or seals
depend on waits for the next start; a roster that puts this peer into a place where one other member can know its value,
or leaves it none of its present neighbours, waits for a yes.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from ...errors import ConfigError
from ...foundation.bucket import TokenBucket
from ..membership.changes import install, needs_a_yes, successor
from ..membership.config import IdentityFiles, PeerConfig
from ..membership.credentials import trusted_roster
from ..membership.roster import SignedRoster
from ..protocol.messages import Message
from ..transport.base import CallFailed, Observer, Transport
from .clock import Clock
from .talking import FLOOD_PAUSE

__all__ = ["Follower"]

_PAUSE = 5.0
"""Seconds between two attempts with the same neighbour."""

_PATIENCE = 10.0
"""Seconds that a roster may take to travel."""

_ASKED, _ASKED_AT_ONCE = 0.5, 5.0
"""Requests a second that are answered to one neighbour, and so many at once: an honest one asks every five seconds."""

_PARTING = 2.0
"""Seconds that it may take to a neighbour that will be none any more."""


class Follower:
    """Keeps one peer's roster up to date.

    Parameters
    ----------
    config
        Gives the peer's configuration now.
    files
        Where its roster lies, and whose signature counts.
    transport, clock, observer
        How a roster travels, how time passes, where it is logged.
    spawn
        Starts work in the background.
    apply
        Makes a configuration the running peer's.
    stop
        Ends the peer, with the reason.
    """

    def __init__(
        self,
        config: Callable[[], PeerConfig],
        files: IdentityFiles,
        transport: Transport,
        clock: Clock,
        observer: Observer,
        *,
        spawn: Callable[..., object],
        apply: Callable[[PeerConfig], Awaitable[None]],
        stop: Callable[[ConfigError], None],
    ) -> None:
        self.notice = ""
        """What waits for the operator, in one sentence; empty: nothing."""
        self._config, self._files, self._transport = config, files, transport
        self._clock, self._observer = clock, observer
        self._spawn, self._apply, self._stop = spawn, apply, stop
        self._tried: dict[str, float] = {}
        self._refused: dict[str, str] = {}
        self._paces: defaultdict[str, TokenBucket] = defaultdict(lambda: TokenBucket(_ASKED, _ASKED_AT_ONCE))
        self._busy = False

    # -- what neighbours say --------------------------------------------------------------------

    def heard(self, name: str, message: Message) -> None:
        """A neighbour spoke: find out who is behind, and do something about it, now and then."""
        config = self._config()
        behind, ahead = message.roster > config.roster, message.roster < config.roster
        if behind and config.neighbours.get(name) is not None:
            self._try(name, self._fetch)
        elif ahead and config.listen is None:
            self._try(name, self._hand_over)

    async def answer(self, name: str, number: int, document: bytes | None) -> bytes | None:
        """What the transport calls: a neighbour's number, and its roster if it hands it over."""
        if document is not None:
            self._try(name, self._believe, document)
        if not self._paces[name].take(self._clock.now()):
            self._observer.count("flood", name)
            await self._clock.sleep(FLOOD_PAUSE)  # until then the transport reads nothing more from there
            return None
        return self._files.roster.read_bytes() if number < self._config().roster else None

    def _try(self, name: str, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        now = self._clock.now()
        if now - self._tried.get(name, -math.inf) >= _PAUSE:
            self._tried[name] = now
            self._spawn(work, name, *arguments)

    async def _fetch(self, name: str) -> None:
        try:
            document = await self._transport.ask_roster(name, self._config().roster, None, _PATIENCE)
        except CallFailed:
            return  # counted by the transport; the next message tries again
        if document is not None:
            await self._believe(name, document)

    async def _hand_over(self, name: str, seconds: float = _PATIENCE) -> None:
        try:
            await self._transport.ask_roster(name, self._config().roster, self._files.roster.read_bytes(), seconds)
        except CallFailed:
            return

    # -- believing it ---------------------------------------------------------------------------

    async def _believe(self, name: str, document: bytes) -> None:
        """Check what a neighbour sent, store it, apply it."""
        config = self._config()
        try:
            signed = SignedRoster.from_neighbour(document, self._files.founder)
            before = trusted_roster(self._files, config.network)
            if signed.roster.number <= before.number:  # it came while the one in place was taken up
                await self.take_up()
                return
            why = needs_a_yes(config, before, signed.roster)
            if why is not None:
                self._offer(signed, why)
                return
            install(config, signed)
        except ConfigError as error:
            self._observer.count("roster-refused", name)
            if self._refused.get(name) != str(error):
                self._refused[name] = str(error)
                self._observer.log("warning", "roster refused", neighbour=name, why=str(error))
            return
        self._observer.log(
            "info", "roster received", neighbour=name, number=signed.roster.number, digest=signed.roster.digest.hex()
        )
        await self.take_up()

    def _offer(self, signed: SignedRoster, why: str) -> None:
        """Put it beside the one in place, for the operator to decide."""
        path = self._files.roster.with_name(f"offered-{self._files.roster.name}")
        notice = f"roster {signed.roster.number} waits for your yes: {why}; to accept, install {path.name}"
        if notice != self.notice:
            signed.save(path)
            self.notice = notice
            self._observer.log("warning", "a roster waits for the operator", number=signed.roster.number, why=why)

    async def take_up(self) -> None:
        """Apply the roster that is in place, if it is later than the one that this peer works with.

        Raises
        ------
        ConfigError
            It cannot be read.
        """
        config = self._config()
        roster = trusted_roster(self._files, config.network)
        if roster.number <= config.roster or self._busy:
            return
        if config.name not in roster.members:
            self._observer.log("error", "this peer is no member any more", roster=roster.number)
            await self._pass_on(config.neighbours)
            self._stop(ConfigError(f"{config.name!r} is no member any more, says roster {roster.number}"))
            return
        try:
            following = successor(config, roster)
        except ConfigError as obstacle:
            self.notice = str(obstacle)
            self._observer.log("warning", "a roster waits for the next start", why=str(obstacle))
            return
        self._busy, self.notice = True, ""
        try:
            await self._pass_on(set(config.neighbours) - set(following.neighbours))
            await self._apply(following)
        finally:
            self._busy = False
        self._observer.log("info", "roster in use", number=roster.number, digest=roster.digest.hex())

    async def _pass_on(self, names: Iterable[str]) -> None:
        await asyncio.gather(*(self._hand_over(name, _PARTING) for name in names))
