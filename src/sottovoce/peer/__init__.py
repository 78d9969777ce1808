"""The networked node: private averaging between real machines, exact under failure."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt

from .membership.config import PeerConfig
from .protocol.status import PeerStatus
from .runtime.averaging import Average, Round
from .runtime.blocking import BlockingPeer
from .runtime.node import Peer

__all__ = ["Average", "BlockingPeer", "Peer", "PeerConfig", "PeerStatus", "Round", "Status", "average"]

Status = PeerStatus
"""The name under which :class:`PeerStatus` was first published."""


def average(
    config: PeerConfig, value: Any, *, timeout: float | None = None, patience: float = 60.0
) -> float | npt.NDArray[np.float64]:
    """Take part until all peers agree, and return the mean: :class:`Peer` without asyncio.

    Parameters
    ----------
    config, value
        As for :class:`Peer`.
    timeout
        Seconds to wait for agreement; ``None``: for ever.
    patience
        Seconds to stay on for neighbours that have not settled yet and still need this peer.

    Raises
    ------
    TimeoutError
        No agreement within ``timeout`` seconds.
    """

    async def take_part() -> float | npt.NDArray[np.float64]:
        async with Peer(config, value=value) as peer:
            result = await peer.settled(timeout)
            with contextlib.suppress(TimeoutError):
                await peer.quiet(patience)
            return result

    return asyncio.run(take_part())
