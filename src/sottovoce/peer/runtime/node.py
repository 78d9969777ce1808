"""The asyncio shell around the protocol: it moves messages and time, and decides nothing.

What is here is what users and operators ask of a peer. :mod:`.life` starts and ends it, :mod:`.conversation` keeps one
average going, :mod:`.topics` all those with a name, and :mod:`.records` what stays of them; :mod:`.talking` carries
messages, :mod:`.keeping` stores the state, and every decision is made in :mod:`sottovoce.peer.protocol`.
"""

from __future__ import annotations

import asyncio
import functools
import numbers
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, PeerError
from ...privacy.gaussian.account import Account
from ...privacy.releases import Release, ReleaseCost
from ..protocol.openings import topic_id
from ..protocol.state import PeerState
from ..protocol.status import PeerStatus, status_of
from .asking import check_patience
from .averaging import Average, Question, Round
from .life import Living
from .releasing import as_begun, check_plain, released_name

__all__ = ["Peer"]

Floats = npt.NDArray[np.float64]


class Peer(Living):
    """One party of a private average.

    Parameters
    ----------
    config
        Everything but the private value.
    value
        The private value: a number, or as many as ``config.dimension``. It may be left out when the store has one.
        If the store has another, the stored one counts and this one is not used, unless ``replace_value``.
    standing
        Whether this peer takes part in the network's standing average. If not it needs no value: it is there for topics
        only (:meth:`average`), and neighbours that take part wait for it.
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
        self._check_loop()
        async with asyncio.timeout(check_patience(timeout)):
            await self._kept.until(lambda: self._protocol.settled)
        return self.estimate

    async def average(
        self,
        value: Any,
        *,
        topic: str,
        timeout: float | None = None,  # noqa: ASYNC109 - convenience
        missing: Literal["wait", "drop"] = "wait",
        secret: str = "topics",  # noqa: S107 - not a password
        weight: float | None = None,
        release: Release | None = None,
        clip: bool = False,
    ) -> Average:
        """Contribute to a topic, and wait for the mean of all who do.

        Parameters
        ----------
        value
            A number, an array, or a dictionary, list or tuple of them, all within the network's range. The same shape
            at all contributors.
        topic
            The name of this average. A name is used once: a second call returns the same answer, or waits on for it;
            it cannot change what was contributed. Another shape, weight or not, ``missing`` or ``secret`` is refused;
            another value as long as the topic is open. Once it has ended what was contributed is not kept, and not
            compared.
        timeout
            Seconds to wait; ``None``: for ever.
        missing
            ``"wait"``: the answer is the mean of all members of the network. ``"drop"``: after ``timeout`` seconds
            neighbours that have not contributed, or do not answer, are left out, and the answer of the others is waited
            for as long again. All contributors must say the same.
        secret
            What the value tells of. Topics that name the same secret add up in one privacy account, and with a budget
            draw on it together, one after the other; see :meth:`accounts`.
        weight
            Makes it a weighted mean. Then all contributors give one; the weight, and the weight times the value, are
            what must lie within the range, and what is rounded to the unit: the error grows as weights get smaller.
        release
            Makes the answer a private release: noise that stays is added to the value, once for each topic. The same
            at all contributors; whoever says another is in another topic. Not together with ``weight``.
        clip
            With a release: whether numbers outside of its range are moved to its ends, and counted, or refused.

        Returns
        -------
        Average
            The mean, whose it is, and a bound on its error.

        Raises
        ------
        TopicUnfinished
            No answer in time; it names who is missing. What was contributed stays: call again to wait on.
        TopicClosed
            The topic ended without this peer: it came late, or was left out.
        TopicMismatch
            A neighbour contributes on other terms; it names both sides and both settings.
        """
        self._check_loop()
        name, question = await self._question(value, topic, weight, release, clip=clip)
        found = await self._known_topics.average(
            name, question.vector, shape=question.shape, missing=missing, secret=secret, patience=timeout
        )
        return question.answer(found, self.config)

    async def _question(
        self, value: Any, topic: str, weight: float | None, release: Release | None, *, clip: bool
    ) -> tuple[str, Question]:
        name = self._full_name(topic, release)
        if release is None:
            if clip:
                raise InvalidParameter(
                    "clip must be left out where no release is given: a value out of range is refused"
                )
            return name, Question.of(value, weight, self.config)
        if weight is not None:
            raise InvalidParameter("weight must be left out where a release is given")
        question = await self._aside(Question.released, value, release, self.config, clip=clip)
        return name, question.as_contributed(self._known_topics.contributed(name))

    def _full_name(self, topic: str, release: Release | None) -> str:
        """With the agreement about a release, if there is one."""
        if release is None:
            check_plain(topic)
            return topic
        return as_begun(released_name(topic, release, self.config.members), self._known_topics.names())

    async def rounds(self, name: str, count: int, **how: Any) -> AsyncIterator[Round]:
        """One topic after another, as a training loop needs them: ``name/1``, ``name/2``, … up to ``count``.

        Parameters
        ----------
        name, count
            The beginning of the topics' names; how many there are.
        **how
            ``timeout``, ``missing``, ``secret``, ``weight``, ``release`` and ``clip`` for all rounds, as in
            :meth:`average`.

        Examples
        --------
        ::

            async for round in peer.rounds("training", 50, missing="drop", timeout=30):
                model = (await round.average(train(model))).mean
        """
        given: object = count
        if isinstance(given, bool) or not isinstance(given, numbers.Integral) or given < 1:
            raise InvalidParameter(f"count must be a whole number, at least 1, got {count!r}")
        topic_id(name)
        topic_id(self._full_name(f"{name}/{count}", how.get("release")))  # the longest; not after all the others
        for number in range(1, int(given) + 1):
            yield Round(number, functools.partial(self.average, topic=f"{name}/{number}", **how))

    def contributed(self, topic: str) -> npt.NDArray[np.float64] | None:
        """What this peer has contributed to a topic that is open; ``None``: nothing, or it has ended."""
        vector = self._known_topics.contributed(topic)
        return None if vector is None else self.config.units.to_values(vector)

    def topics(self) -> dict[str, str]:
        """Every topic to which this peer has contributed, and whether it is ``open`` or ``closed`` here."""
        return self._known_topics.names()

    def accounts(self) -> Mapping[str, Account]:
        """For each secret that topics have named: the privacy account over all of them."""
        return self._known_topics.accounts()

    def released(self) -> Mapping[str, ReleaseCost]:
        """For each secret that releases have named: what all of their answers tell of it together.

        A topic that has no answer yet is counted as if all members contributed. Averages without a release are not in
        it: their answers are exact, and nothing bounds what they tell.
        """
        return self._known_topics.released()

    async def quiet(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - convenience
        """Wait until no neighbour needs this peer any more: all have settled, and have the answers of its topics.

        A program that ends should do so before, for a while: a neighbour that has not got an answer yet may need it.

        Raises
        ------
        TimeoutError
            Some still need it after ``timeout`` seconds.
        """
        self._check_loop()
        async with asyncio.timeout(check_patience(timeout)):
            if self._takes_part:
                await self._kept.until(lambda: self._protocol.quiet)
            await self._known_topics.quiet()

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
        if self._standing is None or (self._takes_part and not self._standing.ticking):
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
            missing=() if self._standing is None else self._standing.missing(),
            topics={} if self._topics is None else self._topics.status(),
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

        Raises
        ------
        InvalidParameter
            It does not fit the network, or this peer takes no part in the standing average.
        """
        self._check_loop()
        if not self._takes_part:
            raise InvalidParameter("value must be left out for a peer without a part in the standing average")
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

    async def add_neighbour(self, name: str, address: str | None) -> None:
        """A new neighbour (R23); its operator must add this peer, too."""
        standing, transport = self._reached, self._transport
        assert transport is not None
        message = self._protocol.add(name) if self._takes_part else None
        transport.add_neighbour(name, address)
        self._known_topics.add(name)
        self._kept.commit()
        self._kept.tell()
        if message is not None:
            standing.spawn(standing.talker.talk, message)

    async def drop_neighbour(self, name: str) -> bool:
        """Forget a neighbour and the flow to it (R23). Returns whether it has heard it.

        If not, this peer goes on telling it, also after a restart, until it answers or a roster says that it is gone
        (R51); until then its state in :meth:`status` is ``parting``.
        """
        talker, topics = self._reached.talker, self._known_topics
        if name not in self._protocol.state.edges and not topics.knows(name):
            raise InvalidParameter(f"neighbour must be one of this peer's, got {name!r}")
        if not self._takes_part:
            return await topics.part(name)
        topics.drop(name)
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
