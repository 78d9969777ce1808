"""A town whose peers take part in topics: for tests of topics."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from sottovoce.peer import Average, Peer
from sottovoce.peer.protocol import Protocol
from sottovoce.peer.protocol.openings import topic_id
from sottovoce.testing import LocalNetwork

from .town import Town


def town(size: int = 5, **fields: Any) -> Town:
    """A ring whose peers take part in topics only."""
    return Town(size, members=size, **fields)


@contextlib.asynccontextmanager
async def open_town(here: Town, *names: str, standing: bool = False) -> AsyncIterator[dict[str, Peer]]:
    async with contextlib.AsyncExitStack() as stack:
        chosen = names or here.names
        peers = {name: here.peer(name, value=... if standing else None) for name in chosen}
        for peer in peers.values():
            peer._takes_part = standing
            await stack.enter_async_context(peer)
        yield peers


async def all_average(peers: dict[str, Peer], topic: str, values: dict[str, Any], **how: Any) -> dict[str, Average]:
    names = [name for name in peers if name in values]
    found = await asyncio.gather(*(peers[name].average(values[name], topic=topic, **how) for name in names))
    return dict(zip(names, found, strict=True))


def protocols_of(net: LocalNetwork, topic: str) -> dict[str, Protocol]:
    """The protocols of an open topic, by name."""
    found = {name: peer._known_topics._open.get(topic_id(topic)) for name, peer in net._peers.items()}
    return {name: conversation.protocol for name, conversation in found.items() if conversation is not None}
