"""Messages as bytes and back, strictly: what does not decode to a well-formed message is refused whole.

The layout is ``sottovoce.proto``. Fields that a later version might add are ignored; everything known is checked:
kinds, names, counters, the length of every vector, the size of every number, bounds in pairs. Nothing is ever
unpickled. A vector is copied once each way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ...errors import ProtocolViolation
from ..membership.config import PeerConfig
from ..protocol.messages import Kind, Message, Stop, Vector, check_message
from ..protocol.terms import Terms
from . import sottovoce_pb2 as pb

__all__ = ["Codec"]

_WIRE = np.dtype("<i8")
_PLAIN = ("src", "dst", "src_sid", "dst_sid", "blank", "s", "r", "xid", "topic", "roster")
_VECTORS = ("f", "g", "x")
_STOP_VECTORS = ("low", "high", "previous_low", "previous_high")


class Codec:
    """Encodes and decodes the messages of one network.

    Parameters
    ----------
    dimension
        Coordinates of every vector.
    members
        How many members the network has: the most that a set of contributors can hold.
    """

    def __init__(self, dimension: int, members: int) -> None:
        self.dimension = dimension
        self.members = members

    @classmethod
    def from_config(cls, config: PeerConfig) -> Codec:
        """The codec of a configured peer."""
        return cls(config.dimension, config.members)

    @property
    def max_bytes(self) -> int:
        """No valid message is longer: seven vectors, two sets of contributors and the header."""
        return 7 * 8 * self.dimension + self.members // 4 + 4096

    @property
    def max_roster_bytes(self) -> int:
        """No later roster that is handed over is longer: room for twice as many members as there are, and some."""
        return 2048 * (2 * self.members + 64)

    def encode(self, message: Message | None) -> bytes:
        """Bytes of a message; of ``None``, the empty answer."""
        if message is None:
            return b""
        fields: dict[str, Any] = {name: getattr(message, name) for name in _PLAIN}
        fields |= {name: _to_bytes(getattr(message, name)) for name in _VECTORS}
        wire = pb.Message(kind=int(message.kind), roster_digest=message.digest, **fields)  # type: ignore[arg-type]
        if message.terms is not None:
            wire.terms.CopyFrom(pb.Terms(**message.terms._asdict()))
        if message.stop is not None:
            vectors = {name: _to_bytes(getattr(message.stop, name)) for name in _STOP_VECTORS}
            wire.stop.CopyFrom(
                pb.Stop(
                    round=message.stop.round,
                    contributors=_set_to_bytes(message.stop.contributors),
                    previous_contributors=_set_to_bytes(message.stop.previous_contributors),
                    **vectors,
                )
            )
        return wire.SerializeToString()

    def decode(self, content: bytes, *, src: str, dst: str) -> Message | None:
        """The message in `content`, or ``None`` for the empty answer.

        Parameters
        ----------
        content
            What arrived.
        src, dst
            The names in the certificates of the two ends; those in the message must be the same.

        Raises
        ------
        ProtocolViolation
            Naming the field and what is allowed, never a value.
        """
        if len(content) > self.max_bytes:
            raise ProtocolViolation(f"a message has at most {self.max_bytes} bytes, got {len(content)}")
        wire = pb.Message()
        try:
            wire.ParseFromString(content)
        except DecodeError:
            raise ProtocolViolation("not a message: the bytes do not follow sottovoce.proto") from None
        if wire.kind == pb.NOTHING:
            if content:
                raise ProtocolViolation("kind must be one of REQ, REP, BUSY, HELLO, BYE")
            return None
        message = self._message(wire)
        if (message.src, message.dst) != (src, dst):
            raise ProtocolViolation("the names in the message contradict the certificates")
        check_message(message, dimension=self.dimension, members=self.members)
        return message

    def _message(self, wire: pb.Message) -> Message:
        try:
            kind = Kind(wire.kind)
        except ValueError:
            raise ProtocolViolation("kind must be one of REQ, REP, BUSY, HELLO, BYE") from None
        terms = Terms(*(getattr(wire.terms, name) for name in Terms._fields)) if wire.HasField("terms") else None
        fields: dict[str, Any] = {name: getattr(wire, name) for name in _PLAIN}
        if terms is not None and terms.dimension != self.dimension:
            return Message(kind, terms=terms, **fields)  # R60: refused for its terms, which say more than a length
        fields |= {name: self._vector(wire, name) for name in _VECTORS}
        stop = self._stop(wire.stop) if wire.HasField("stop") else None
        return Message(kind, stop=stop, digest=wire.roster_digest, terms=terms, **fields)

    def _stop(self, wire: pb.Stop) -> Stop:
        low, high, last_low, last_high = (self._vector(wire, name) for name in _STOP_VECTORS)
        gathered = int.from_bytes(wire.contributors, "little")
        return Stop(
            wire.round, low, high, last_low, last_high, gathered, int.from_bytes(wire.previous_contributors, "little")
        )

    def _vector(self, wire: pb.Message | pb.Stop, name: str) -> Vector | None:
        if not wire.HasField(name):
            return None
        content: bytes = getattr(wire, name)
        if len(content) != 8 * self.dimension:
            raise ProtocolViolation(f"{name} must have {8 * self.dimension} bytes, got {len(content)}")
        return np.frombuffer(content, dtype=_WIRE).astype(np.int64)


def _set_to_bytes(members: int) -> bytes:
    return members.to_bytes((members.bit_length() + 7) // 8, "little")


def _to_bytes(vector: Vector | None) -> bytes | None:
    return None if vector is None else vector.astype(_WIRE, copy=False).tobytes()
